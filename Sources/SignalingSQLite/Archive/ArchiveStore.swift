import SignalingCore
import SignalingProtocol

/// Writes to an archive, one transaction after the other. Used on one thread at a time.
final class ArchiveStore {
    /// One step of the writer.
    enum Work: Sendable {
        case append([ArchivedMessage], to: SessionID)
        case erase(Erasure, of: SessionID)
        /// Trims what is too old at this time, or over the common bound.
        case sweep(WallTime)
        case changeBounds(HistoryBounds)

        /// What it adds to a transaction.
        var rowCount: Int {
            switch self {
            case .append(let messages, _): messages.count
            case .erase, .sweep, .changeBounds: 1
            }
        }
    }

    struct Totals: Sendable, Equatable {
        var sessionCount = 0
        var messageCount = 0
        var byteCount = 0
    }

    /// Sessions that one transaction of a sweep trims, and the messages that it deletes of each.
    private static let sweepSessionCount = 64
    private static let sweepMessageCount = 1_000

    let database: Database
    private(set) var totals: Totals
    private var bounds: HistoryBounds
    private var lastKey: Int64
    private let sessions: ArchiveSessions
    private let begin: Statement
    private let commit: Statement
    private let insert: Statement
    private let clear: Statement
    private let find: Statement
    private let oldest: Statement
    private let delete: Statement

