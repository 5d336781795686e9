import SignalingCore
import SignalingProtocol

/// Reads an archive, on a connection of its own. Used on one thread at a time.
final class ArchiveReader {
    private let database: Database
    private let sessions: ArchiveSessions
    private let chunks: ArchiveChunks
    private let feeds: FeedRows

    init(_ database: Database) throws(DatabaseError) {
        self.database = database
        sessions = try ArchiveSessions(database)
        chunks = try ArchiveChunks(database)
        feeds = try FeedRows(database)
    }

    /// - Parameter isDamaged: called for a chunk that was changed. Its messages are left out.
    func page(
        _ request: HistoryRequest, of session: SessionID, isDamaged: () -> Void
    ) throws(DatabaseError) -> ArchivePage {
        // One short transaction: a longer one would hold back checkpoints.
        try database.execute("BEGIN")
        defer { database.rollBack() }
        guard let row = try sessions.row(session), row.count > 0,
            let first = try chunks.first(after: .min, row.key)
        else { return ArchivePage(range: nil, more: false, messages: []) }
        // The newest message goes last, so it is there.
        var page = ArchivePage(range: Seq(first)...Seq(max(first, row.last)), more: false, messages: [])
        var room = PageRoom(limit: request.limit)
        func add(_ chunk: ArchiveChunks.Row, _ isWanted: (ArchivedMessage) -> Bool, goesBack: Bool) -> Bool {
            guard let messages = chunk.chunk?.messages.filter(isWanted) else {
                isDamaged()
                return true
            }
            for message in goesBack ? messages.reversed() : messages {
                guard room.admits(message) else {
                    page.more = true
                    return false
                }
                page.messages.append(message)
            }
            return true
        }
        switch request.position {
        // A list of changes is read as pages of one message (``ChangeList``).
        case .newest, .changedAfter:
            try chunks.read(.through(.max), row.key) { add($0, { _ in true }, goesBack: true) }
        case .before(let limit):
            try chunks.read(.through(limit.rawValue), row.key) { add($0, { $0.seq < limit }, goesBack: true) }
        case .after(let limit):
            let start = try chunks.row(at: limit.rawValue, row.key)?.first ?? limit.rawValue
            try chunks.read(.from(start), row.key) { add($0, { $0.seq > limit }, goesBack: false) }
            return page
        }
        page.messages.reverse()
        return page
    }

    /// - Parameter isDamaged: called with the position of an entry that was changed.
    func feed(
        of project: APIKey, from start: FeedStart, limit: Int, isDamaged: (Int64) -> Void
    ) throws(DatabaseError) -> FeedReading {
        try database.execute("BEGIN")
        defer { database.rollBack() }
        return try feeds.read(project, from: start, limit: limit, isDamaged: isDamaged)
    }

    func cursor(of project: APIKey) throws(DatabaseError) -> FeedOffset? {
        try feeds.state(of: project)?.cursor.map { FeedOffset([$0]) }
    }

    func lastSeq(of session: SessionID) throws(DatabaseError) -> Seq? {
        try sessions.row(session).map { Seq($0.last) }
    }
}
