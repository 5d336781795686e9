import JSONText

/// Which of a session's kept messages a client asks for: one page (HIS-6).
public struct HistoryRequest: Hashable, Sendable {
    /// Where the page is.
    public enum Position: Hashable, Sendable {
        /// The newest messages.
        case newest
        /// The newest of the messages with a smaller seq.
        case before(Seq)
        /// The oldest of the messages with a greater seq.
        case after(Seq)
        /// The messages that have changed since this seq (CHG-9).
        case changedAfter(Seq)
    }

    public var position: Position
    /// The maximum number of messages, 1 to ``Limits/historyPageCount``. A page may have fewer, since its bytes are
    /// bounded, too: ``HistoryPage/more`` says whether others follow.
    public private(set) var limit: Int

    /// The number of messages in a page of which nothing else is said.
    public static let standardLimit = 50

    /// - Parameter limit: brought into its range.
    public init(_ position: Position = .newest, limit: Int = standardLimit) {
        self.position = position
        self.limit = min(max(1, limit), Limits.historyPageCount)
    }
}

extension HistoryRequest.Position {
    /// Every integer is a position (HIS-6): one outside of the seqs counts as the nearest end.
    ///
    /// - Returns: nil if two are given.
    package init?(before: Int64?, after: Int64?, changedAfter: Int64? = nil) {
        func seq(_ number: Int64) -> Seq { Seq(min(max(0, number), Seq.greatest.rawValue)) }
        switch (before, after, changedAfter) {
        case (nil, nil, nil): self = .newest
        case (let before?, nil, nil): self = before > Seq.greatest.rawValue ? .newest : .before(seq(before))
        case (nil, let after?, nil): self = .after(seq(after))
        case (nil, nil, let changed?): self = .changedAfter(seq(changed))
        default: return nil
        }
    }
}

extension HistoryRequest {
    /// Reads the members of a `history` request.
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let limit = try reader.positiveCount("limit")
        guard
            let position = Position(
                before: try reader.optionalInteger("before"), after: try reader.optionalInteger("after"),
                changedAfter: try reader.optionalInteger("changedAfter"))
        else { throw reader.refusal("use one of \"before\", \"after\" and \"changedAfter\"") }
        self.init(position, limit: limit ?? Self.standardLimit)
    }

    /// Reads the option of a connect (HIS-5).
    init(option reader: MessageReader) throws(ClientMessageError) {
        let (last, limit) = (try reader.positiveCount("last"), try reader.positiveCount("limit"))
        guard let after = try reader.optionalInteger("after") else {
            self.init(.newest, limit: last ?? limit ?? Self.standardLimit)
            return
        }
        guard last == nil, let position = Position(before: nil, after: after) else {
            throw reader.refusal("use \"last\" or \"after\", not both")
        }
        self.init(position, limit: limit ?? Self.standardLimit)
    }

    func write(to writer: inout JSONWriter) {
        switch position {
        case .newest: break
        case .before(let seq): writer.member("before", seq.rawValue)
        case .after(let seq): writer.member("after", seq.rawValue)
        case .changedAfter(let seq): writer.member("changedAfter", seq.rawValue)
        }
        writer.member("limit", limit)
    }

    /// Writes the option of a connect. A page before a position, or of changes, is not an option: it is the newest page
    /// then.
    func writeOption(to writer: inout JSONWriter) {
        writer.name("history")
        writer.beginObject()
        switch position {
        case .newest, .before, .changedAfter: writer.member("last", limit)
        case .after: write(to: &writer)
        }
        writer.endObject()
    }
}