    init(_ database: Database, bounds: HistoryBounds) throws(DatabaseError) {
        self.database = database
        self.bounds = bounds
        totals = try Self.totals(of: database)
        lastKey = try database.integer("SELECT max(key) FROM session")
        sessions = try ArchiveSessions(database)
        begin = try Statement("BEGIN IMMEDIATE", in: database)
        commit = try Statement("COMMIT", in: database)
        insert = try Statement(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1", in: database)
        clear = try Statement("UPDATE message SET content = NULL WHERE session = ? AND seq = ?", in: database)
        find = try Statement("SELECT seq, time, head, content FROM message WHERE session = ? AND seq = ?", in: database)
        oldest = try Statement(
            "SELECT seq, time, head, content FROM message WHERE session = ? ORDER BY seq LIMIT ?", in: database)
        delete = try Statement("DELETE FROM message WHERE session = ? AND seq <= ?", in: database)
    }

    private static func totals(of database: Database) throws(DatabaseError) -> Totals {
        let sums = try Statement("SELECT count(*), total(count), total(bytes) FROM session", in: database)
        guard try sums.step() else { return Totals() }
        return Totals(
            sessionCount: Int(sums.integer(0)), messageCount: Int(sums.integer(1)), byteCount: Int(sums.integer(2)))
    }

    /// What a transaction has done.
    struct Outcome: Sendable {
        /// The sessions that a sweep has forgotten.
        var forgotten: [SessionID] = []
        /// Whether the sweep has more to do.
        var isUnfinished = false
        /// Whether content was erased, which the write-ahead log still has.
        var hasErased = false
    }

    /// Executes work in one transaction. When it throws, nothing has changed.
    func execute(_ works: [Work]) throws(DatabaseError) -> Outcome {
        let before = (totals, lastKey, bounds)
        var outcome = Outcome()
        do throws(DatabaseError) {
            try begin.run()
            for work in works {
                switch work {
                case .append(let messages, let session): try append(messages, to: session)
                case .erase(let erasure, let session):
                    try erase(erasure, of: session)
                    outcome.hasErased = true
                case .sweep(let now): try sweep(now, &outcome)
                case .changeBounds(let new): bounds = new
                }
            }
            try commit.run()
        } catch {
            database.rollBack()
            (totals, lastKey, bounds) = before
            throw error
        }
        return outcome
    }

    // MARK: - Messages

    private func append(_ messages: [ArchivedMessage], to session: SessionID) throws(DatabaseError) {
        var row = try sessions.row(session) ?? new(session)
        let before = (count: row.count, byteCount: row.byteCount)
        for message in messages where message.seq.rawValue > row.trimmed {
            guard try add(message, row.key) else { continue }
            row.oldest = row.count == 0 ? message.time.milliseconds : min(row.oldest, message.time.milliseconds)
            row.count += 1
            row.byteCount += message.byteCount
            row.last = max(row.last, message.seq.rawValue)
        }
        try trim(&row) { $0.count > bounds.messageCount || $0.byteCount > bounds.byteCount }
        try write(row, before)
    }

    private func new(_ session: SessionID) -> ArchivedSession {
        lastKey += 1
        totals.sessionCount += 1
        return ArchivedSession(
            id: Array(session.rawValue.utf8), key: lastKey, last: 0, trimmed: 0, oldest: 0, count: 0, byteCount: 0)
    }

    /// - Returns: false if the message is there already.
    private func add(_ message: ArchivedMessage, _ key: Int64) throws(DatabaseError) -> Bool {
        var isNew = false
        try message.head.withBytes { (head) throws(DatabaseError) in
            try (message.content ?? []).withBytes { (content) throws(DatabaseError) in
                insert.bind(key, at: 1)
                insert.bind(message.seq.rawValue, at: 2)
                insert.bind(message.time.milliseconds, at: 3)
                insert.bind(borrowing: head, at: 4)
                if message.content == nil { insert.bindNull(at: 5) } else { insert.bind(borrowing: content, at: 5) }
                defer { insert.reset() }
                isNew = try insert.step()
                if isNew { _ = try insert.step() }
            }
        }
        return isNew
    }

    private func erase(_ erasure: Erasure, of session: SessionID) throws(DatabaseError) {
        guard var row = try sessions.row(session) else { return }
        let before = (count: row.count, byteCount: row.byteCount)
        switch erasure {
        case .message(let seq):
            guard let message = try message(seq, row.key), message.content != nil else { return }
            clear.bind(row.key, at: 1)
            clear.bind(seq.rawValue, at: 2)
            try clear.run()
            row.byteCount += message.erased.byteCount - message.byteCount
        case .through(let seq):
            while try trim(&row, { _ in true }, through: seq.rawValue) {}
            row.trimmed = max(row.trimmed, min(seq.rawValue, row.last))
        }
        try write(row, before)
    }

    private func message(_ seq: Seq, _ key: Int64) throws(DatabaseError) -> ArchivedMessage? {
        find.bind(key, at: 1)
        find.bind(seq.rawValue, at: 2)
        defer { find.reset() }
        return try find.step() ? find.message : nil
    }

    // MARK: - Bounds

    /// Deletes the oldest messages for as long as they are over a bound, but not more than a transaction should.
    ///
    /// - Returns: whether it stopped for that reason.
    @discardableResult
    private func trim(
        _ row: inout ArchivedSession, _ isOver: (ArchivedSession) -> Bool, through limit: Int64 = .max
    ) throws(DatabaseError) -> Bool {
        guard row.count > 0, isOver(row) else { return false }
        oldest.bind(row.key, at: 1)
        oldest.bind(Int64(Self.sweepMessageCount), at: 2)
        var last: Int64?
        var deletedCount = 0
        while try oldest.step() {
            let message = oldest.message
            row.oldest = message.time.milliseconds
            guard isOver(row), message.seq.rawValue <= limit else { break }
            last = message.seq.rawValue
            deletedCount += 1
            row.count -= 1
            row.byteCount -= message.byteCount
        }
        oldest.reset()
        guard let last else { return false }
        delete.bind(row.key, at: 1)
        delete.bind(last, at: 2)
        try delete.run()
        row.trimmed = max(row.trimmed, last)
        return deletedCount == Self.sweepMessageCount
    }

    private func write(
        _ row: ArchivedSession, _ before: (count: Int, byteCount: Int)
    ) throws(DatabaseError) {
        try sessions.write(row)
        totals.messageCount += row.count - before.count
        totals.byteCount += row.byteCount - before.byteCount
    }

    /// Trims some of the sessions that are over the age or over the common bound, and forgets those that are empty.
    private func sweep(_ now: WallTime, _ outcome: inout Outcome) throws(DatabaseError) {
        let cutoff = now.milliseconds - bounds.age.wholeMilliseconds
        for session in try names(
            "SELECT id FROM session WHERE count > 0 AND oldest < \(cutoff) LIMIT \(Self.sweepSessionCount)")
        {
            outcome.isUnfinished = true
            guard var row = try sessions.row(session) else { continue }
            let before = (count: row.count, byteCount: row.byteCount)
            try trim(&row) { $0.oldest < cutoff }
            try write(row, before)
        }
        if totals.byteCount > bounds.totalByteCount {
            // A part more than needed, so that the largest session is not searched for after each message.
            let goal = totals.byteCount - bounds.totalByteCount / 16 * 15
            for session in try names("SELECT id FROM session WHERE count > 0 ORDER BY bytes DESC LIMIT 1") {
                outcome.isUnfinished = true
                guard var row = try sessions.row(session) else { continue }
                let before = (count: row.count, byteCount: row.byteCount)
                try trim(&row) { before.byteCount - $0.byteCount < goal }
                try write(row, before)
            }
        }
        for session in try names("SELECT id FROM session WHERE count = 0 LIMIT \(Self.sweepSessionCount)") {
            outcome.isUnfinished = true
            guard let row = try sessions.row(session) else { continue }
            try sessions.delete(row)
            totals.sessionCount -= 1
            outcome.forgotten.append(session)
        }
    }

    private func names(_ sql: String) throws(DatabaseError) -> [SessionID] {
        let rows = try Statement(sql, in: database)
        var names: [SessionID] = []
        while try rows.step() { names.append(SessionID(rawValue: rows.text(0))) }
        return names
    }
}
