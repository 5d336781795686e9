import SignalingCore
import SignalingProtocol

/// Writes commands and snapshots to the database, one transaction after the other. Used on one thread at a time.
final class CommandStore {
    /// A transaction holds at most this many commands (LOG-22).
    static let commandLimit = 1_000
    /// A transaction holds at most this many bytes of commands and snapshots, or one that is larger (LOG-22).
    static let byteLimit = 1 << 20
    /// Fewer commands than this are deleted at the next sign of life only, since deleting has a cost per transaction.
    private static let dropBatch = 1_000

    let database: Database
    private(set) var retention: Retention
    private var state: LogState
    private let begin: Statement
    private let commit: Statement
    private let insertCommand: Statement
    private let insertSession: Statement
    private let updateSession: Statement
    private let deleteSession: Statement
    private let deleteCommands: Statement
    private let findTime: Statement
    private let writeState: Statement
    private let sleepers: SleeperTable
    private let restricted: RestrictedTable
    /// The restricted sleepers that one step looks at. The next minute goes on.
    private static let endedCount = 256
    private let scrubber: CommandScrubber

    /// - Parameter content: what the database has, read from the same connection.
    init(_ database: Database, content: LogContent, state: LogState, retainedByteCount: Int) throws(DatabaseError) {
        self.database = database
        self.state = state
        begin = try Statement("BEGIN IMMEDIATE", in: database)
        commit = try Statement("COMMIT", in: database)
        insertCommand = try Statement("INSERT INTO command VALUES (?, ?, ?, ?, ?, ?, ?, ?)", in: database)
        insertSession = try Statement("INSERT INTO session VALUES (?, ?, 0, 0, 0, 0, ?, NULL)", in: database)
        updateSession = try Statement(
            """
            UPDATE session SET position = ?2, number = ?3, run = ?4, counter = ?5, checksum = ?6, snapshot = ?7
            WHERE key = ?1
            """, in: database)
        deleteSession = try Statement("DELETE FROM session WHERE key = ?", in: database)
        deleteCommands = try Statement("DELETE FROM command WHERE position <= ?", in: database)
        findTime = try Statement("SELECT time FROM command WHERE session = ? AND number = ?", in: database)
        writeState = try Statement(LogState.write, in: database)
        sleepers = try SleeperTable(database)
        restricted = try RestrictedTable(database)
        scrubber = try CommandScrubber(database)

        retention = Retention(
            lastPosition: content.lastPosition - Int64(content.rows.count), minimumByteCount: retainedByteCount)
        for session in content.sessions {
            retention.begin(session.key, id: session.id, lastNumber: session.covered.number)
            if let snapshot = session.snapshot {
                _ = retention.keep(session.covered.number, of: session.key, byteCount: snapshot.bytes.count)
            }
        }
        for row in content.rows { retention.append(row.key, byteCount: row.byteCount, isNeeded: row.isNeeded) }
    }

    /// Whether the next commit deletes old commands.
    var mustDrop: Bool { retention.droppable.count >= Self.dropBatch }

    /// The position of the last committed command.
    var lastPosition: Int64 { retention.lastPosition }

    /// What a transaction has kept.
    struct Outcome {
        var confirmed: [CommandEntry] = []
        var kept: [(position: LogPosition, session: SessionID, byteCount: Int)] = []
        var asked: [SessionID] = []
        var woken: [(session: SessionID, key: SessionKey, snapshot: KeptCommands.Snapshot?)] = []
        var forgottenCount = 0
        /// The sessions whose snapshots have replaced commands with erased content.
        var erased: [SessionKey] = []
        /// What is left of a pass that was gone on with; `nil` at its end.
        var scrubbed: ScrubPass??
    }

