import SignalingCore
import SignalingProtocol

/// Reads an archive, on a connection of its own. Used on one thread at a time.
final class ArchiveReader {
    private let database: Database
    private let sessions: ArchiveSessions
    private let first: Statement
    private let last: Statement
    private let before: Statement
    private let after: Statement

    init(_ database: Database) throws(DatabaseError) {
        self.database = database
        sessions = try ArchiveSessions(database)
        first = try Statement("SELECT seq FROM message WHERE session = ? ORDER BY seq LIMIT 1", in: database)
        last = try Statement("SELECT seq FROM message WHERE session = ? ORDER BY seq DESC LIMIT 1", in: database)
        before = try Statement(
            "SELECT seq, time, head, content FROM message WHERE session = ? AND seq < ? ORDER BY seq DESC", in: database
        )
        after = try Statement(
            "SELECT seq, time, head, content FROM message WHERE session = ? AND seq > ? ORDER BY seq", in: database)
    }

    func page(_ request: HistoryRequest, of session: SessionID) throws(DatabaseError) -> ArchivePage {
        // One short transaction: a longer one would hold back checkpoints.
        try database.execute("BEGIN")
        defer { database.rollBack() }
        let empty = ArchivePage(range: nil, more: false, messages: [])
        guard let row = try sessions.row(session), let oldest = try seq(first, row.key),
            let newest = try seq(last, row.key)
        else { return empty }
        var page = ArchivePage(range: oldest...newest, more: false, messages: [])
        switch request.position {
        case .newest: try read(before, row.key, .max, request.limit, &page)
        case .before(let limit): try read(before, row.key, limit.rawValue, request.limit, &page)
        case .after(let limit): try read(after, row.key, limit.rawValue, request.limit, &page)
        }
        if case .after = request.position { return page }
        page.messages.reverse()
        return page
    }

    func lastSeq(of session: SessionID) throws(DatabaseError) -> Seq? {
        try sessions.row(session).map { Seq($0.last) }
    }

    private func seq(_ statement: Statement, _ key: Int64) throws(DatabaseError) -> Seq? {
        statement.bind(key, at: 1)
        defer { statement.reset() }
        return try statement.step() ? Seq(statement.integer(0)) : nil
    }

    private func read(
        _ statement: Statement, _ key: Int64, _ position: Int64, _ limit: Int, _ page: inout ArchivePage
    ) throws(DatabaseError) {
        statement.bind(key, at: 1)
        statement.bind(position, at: 2)
        defer { statement.reset() }
        var room = PageRoom(limit: limit)
        while try statement.step() {
            let message = statement.message
            guard room.admits(message) else {
                page.more = true
                return
            }
            page.messages.append(message)
        }
    }
}
