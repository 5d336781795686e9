import SignalingCore
import SignalingProtocol

/// Overwrites commands that a snapshot covers: they have content that was erased since (HIS-9).
///
/// The rows stay, since a missing one is damage, and they keep their sizes, since these decide when old rows are dropped.
/// Used within the transactions of ``CommandStore``.
final class CommandScrubber {
    /// The rows that one transaction looks at, and those that it overwrites, so that no acknowledgement waits long: about
    /// two milliseconds.
    private static let rowLimit = 2_000
    private static let overwriteLimit = 200

    private let covered: Statement
    private let rows: Statement
    private let update: Statement

    init(_ database: Database) throws(DatabaseError) {
        covered = try Statement("SELECT position FROM session WHERE key = ?", in: database)
        rows = try Statement(
            """
            SELECT position, session, number, run, counter, time, length(bytes), substr(bytes, 1, 1) = x'00' FROM command
            WHERE position > ? ORDER BY position LIMIT \(Self.rowLimit)
            """, in: database)
        update = try Statement("UPDATE command SET bytes = ?, checksum = ? WHERE position = ?", in: database)
    }

    /// Does a part of a pass.
    ///
    /// - Returns: what is left of it; `nil` if no command follows.
    func scrub(_ pass: ScrubPass) throws(DatabaseError) -> ScrubPass? {
        var ends: [Int64: Int64] = [:]
        rows.bind(pass.position, at: 1)
        defer { rows.reset() }
        var next = pass
        var count = 0
        var overwrittenCount = 0
        while try rows.step() {
            count += 1
            next.position = rows.integer(0)
            let owner = rows.integer(1)
            // A command begins with the version of its rules, which is never zero: an earlier pass has overwritten it.
            let isOverwritten = rows.integer(7) != 0
            guard pass.keys?.contains(SessionKey(owner)) ?? true, !isOverwritten else { continue }
            if ends[owner] == nil { ends[owner] = try coveredEnd(of: owner) }
            guard let end = ends[owner], next.position <= end else { continue }
            try overwrite(next.position, SessionKey(owner))
            overwrittenCount += 1
            if overwrittenCount == Self.overwriteLimit { return next }
        }
        return count < Self.rowLimit ? nil : next
    }

    /// Up to which position a session needs no command: all of them if it has ended.
    private func coveredEnd(of key: Int64) throws(DatabaseError) -> Int64 {
        covered.bind(key, at: 1)
        defer { covered.reset() }
        return try covered.step() ? covered.integer(0) : .max
    }

    private func overwrite(_ position: Int64, _ key: SessionKey) throws(DatabaseError) {
        let zeros = [UInt8](repeating: 0, count: Int(rows.integer(6)))
        let logPosition = LogPosition(
            number: UInt64(bitPattern: rows.integer(2)),
            id: CommandID(
                run: RunID(UInt64(bitPattern: rows.integer(3))), counter: UInt64(bitPattern: rows.integer(4))))
        try zeros.withBytes { (bytes) throws(DatabaseError) in
            update.bind(borrowing: bytes, at: 1)
            update.bind(
                CommandSchema.checksum(
                    position: position, key: key, at: logPosition,
                    time: MonotonicInstant(nanoseconds: rows.integer(5)), bytes: bytes), at: 2)
            update.bind(position, at: 3)
            try update.run()
        }
    }
}
