import SignalingCore
import SignalingProtocol

/// The sleeping sessions that are kept because of a restriction (MOD-9). Used within the transactions of
/// ``CommandStore``.
///
/// The row of a session only says how long it must be kept. Its restrictions are in its state.
final class RestrictedTable {
    private let insert: Statement
    private let find: Statement
    private let findEnded: Statement
    private let delete: Statement

    init(_ database: Database) throws(DatabaseError) {
        insert = try Statement("REPLACE INTO restricted VALUES (?, ?, ?, ?)", in: database)
        find = try Statement("SELECT until, history, checksum FROM restricted WHERE id = ?", in: database)
        findEnded = try Statement(
            "SELECT id, until, history, checksum FROM restricted WHERE until <= ? LIMIT ?", in: database)
        delete = try Statement("DELETE FROM restricted WHERE id = ?", in: database)
    }

    func insert(_ session: SessionID, _ reason: SleepReason) throws(DatabaseError) {
        let until: Int64
        switch reason.restrictionsEnd {
        case nil: return try delete(session)
        case .at(let end): until = end.nanoseconds
        case .whenLifted: until = .max
        }
        try Array(session.rawValue.utf8).withBytes { (id) throws(DatabaseError) in
            insert.bind(borrowing: id, at: 1)
            insert.bind(until, at: 2)
            insert.bind(reason.hasHistory ? 1 : 0, at: 3)
            insert.bind(Self.checksum(id, until, reason.hasHistory), at: 4)
            try insert.run()
        }
    }

    /// - Returns: `nil` if no restriction keeps the session, or its row was changed.
    func reason(of session: SessionID) throws(DatabaseError) -> SleepReason? {
        var reason: SleepReason?
        try Array(session.rawValue.utf8).withBytes { (id) throws(DatabaseError) in
            find.bind(borrowing: id, at: 1)
            defer { find.reset() }
            if try find.step() { reason = Self.reason(find, 0, id) }
        }
        return reason
    }

    /// The sessions whose restrictions have ended, at most as many as asked for.
    func ended(at time: MonotonicInstant, limit: Int) throws(DatabaseError) -> [(SessionID, SleepReason?)] {
        findEnded.bind(time.nanoseconds, at: 1)
        findEnded.bind(Int64(limit), at: 2)
        defer { findEnded.reset() }
        var found: [(SessionID, SleepReason?)] = []
        while try findEnded.step() {
            let id = findEnded.bytes(0)
            let reason = id.withUnsafeBytes { Self.reason(findEnded, 1, $0) }
            found.append((SessionID(rawValue: String(decoding: id, as: UTF8.self)), reason))
        }
        return found
    }

    static func hasChangedRow(_ database: Database) throws(DatabaseError) -> Bool {
        // A database of the version before does not have it yet.
        let count = try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'restricted'")
        guard count > 0 else { return false }
        let row = try Statement("SELECT id, until, history, checksum FROM restricted", in: database)
        while try row.step() {
            if row.bytes(0).withUnsafeBytes({ reason(row, 1, $0) }) == nil { return true }
        }
        return false
    }

    func delete(_ session: SessionID) throws(DatabaseError) {
        try Array(session.rawValue.utf8).withBytes { (id) throws(DatabaseError) in
            delete.bind(borrowing: id, at: 1)
            try delete.run()
        }
    }

    /// The reason in the columns until, history and checksum, of which this is the first.
    private static func reason(_ row: Statement, _ column: Int32, _ id: UnsafeRawBufferPointer) -> SleepReason? {
        let (until, history) = (row.integer(column), row.integer(column + 1))
        guard row.integer(column + 2) == checksum(id, until, history != 0) else { return nil }
        let end: RestrictionEnd = until == .max ? .whenLifted : .at(MonotonicInstant(nanoseconds: until))
        return SleepReason(hasHistory: history != 0, restrictionsEnd: end)
    }

    private static func checksum(_ id: UnsafeRawBufferPointer, _ until: Int64, _ hasHistory: Bool) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(id)
        checksum.add(until)
        checksum.add(hasHistory ? 1 : 0)
        return checksum.value
    }
}