    /// Executes work in one transaction. When it throws, nothing has changed, and the work can be repeated unless the
    /// disk has failed.
    ///
    /// - Parameters:
    ///   - aliveAt: the log's time now.
    ///   - isSignOfLife: whether the transaction also keeps that time (LOG-13).
    ///   - mustWrite: whether a sign of life is kept also if no session needs it.
    func commit(
        _ batch: WorkBatch, aliveAt: MonotonicInstant, isSignOfLife: Bool, mustWrite: Bool = false
    ) throws(DatabaseError) -> Outcome {
        let droppable = retention.droppable
        let drops = mustDrop || (isSignOfLife && droppable.count > 0)
        // Twice the commands that a transaction can add, so that deleting keeps up.
        let dropped = droppable.last - Int64(max(droppable.count - 2 * Self.commandLimit, 0))
        var state = state
        state.aliveAt = max(state.aliveAt, aliveAt)
        var outcome = Outcome()
        do throws(DatabaseError) {
            try begin.run()
            var position = retention.lastPosition
            for work in batch.work { try write(work, &position, &outcome) }
            if drops {
                deleteCommands.bind(dropped, at: 1)
                try deleteCommands.run()
            }
            if drops || (isSignOfLife && (mustWrite || !retention.isEmpty)) {
                state.position = position
                try state.write(writeState)
            }
            try commit.run()
        } catch {
            database.rollBack()
            throw error
        }
        self.state = state
        for work in batch.work { apply(work, &outcome) }
        if drops { retention.dropped(through: dropped) }
        outcome.asked += retention.sessionsToAsk()
        return outcome
    }

    /// Marks the database as stopped. Everything is on the disk when this returns, so that the next process may
    /// continue after a loss of power, too (LOG-21).
    func close(aliveAt: MonotonicInstant) throws(DatabaseError) {
        try database.execute("PRAGMA synchronous = FULL")
        state.aliveAt = max(state.aliveAt, aliveAt)
        state.position = retention.lastPosition
        state.isClean = true
        do throws(DatabaseError) {
            try begin.run()
            deleteCommands.bind(retention.droppable.last, at: 1)
            try deleteCommands.run()
            try state.write(writeState)
            try commit.run()
        } catch {
            database.rollBack()
            throw error
        }
        // Everything is on the disk already. A checkpoint that a backup or a full disk prevents is left to the next
        // process.
        do throws(DatabaseError) {
            try database.checkpoint(.truncate)
        } catch {
            guard error.kind == .full || error.kind == .busy else { throw error }
        }
    }

    // MARK: - Work

    private func write(_ work: LogWork, _ position: inout Int64, _ outcome: inout Outcome) throws(DatabaseError) {
        switch work {
        case .begin(let key, let id): try insert(id, key)
        case .append(let key, let entry):
            position += 1
            try insert(entry, key, position)
            outcome.confirmed.append(entry)
        case .repeated(let key, let entry):
            outcome.confirmed.append(try original(of: entry, key))
        case .keep(let key, let snapshot):
            guard let last = retention.position(of: snapshot.position.number, in: key) else { return }
            try update(key, snapshot.session, position: last, at: snapshot.position, snapshot: snapshot.bytes)
            outcome.kept.append((snapshot.position, snapshot.session, snapshot.bytes.count))
            if snapshot.replacesErased { outcome.erased.append(key) }
        case .cover(let key, let session, let through):
            guard let last = retention.position(of: through.number, in: key) else { return }
            try update(key, session, position: last, at: through, snapshot: nil)
        case .end(let key): try delete(key)
        case .sleep(let key, let snapshot, let reason):
            try sleepers.insert(snapshot.session, snapshot.position, snapshot.bytes)
            try restricted.insert(snapshot.session, reason)
            try delete(key)
        case .wake(let key, let session):
            let snapshot = try sleepers.take(session)
            try restricted.delete(session)
            if let snapshot {
                try insert(session, key)
                try update(key, session, position: position, at: snapshot.position, snapshot: snapshot.bytes)
            }
            outcome.woken.append((session, key, snapshot))
        case .scrub(let pass): outcome.scrubbed = .some(try scrubber.scrub(pass))
        case .forget(let sessions, let time): outcome.forgottenCount += try forget(sessions, at: time)
        }
    }

    /// - Parameter sessions: have no history any more.
    /// - Returns: how many sleepers were forgotten.
    private func forget(_ sessions: [SessionID], at time: MonotonicInstant) throws(DatabaseError) -> Int {
        var count = 0
        for session in sessions {
            if var reason = try restricted.reason(of: session) {
                reason.hasHistory = false
                try restricted.insert(session, reason)
            } else if try sleepers.delete(session) {
                count += 1
            }
        }
        for (session, reason) in try restricted.ended(at: time, limit: Self.endedCount) {
            if reason?.hasHistory != true, try sleepers.delete(session) { count += 1 }
            try restricted.delete(session)
        }
        return count
    }

