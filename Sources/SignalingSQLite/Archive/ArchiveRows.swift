import SignalingCore
import SignalingProtocol

/// The row of a session in an archive.
struct ArchivedSession {
    let id: [UInt8]
    let key: Int64
    var last: Int64
    var trimmed: Int64
    var oldest: Int64
    var count: Int
    var byteCount: Int
}

/// The rows of sessions, by their names. Used within a transaction, on one thread at a time.
final class ArchiveSessions {
    private let find: Statement
    private let replace: Statement
    private let remove: Statement

    init(_ database: Database) throws(DatabaseError) {
        find = try Statement(
            "SELECT key, last, trimmed, oldest, count, bytes FROM session WHERE id = ?", in: database)
        replace = try Statement("REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", in: database)
        remove = try Statement("DELETE FROM session WHERE id = ?", in: database)
    }

    func row(_ session: SessionID) throws(DatabaseError) -> ArchivedSession? {
        let id = Array(session.rawValue.utf8)
        var found: ArchivedSession?
        try id.withBytes { (bytes) throws(DatabaseError) in
            find.bind(borrowing: bytes, at: 1)
            defer { find.reset() }
            guard try find.step() else { return }
            found = ArchivedSession(
                id: id, key: find.integer(0), last: find.integer(1), trimmed: find.integer(2),
                oldest: find.integer(3), count: Int(find.integer(4)), byteCount: Int(find.integer(5)))
        }
        return found
    }

    func write(_ row: ArchivedSession) throws(DatabaseError) {
        try row.id.withBytes { (bytes) throws(DatabaseError) in
            replace.bind(borrowing: bytes, at: 1)
            for (index, value) in [
                row.key, row.last, row.trimmed, row.oldest, Int64(row.count), Int64(row.byteCount),
            ].enumerated() {
                replace.bind(value, at: Int32(index) + 2)
            }
            try replace.run()
        }
    }

    func delete(_ row: ArchivedSession) throws(DatabaseError) {
        try row.id.withBytes { (bytes) throws(DatabaseError) in
            remove.bind(borrowing: bytes, at: 1)
            try remove.run()
        }
    }
}

extension Statement {
    /// The message in the columns seq, time, head and content.
    var message: ArchivedMessage {
        ArchivedMessage(
            seq: Seq(integer(0)), time: WallTime(milliseconds: integer(1)), head: bytes(2),
            content: isNull(3) ? nil : bytes(3))
    }
}
