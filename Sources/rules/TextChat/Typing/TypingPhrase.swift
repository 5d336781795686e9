/// The sentence that states who is typing, as a key with arguments, so that it can be written in any language. The
/// names are ready to show: cut to length, and without characters that would disturb the rest of the sentence.
public struct TypingPhrase: Hashable, Sendable {
    public enum Key: String, CaseIterable, Sendable {
        /// No user types: no sentence.
        case nobody
        /// One person without a name.
        case someone
        case one, two, three
        case oneAndOther, oneAndOthers
        case twoAndOther, twoAndOthers
        /// A count without names.
        case people
        /// More people than are counted.
        case several
    }

    public let key: Key
    /// The names for the key, in order of first begin.
    public let names: [String]
    /// How many others there are beside the names; for ``Key/people`` the count of all.
    public let count: Int

    private init(key: Key, _ names: [String] = [], count: Int = 0) {
        self.key = key
        self.names = names
        self.count = count
    }

    public struct Limits: Hashable, Sendable {
        /// Up to this many people are all named, 0 to 3. Of more people, two are named and the others counted.
        public var names: Int { didSet { names = Self.clampedNames(names) } }
        /// Of more people than this the phrase is ``Key/several``.
        public var people: Int { didSet { people = max(people, 0) } }
        /// Longest name in characters (grapheme clusters), at least 1.
        public var nameLength: Int { didSet { nameLength = max(nameLength, 1) } }

        public init(names: Int = 3, people: Int = 20, nameLength: Int = 30) {
            self.names = Self.clampedNames(names)
            self.people = max(people, 0)
            self.nameLength = max(nameLength, 1)
        }

        private static func clampedNames(_ count: Int) -> Int { min(max(count, 0), 3) }
    }

    /// - Parameters:
    ///   - names: in order of first begin; people with empty names are only counted.
    ///   - count: how many people type, if more than the names.
    ///   - limits: how many people are named, and how many counted.
    public init(names: [String], count: Int? = nil, limits: Limits = Limits()) {
        let count = max(count ?? 0, names.count)
        if count > limits.people, count > 1 {
            self.init(key: .several)
        } else {
            let shown = names.prefix(3).map { Self.name($0, limits.nameLength) }.filter { !$0.isEmpty }
            self.init(shown: count <= limits.names ? shown : Array(shown.prefix(min(limits.names, 2))), of: count)
        }
    }

    /// Counts the people whose names do not fit.
    private init(shown: [String], of count: Int) {
        switch (shown.count, count - shown.count) {
        case (0, 0): self.init(key: .nobody)
        case (0, 1): self.init(key: .someone)
        case (0, let others): self.init(key: .people, count: others)
        case (1, 0): self.init(key: .one, shown)
        case (1, 1): self.init(key: .oneAndOther, shown, count: 1)
        case (1, let others): self.init(key: .oneAndOthers, shown, count: others)
        case (2, 0): self.init(key: .two, shown)
        case (2, 1): self.init(key: .twoAndOther, shown, count: 1)
        case (2, let others): self.init(key: .twoAndOthers, shown, count: others)
        case (_, 0): self.init(key: .three, Array(shown.prefix(3)))
        case (_, let others): self.init(key: .twoAndOthers, Array(shown.prefix(2)), count: others + shown.count - 2)
        }
    }

    /// Phrases from the longest to the shortest: whole names, first names, fewer first names and a count, a count
    /// alone. Show the first that fits the line (after Layer's Atlas).
    public static func ladder(names: [String], count: Int? = nil, limits: Limits = Limits()) -> [TypingPhrase] {
        let count = max(count ?? 0, names.count)
        let firstNames = names.prefix(3).map(firstName)
        var steps = [TypingPhrase(names: names, count: count, limits: limits)]
        guard steps[0].key != .several else { return steps }
        for shown in stride(from: min(limits.names, 3), through: 0, by: -1) {
            let phrase = TypingPhrase(
                shown: firstNames.prefix(shown).map { name($0, limits.nameLength) }.filter { !$0.isEmpty }, of: count)
            if !steps.contains(phrase) { steps.append(phrase) }
        }
        return steps
    }

    /// The name up to the first white space.
    private static func firstName(_ name: String) -> String {
        name.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    }

    /// A name that is safe in a line with others: on one line, without marks that would reverse the rest of the line,
    /// not longer than the limit, and never cut inside a character.
    static func name(_ name: String, _ limit: Int) -> String {
        var cleaned = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar.value {
            // Embeddings, overrides and isolates (Unicode Standard Annex 9) would reach beyond the name.
            case 0x202A...0x202E, 0x2066...0x2069: continue
            default: cleaned.append(scalar.properties.isWhitespace || scalar.value < 0x20 ? " " : scalar)
            }
        }
        let text = String(cleaned).split(separator: " ").joined(separator: " ")
        return text.count <= limit ? text : "\(text.prefix(limit - 1))…"
    }
}

extension TypingPhrase {
    /// The sentence in a language; empty when no user types.
    public func text(_ templates: TypingPhraseTemplates = .english) -> String {
        // In one pass, so that a name such as "{0}" stays as it is.
        var text = ""
        var rest = Substring(templates[key])
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: "}") else { break }
            switch rest[..<close] {
            case "count": text += String(count)
            case let index:
                guard let index = Int(index), names.indices.contains(index) else { break }
                text += Self.isolated(names[index])
            }
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// Isolates a name with right-to-left letters, so that it does not reorder the sentence (Unicode Standard Annex 9).
    ///
    /// - Parameter always: the sentence itself runs from right to left.
    package static func isolated(_ name: String, always: Bool = false) -> String {
        let isAgainst = name.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x0590...0x08FF, 0x200F, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
        return always || isAgainst ? "\u{2068}\(name)\u{2069}" : name
    }
}

extension TypingPhrase {
    /// The phrase for the people who type in a snapshot. It only counts those without a name (CHAT-4).
    ///
    /// - Parameters:
    ///   - snapshot: of the chat's typing indicator.
    ///   - names: those of the chat, ``TextChatComponent/names``, which know the names of guests, too.
    ///   - limits: how many people are named, and how long names are.
    ///   - guest: writes the name of a guest among users: a sentence has no place for a mark.
    public init(
        of snapshot: TypingSnapshot, names: NameBook = NameBook(), limits: Limits = Limits(),
        guest: (String) -> String = { $0 }
    ) {
        let known = snapshot.typing.compactMap { typer -> String? in
            if case .name(let name) = names.name(of: typer.connectionId) {
                return names.isGuest(typer.connectionId) ? guest(name) : name
            }
            return DisplayName.vouched(data: typer.name ?? "", user: typer.user)
        }
        self.init(names: known, count: snapshot.typingCount, limits: limits)
    }
}
