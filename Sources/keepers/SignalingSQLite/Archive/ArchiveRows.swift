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
    /// By ``ArchivedMessage/byteCount``.
    var byteCount: Int

    /// About what the session takes on the disk.
    var storedByteCount: Int { ArchiveChunk.storedByteCount(ofMessages: count, byteCount: byteCount) }

    fileprivate var checksum: Int64 {
        var checksum = RowChecksum()
        id.withUnsafeBytes { checksum.add($0) }
        for number in [key, last, trimmed, oldest, Int64(count), Int64(byteCount)] { checksum.add(number) }
        return checksum.value
    }
}

/// The rows of sessions, by their names. Used within a transaction, on one thread at a time.
final class ArchiveSessions {
    private static let columns = "id, key, last, trimmed, oldest, count, bytes, checksum"
    private let find: Statement
    private let list: Statement
    private let replace: Statement
    private let remove: Statement

    init(_ database: Database) throws(DatabaseError) {
        find = try Statement("SELECT \(Self.columns) FROM session WHERE id = ?", in: database)
        list = try Statement("SELECT \(Self.columns) FROM session WHERE id > ? ORDER BY id LIMIT ?", in: database)
        replace = try Statement("REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", in: database)
        remove = try Statement("DELETE FROM session WHERE id = ?", in: database)
    }

    func row(_ session: SessionID) throws(DatabaseError) -> ArchivedSession? { try row(Array(session.rawValue.utf8)) }

    func row(_ id: [UInt8]) throws(DatabaseError) -> ArchivedSession? {
        var rows: [ArchivedSession] = []
        try id.withBytes { (bytes) throws(DatabaseError) in
            find.bind(borrowing: bytes, at: 1)
            rows = try Self.rows(of: find)
        }
        return rows.first
    }

    /// The next sessions in the order of their names.
    func rows(after id: [UInt8], limit: Int) throws(DatabaseError) -> [ArchivedSession] {
        var rows: [ArchivedSession] = []
        try id.withBytes { (bytes) throws(DatabaseError) in
            list.bind(borrowing: bytes, at: 1)
            list.bind(Int64(limit), at: 2)
            rows = try Self.rows(of: list)
        }
        return rows
    }

