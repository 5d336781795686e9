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

extension HistoryRequest {
    /// Reads the members of a `history` request.
    init(_ reader: MessageReader) throws(ClientMessageError) {
        let (before, after) = (try reader.seq("before"), try reader.seq("after"))
        let limit = try Self.limit(reader, "limit")
        switch (before, after) {
        case (nil, nil): self.init(.newest, limit: limit)
        case (let before?, nil): self.init(.before(before), limit: limit)
        case (nil, let after?): self.init(.after(after), limit: limit)
        case (.some, .some): throw reader.error("use \"before\" or \"after\", not both")
        }
    }

    /// Reads the option of a connect (HIS-5).
    init(option reader: MessageReader) throws(ClientMessageError) {
        if let after = try reader.seq("after") {
            self.init(.after(after), limit: try Self.limit(reader, "limit"))
        } else {
            self.init(.newest, limit: try Self.limit(reader, "last"))
        }
    }

    private static func limit(_ reader: MessageReader, _ name: String) throws(ClientMessageError) -> Int {
        guard let limit = try reader.count(name) else { return standardLimit }
        guard limit >= 1 else { throw reader.error("\"\(name)\" must be 1 or more") }
        return limit
    }

    func write(to writer: inout JSONWriter) {
        switch position {
        case .newest: break
        case .before(let seq): writer.member("before", seq.rawValue)
        case .after(let seq): writer.member("after", seq.rawValue)
        }
        writer.member("limit", limit)
    }

    /// Writes the option of a connect. A page before a position is not an option: it is the newest page then.
    func writeOption(to writer: inout JSONWriter) {
        writer.name("history")
        writer.beginObject()
        switch position {
        case .newest, .before: writer.member("last", limit)
        case .after: write(to: &writer)
        }
        writer.endObject()
    }
}