    private func insert(_ session: SessionID, _ key: SessionKey) throws(DatabaseError) {
        try Array(session.rawValue.utf8).withBytes { (bytes) throws(DatabaseError) in
            insertSession.bind(key.rawValue, at: 1)
            insertSession.bind(borrowing: bytes, at: 2)
            insertSession.bind(
                CommandSchema.checksum(key: key, id: bytes, position: 0, at: .none, snapshot: nil), at: 3)
            try insertSession.run()
        }
    }

    private func delete(_ key: SessionKey) throws(DatabaseError) {
        deleteSession.bind(key.rawValue, at: 1)
        try deleteSession.run()
    }

    /// Changes the state in memory as a committed transaction has changed the database.
    private func apply(_ work: LogWork, _ outcome: inout Outcome) {
        switch work {
        case .begin(let key, let id): retention.begin(key, id: id)
        case .append(let key, let entry): retention.append(key, byteCount: entry.bytes.count)
        case .repeated: break
        case .keep(let key, let snapshot):
            let number = snapshot.position.number
            guard retention.position(of: number, in: key) != nil else { return }
            if retention.keep(number, of: key, byteCount: snapshot.bytes.count) {
                outcome.asked.append(snapshot.session)
            }
        case .cover(let key, _, let through): retention.cover(through.number, of: key)
        case .end(let key), .sleep(let key, _, _): retention.end(key)
        case .wake(let key, let session):
            guard let snapshot = outcome.woken.first(where: { $0.key == key })?.snapshot else { return }
            let number = snapshot.position.number
            retention.begin(key, id: session, lastNumber: number)
            _ = retention.keep(number, of: key, byteCount: snapshot.bytes.count)
        case .scrub, .forget: break
        }
    }

    private func insert(_ entry: CommandEntry, _ key: SessionKey, _ position: Int64) throws(DatabaseError) {
        try entry.bytes.withBytes { (bytes) throws(DatabaseError) in
            insertCommand.bind(position, at: 1)
            insertCommand.bind(key.rawValue, at: 2)
            insertCommand.bind(Int64(bitPattern: entry.position.number), at: 3)
            insertCommand.bind(entry.time.nanoseconds, at: 4)
            insertCommand.bind(Int64(bitPattern: entry.position.id.run.rawValue), at: 5)
            insertCommand.bind(Int64(bitPattern: entry.position.id.counter), at: 6)
            insertCommand.bind(
                CommandSchema.checksum(
                    position: position, key: key, at: entry.position, time: entry.time, bytes: bytes),
                at: 7)
            insertCommand.bind(borrowing: bytes, at: 8)
            try insertCommand.run()
        }
    }

    /// The entry that a repeated append refers to, with the time that it was given first. The table has no index for
    /// this, since a sender repeats a command only when a reply was lost. A deleted command keeps the new time.
    private func original(of entry: CommandEntry, _ key: SessionKey) throws(DatabaseError) -> CommandEntry {
        findTime.bind(key.rawValue, at: 1)
        findTime.bind(Int64(bitPattern: entry.position.number), at: 2)
        defer { findTime.reset() }
        guard try findTime.step() else { return entry }
        return CommandEntry(
            session: entry.session, position: entry.position,
            time: MonotonicInstant(nanoseconds: findTime.integer(0)), bytes: entry.bytes)
    }

    private func update(
        _ key: SessionKey, _ session: SessionID, position: Int64, at logPosition: LogPosition, snapshot: [UInt8]?
    ) throws(DatabaseError) {
        let id = Array(session.rawValue.utf8)
        func run(_ snapshot: UnsafeRawBufferPointer?) throws(DatabaseError) {
            updateSession.bind(key.rawValue, at: 1)
            updateSession.bind(position, at: 2)
            updateSession.bind(Int64(bitPattern: logPosition.number), at: 3)
            updateSession.bind(Int64(bitPattern: logPosition.id.run.rawValue), at: 4)
            updateSession.bind(Int64(bitPattern: logPosition.id.counter), at: 5)
            updateSession.bind(
                id.withUnsafeBytes {
                    CommandSchema.checksum(key: key, id: $0, position: position, at: logPosition, snapshot: snapshot)
                }, at: 6)
            if let snapshot {
                updateSession.bind(borrowing: snapshot, at: 7)
            } else {
                updateSession.bindNull(at: 7)
            }
            try updateSession.run()
        }
        guard let snapshot else { return try run(nil) }
        try snapshot.withBytes { (bytes) throws(DatabaseError) in try run(bytes) }
    }
}
