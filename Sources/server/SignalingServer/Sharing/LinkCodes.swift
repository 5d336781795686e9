import SignalingProtocol

/// The codes that links carry in place of tokens (REST-7).
///
/// They are in memory only. A code that needs no memory, because it contains the token encrypted, could not be used up:
/// in a browser's history it would be worth as much as the token.
struct LinkCodes {
    /// In codes, for each project: none can use up the memory, or the codes of another.
    static let projectLimit = 1000

    /// A code that has been used works for this time more: for a second click, and if the answer was lost.
    static let timeAfterUse = Duration.seconds(300)

    private struct Entry {
        let access: SessionAccess
        var until: MonotonicInstant
    }

    private var entries: [String: Entry] = [:]

    /// - Parameter until: when the token expires.
    /// - Returns: a code of 128 random bits; `nil` if the project has as many codes as it may.
    mutating func add(
        _ access: SessionAccess, until: MonotonicInstant, now: MonotonicInstant,
        using generator: inout some RandomNumberGenerator
    ) -> String? {
        entries = entries.filter { now < $0.value.until }
        let count = entries.values.count { $0.access.apiKey == access.apiKey }
        guard count < Self.projectLimit else { return nil }
        let code = RandomText.bits128(using: &generator)
        entries[code] = Entry(access: access, until: until)
        return code
    }

    /// - Returns: what the code stands for; `nil` for an unknown one, and for one whose time is over.
    mutating func open(_ code: String, now: MonotonicInstant) -> SessionAccess? {
        guard let entry = entries[code], now < entry.until else { return nil }
        // A later use does not extend the time.
        entries[code]?.until = min(entry.until, now.advanced(by: Self.timeAfterUse))
        return entry.access
    }
}