    func write(_ row: ArchivedSession) throws(DatabaseError) {
        try row.id.withBytes { (bytes) throws(DatabaseError) in
            replace.bind(borrowing: bytes, at: 1)
            for (index, value) in [
                row.key, row.last, row.trimmed, row.oldest, Int64(row.count), Int64(row.byteCount), row.checksum,
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

    private static func rows(of statement: Statement) throws(DatabaseError) -> [ArchivedSession] {
        defer { statement.reset() }
        var rows: [ArchivedSession] = []
        while try statement.step() {
            let row = ArchivedSession(
                id: statement.bytes(0), key: statement.integer(1), last: statement.integer(2),
                trimmed: statement.integer(3), oldest: statement.integer(4), count: Int(statement.integer(5)),
                byteCount: Int(statement.integer(6)))
            guard row.checksum == statement.integer(7) else {
                throw DatabaseError(damaged: "a row of the table session was changed, key \(row.key)")
            }
            rows.append(row)
        }
        return rows
    }
}

/// The rows of chunks. Used within a transaction, on one thread at a time.
final class ArchiveChunks {
    private let write: Statement
    private let remove: Statement
    private let descending: Statement
    private let ascending: Statement
    private let next: Statement

    init(_ database: Database) throws(DatabaseError) {
        write = try Statement(
            """
            INSERT INTO chunk VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET checksum = excluded.checksum, messages = excluded.messages
            """, in: database)
        remove = try Statement("DELETE FROM chunk WHERE session = ? AND first = ?", in: database)
        descending = try Statement(
            "SELECT first, checksum, messages FROM chunk WHERE session = ? AND first <= ? ORDER BY first DESC",
            in: database)
        ascending = try Statement(
            "SELECT first, checksum, messages FROM chunk WHERE session = ? AND first >= ? ORDER BY first", in: database)
        next = try Statement(
            "SELECT first FROM chunk WHERE session = ? AND first > ? ORDER BY first LIMIT 1", in: database)
    }

    /// A row of the table.
    struct Row {
        let first: Int64
        /// `nil` if the row was changed, so that its messages are lost.
        let chunk: ArchiveChunk?
    }

    func insert(_ chunk: ArchiveChunk, _ key: Int64) throws(DatabaseError) {
        guard let first = chunk.messages.first?.seq.rawValue else { return }
        try chunk.encoded().withBytes { (bytes) throws(DatabaseError) in
            write.bind(key, at: 1)
            write.bind(first, at: 2)
            write.bind(Self.checksum(key, first, bytes), at: 3)
            write.bind(borrowing: bytes, at: 4)
            try write.run()
        }
    }

    func delete(_ first: Int64, _ key: Int64) throws(DatabaseError) {
        remove.bind(key, at: 1)
        remove.bind(first, at: 2)
        try remove.run()
    }

    /// The first seq of the chunk that follows.
    func first(after seq: Int64, _ key: Int64) throws(DatabaseError) -> Int64? {
        next.bind(key, at: 1)
        next.bind(seq, at: 2)
        defer { next.reset() }
        return try next.step() ? next.integer(0) : nil
    }

    /// The chunk that has this seq, if any has.
    func row(at seq: Int64, _ key: Int64) throws(DatabaseError) -> Row? {
        var found: Row?
        try read(.through(seq), key) {
            found = $0; return false
        }
        return found
    }

    enum Direction {
        /// From the chunk that has this seq to the oldest.
        case through(Int64)
        /// From the first chunk that begins with this seq or later to the newest.
        case from(Int64)
    }

    /// Reads chunks until `body` returns false.
    func read(_ direction: Direction, _ key: Int64, _ body: (Row) -> Bool) throws(DatabaseError) {
        let statement: Statement
        switch direction {
        case .through(let seq):
            statement = descending
            statement.bind(seq, at: 2)
        case .from(let seq):
            statement = ascending
            statement.bind(seq, at: 2)
        }
        statement.bind(key, at: 1)
        defer { statement.reset() }
        while try statement.step() {
            let first = statement.integer(0)
            let bytes = statement.bytes(2)
            let chunk: ArchiveChunk? = bytes.withUnsafeBytes {
                guard Self.checksum(key, first, $0) == statement.integer(1) else { return nil }
                return ArchiveChunk(decoding: $0)
            }
            guard body(Row(first: first, chunk: chunk)) else { return }
        }
    }

    private static func checksum(_ key: Int64, _ first: Int64, _ bytes: UnsafeRawBufferPointer) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(key)
        checksum.add(first)
        checksum.add(bytes)
        return checksum.value
    }
}

/// The only row of the table `state`: the sums over all sessions.
struct ArchiveTotals: Sendable, Equatable {
    var lastKey: Int64 = 0
    var sessionCount = 0
    var messageCount = 0
    var byteCount = 0

    static let write = "REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?)"

    static func read(from database: Database) throws(DatabaseError) -> ArchiveTotals {
        let row = try Statement("SELECT key, sessions, messages, bytes, checksum FROM state", in: database)
        guard try row.step() else { return ArchiveTotals() }
        let totals = ArchiveTotals(
            lastKey: row.integer(0), sessionCount: Int(row.integer(1)), messageCount: Int(row.integer(2)),
            byteCount: Int(row.integer(3)))
        guard totals.checksum == row.integer(4), totals.numbers.allSatisfy(LogContent.isPlausible) else {
            throw DatabaseError(damaged: "the row of the table state was changed")
        }
        return totals
    }

    func write(_ statement: Statement) throws(DatabaseError) {
        for (index, number) in (numbers + [checksum]).enumerated() { statement.bind(number, at: Int32(index) + 1) }
        try statement.run()
    }

    private var numbers: [Int64] { [lastKey, Int64(sessionCount), Int64(messageCount), Int64(byteCount)] }

    private var checksum: Int64 {
        var checksum = RowChecksum()
        for number in numbers { checksum.add(number) }
        return checksum.value
    }
}
