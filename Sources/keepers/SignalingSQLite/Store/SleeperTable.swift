import SignalingCore
import SignalingProtocol

/// The sessions that wait for their next join (HIS-3). Used within the transactions of ``CommandStore``.
final class SleeperTable {
    private let insert: Statement
    private let find: Statement
    private let delete: Statement

    init(_ database: Database) throws(DatabaseError) {
        insert = try Statement("REPLACE INTO sleeper VALUES (?, ?, ?, ?, ?, ?)", in: database)
        find = try Statement("SELECT number, run, counter, checksum, snapshot FROM sleeper WHERE id = ?", in: database)
        delete = try Statement("DELETE FROM sleeper WHERE id = ? RETURNING 1", in: database)
    }

    func insert(_ session: SessionID, _ position: LogPosition, _ snapshot: [UInt8]) throws(DatabaseError) {
        try Array(session.rawValue.utf8).withBytes { (id) throws(DatabaseError) in
            try snapshot.withBytes { (bytes) throws(DatabaseError) in
                insert.bind(borrowing: id, at: 1)
                insert.bind(Int64(bitPattern: position.number), at: 2)
                insert.bind(Int64(bitPattern: position.id.run.rawValue), at: 3)
                insert.bind(Int64(bitPattern: position.id.counter), at: 4)
                insert.bind(Self.checksum(id, position, bytes), at: 5)
                insert.bind(borrowing: bytes, at: 6)
                try insert.run()
            }
        }
    }

    /// Removes a sleeping session and returns its last state; `nil` if it does not sleep, or its row was changed: the
    /// session then begins anew, above its history.
    func take(_ session: SessionID) throws(DatabaseError) -> KeptCommands.Snapshot? {
        let id = Array(session.rawValue.utf8)
        var found: KeptCommands.Snapshot?
        try id.withBytes { (bytes) throws(DatabaseError) in
            find.bind(borrowing: bytes, at: 1)
            defer { find.reset() }
            guard try find.step() else { return }
            found = Self.snapshot(find, bytes)
        }
        if try delete(session) { return found }
        return nil
    }

    /// Reads every sleeping session; `nil` for a row that was changed.
    static func read(_ database: Database, _ body: (KeptCommands.Session?) -> Void) throws(DatabaseError) {
        let row = try Statement("SELECT number, run, counter, checksum, snapshot, id FROM sleeper", in: database)
        while try row.step() {
            let id = row.bytes(5)
            let snapshot = id.withUnsafeBytes { Self.snapshot(row, $0) }
            body(
                snapshot.map {
                    KeptCommands.Session(
                        id: SessionID(rawValue: String(decoding: id, as: UTF8.self)), snapshot: $0, entries: [])
                })
        }
    }

    /// Reads some sleeping sessions of a range, the greatest ID first, by the table's own order.
    static func read(
        _ database: Database, in range: Range<SessionID>, atMost count: Int
    ) throws(DatabaseError) -> SleepingSessions {
        let row = try Statement(
            """
            SELECT number, run, counter, checksum, snapshot, id FROM sleeper WHERE id >= ? AND id < ?
            ORDER BY id DESC LIMIT ?
            """, in: database)
        var read = SleepingSessions(atMost: count)
        try Array(range.lowerBound.rawValue.utf8).withBytes { (lower) throws(DatabaseError) in
            try Array(range.upperBound.rawValue.utf8).withBytes { (upper) throws(DatabaseError) in
                row.bind(borrowing: lower, at: 1)
                row.bind(borrowing: upper, at: 2)
                // The row behind the last one says that there is one.
                row.bind(Int64(count) + 1, at: 3)
                while try row.step() {
                    let id = row.bytes(5)
                    let snapshot = id.withUnsafeBytes { Self.snapshot(row, $0) }
                    let session = SessionID(rawValue: String(decoding: id, as: UTF8.self))
                    guard read.add(session, snapshot?.bytes ?? []) else { return }
                }
            }
        }
        return read
    }

    /// - Returns: whether the session slept.
    func delete(_ session: SessionID) throws(DatabaseError) -> Bool {
        var didSleep = false
        try Array(session.rawValue.utf8).withBytes { (bytes) throws(DatabaseError) in
            delete.bind(borrowing: bytes, at: 1)
            defer { delete.reset() }
            didSleep = try delete.step()
            if didSleep { _ = try delete.step() }
        }
        return didSleep
    }

    /// The snapshot in the columns number, run, counter, checksum and snapshot; `nil` if the row was changed.
    private static func snapshot(_ row: Statement, _ id: UnsafeRawBufferPointer) -> KeptCommands.Snapshot? {
        let position = LogPosition(
            number: UInt64(bitPattern: row.integer(0)),
            id: CommandID(
                run: RunID(UInt64(bitPattern: row.integer(1))), counter: UInt64(bitPattern: row.integer(2))))
        let snapshot = row.bytes(4)
        let checksum = snapshot.withUnsafeBytes { Self.checksum(id, position, $0) }
        guard checksum == row.integer(3), LogContent.isPlausible(Int64(clamping: position.number)) else { return nil }
        return KeptCommands.Snapshot(position: position, bytes: snapshot)
    }

    private static func checksum(
        _ id: UnsafeRawBufferPointer, _ position: LogPosition, _ snapshot: UnsafeRawBufferPointer
    ) -> Int64 {
        CommandSchema.checksum(key: SessionKey(0), id: id, position: 0, at: position, snapshot: snapshot)
    }
}
