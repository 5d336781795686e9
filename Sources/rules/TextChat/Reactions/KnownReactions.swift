import SignalingProtocol

/// A reaction to a message, as it is shown (CHAT-15).
public struct ChatReaction: Hashable, Sendable, Identifiable {
    public let key: String
    /// How many users have chosen it.
    public let count: Int
    /// The user is one of them.
    public let isMine: Bool

    public var id: String { key }

    /// The key as a reader sees it: a stranger may have chosen a long text.
    public var shownKey: String { key.count > Self.longestShown ? key.prefix(Self.longestShown - 1) + "…" : key }

    private static let longestShown = 16

    public init(key: String, count: Int, isMine: Bool) {
        self.key = key
        self.count = count
        self.isMine = isMine
    }

    /// The key of an emoji as all clients write it: the server compares bytes, and keyboards write the same emoji with and
    /// without the selector of its look. Another text is a key as it is.
    public static func key(of text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace)
        let text = words.first.map { text[$0.startIndex..<(words.last ?? $0).endIndex] }.map(String.init) ?? ""
        let scalars = text.unicodeScalars.filter { $0.value != 0xFE0E && $0.value != 0xFE0F }
        var emoji = ""
        for (index, scalar) in scalars.enumerated() {
            emoji.unicodeScalars.append(scalar)
            let next = scalars.dropFirst(index + 1).first
            let hasLook = scalar.properties.isEmojiPresentation || next?.properties.isEmojiModifier == true
            if scalar.properties.isEmoji, !hasLook { emoji.unicodeScalars.append("\u{FE0F}") }
        }
        // A digit is an emoji only as a key of a keyboard.
        let isOne = emoji.count == 1 && (scalars.first?.isASCII == false || scalars.last?.value == 0x20E3)
        return isOne ? emoji : text
    }
}

/// What a chat knows of the reactions to a message. The counts of the server and the user's own set are kept apart: the
/// server tells a count up to a second after the user has it right.
struct KnownReactions: Equatable, Sendable {
    private var counts: [ReactionCount] = []
    /// Of the event that told the counts.
    private var seq = Seq(0)
    var own: [String] = []

    init() {}

    init(_ told: HistoryMessage.Reactions?, own: [String]) {
        if let told { tell(told.counts, told.seq) }
        self.own = own
    }

    /// Whether they are shown alike.
    static func == (left: KnownReactions, right: KnownReactions) -> Bool {
        (left.counts == right.counts && left.own == right.own) || left.shown == right.shown
    }

    /// Of two counts the later one holds.
    mutating func tell(_ counts: [ReactionCount], _ seq: Seq) {
        if seq > self.seq { (self.counts, self.seq) = (counts, seq) }
    }

    /// Takes a page's word.
    ///
    /// - Parameter known: up to this seq the page knows all reactions: one without any then has none.
    mutating func take(_ page: KnownReactions, of known: Seq) {
        own = page.own
        if page.seq > seq || seq <= known { (counts, seq) = (page.counts, page.seq) }
    }

    var shown: [ChatReaction] {
        let told = counts.map { each in
            ChatReaction(key: each.key, count: each.count, isMine: own.contains { $0.isSameKey(as: each.key) })
        }
        let untold = own.filter { key in !counts.contains { $0.key.isSameKey(as: key) } }
        return told + untold.map { ChatReaction(key: $0, count: 1, isMine: true) }
    }
}

extension String {
    /// The server compares bytes (CHG-11).
    func isSameKey(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
