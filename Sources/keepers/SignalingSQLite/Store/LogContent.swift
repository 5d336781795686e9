import SignalingCore
import SignalingProtocol

/// Everything in a database: read at opening, and by the tools.
struct LogContent {
    struct Session {
        let key: SessionKey
        let id: SessionID
        let snapshot: KeptCommands.Snapshot?
        /// The last command that is not needed any more; `none` if all are needed.
        let covered: LogPosition
        let coveredPosition: Int64
        /// The commands that are needed.
        var entries: [CommandEntry] = []
    }

    /// In the order of their keys.
    private(set) var sessions: [Session] = []
    /// Sessions without a snapshot and without a needed command. A process that is killed between the transaction of a
    /// session and that of its first command leaves such a session.
    private(set) var emptySessions: [SessionKey] = []
    /// Every command in the database, in the order of positions.
    private(set) var rows: [(key: SessionKey, byteCount: Int, isNeeded: Bool)] = []
    /// `nil` in a database that was created and never written to.
    let state: LogState?
    private(set) var lastPosition: Int64
    private(set) var lastKey: Int64 = 0
    /// The sessions that sleep (HIS-3). They are not read.
    private(set) var sleeperCount = 0
    /// The latest time in the log.
    private(set) var lastTime: MonotonicInstant
    private var indices: [SessionKey: Int] = [:]

    /// What becomes of a row that contradicts itself or the rows before it.
    enum Reading {
        /// It is damage.
        case strict
        /// It is left out, and so is everything of its session behind it.
        case salvaging

        func reject(_ fault: String) throws(DatabaseError) {
            switch self {
            case .strict: throw DatabaseError(damaged: fault)
            case .salvaging: break
            }
        }
    }

    /// Reads a database and checks its rows: checksums, positions without gaps, and numbers without gaps.
    init(_ database: Database, _ reading: Reading = .strict) throws(DatabaseError) {
        // One transaction, since a server may be writing while a tool reads.
        try database.execute("BEGIN")
        defer { database.rollBack() }
        switch reading {
        case .strict: state = try LogState.read(from: database)
        case .salvaging: state = nil
        }
        lastPosition = state?.position ?? 0
        lastTime = state?.aliveAt ?? MonotonicInstant(nanoseconds: 0)
        if try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'sleeper'") > 0 {
            sleeperCount = Int(try database.integer("SELECT count(*) FROM sleeper"))
        }
        switch reading {
        case .strict:
            try readSessions(database, reading)
            try readCommands(database, reading)
        case .salvaging:
            // What was read before SQLite gives up is good.
            try? readSessions(database, reading)
            try? readCommands(database, reading)
        }
        emptySessions = sessions.filter { $0.snapshot == nil && $0.entries.isEmpty }.map(\.key)
        sessions.removeAll { $0.snapshot == nil && $0.entries.isEmpty }
    }

    // MARK: - Continuing

    /// Why the sessions must not be continued, as the end of a sentence; `nil` if they may be (LOG-21, LOG-24).
    ///
    /// - Parameters:
    ///   - boot: the present run of the operating system.
    ///   - mark: what the last process has written beside its database.
    ///   - database: which file this database is.
    func reasonToBeginAnew(boot: String, mark: TailMark.Content, database: FileIdentity?) -> String? {
        let copied = "the database is a copy, and the original may have been continued"
        if state?.copy != nil { return copied }
        if lastPosition < mark.confirmed {
            return "the last \(mark.confirmed - lastPosition) commands are missing in the database"
        }
        guard let state else { return nil }
        // The folder of a stopped server may be copied to another machine, and goes on there.
        if !state.isClean, let original = mark.database, let database, original != database { return copied }
        if state.durability == .process, !state.isClean, boot.isEmpty || state.boot != boot {
            return "the machine has stopped without a stop of the server, so the newest commands may be missing. "
                + "Use the durability power to prevent this"
        }
        return nil
    }

    /// Removes all sessions. Positions and time go on.
    mutating func removeSessions() {
        sessions = []
        rows = []
        emptySessions = []
        sleeperCount = 0
    }

    /// What the next process continues.
    ///
    /// - Parameter openedAt: by the clock of the log. The last process writes a sign of life each second, so it may have
    ///   lived for a second after the last one, but not until now.
    func kept(openedAt: MonotonicInstant) -> KeptCommands {
        let mayHaveLived = state?.isClean == true ? Duration.zero : .seconds(1)
        return KeptCommands(
            sessions: keptSessions, lostAt: min(lastTime.advanced(by: mayHaveLived), openedAt))
    }

    var keptSessions: [KeptCommands.Session] {
        sessions.map { KeptCommands.Session(id: $0.id, snapshot: $0.snapshot, entries: $0.entries) }
    }

    /// The ends of the sessions' orders, for the commands that follow.
    var tails: [SessionID: SessionTail] {
        var tails: [SessionID: SessionTail] = [:]
        tails.reserveCapacity(sessions.count)
        for session in sessions {
            var tail = SessionTail(key: session.key, covered: session.covered)
            if session.snapshot != nil { tail.snapshotNumber = session.covered.number }
            for entry in session.entries { tail.add(entry.position.id) }
            tails[session.id] = tail
        }
        return tails
    }

    // MARK: - Reading

    private mutating func readSessions(_ database: Database, _ reading: Reading) throws(DatabaseError) {
        let row = try Statement(
            "SELECT key, id, position, number, run, counter, checksum, snapshot FROM session ORDER BY key", in: database
        )
        var ids: Set<SessionID> = []
        while try row.step() {
            let key = SessionKey(row.integer(0))
            let idBytes = row.bytes(1)
            let id = SessionID(rawValue: String(decoding: idBytes, as: UTF8.self))
            let position = row.integer(2)
            let covered = Self.position(row, firstColumn: 3)
            let snapshot = row.isNull(7) ? nil : row.bytes(7)
            let checksum = idBytes.withUnsafeBytes { id in
                guard let snapshot else {
                    return CommandSchema.checksum(key: key, id: id, position: position, at: covered, snapshot: nil)
                }
                return snapshot.withUnsafeBytes {
                    CommandSchema.checksum(key: key, id: id, position: position, at: covered, snapshot: $0)
                }
            }
            guard checksum == row.integer(6) else {
                try reading.reject("a row of the table session was changed, key \(key.rawValue)")
                continue
            }
            guard Self.isPlausible(position), Self.isPlausible(key.rawValue), Self.isPlausible(covered),
                ids.insert(id).inserted
            else {
                try reading.reject("the table session contradicts itself, key \(key.rawValue)")
                continue
            }
            indices[key] = sessions.count
            lastKey = max(lastKey, key.rawValue)
            lastPosition = max(lastPosition, position)
            sessions.append(
                Session(
                    key: key, id: id,
                    snapshot: snapshot.map { KeptCommands.Snapshot(position: covered, bytes: $0) }, covered: covered,
                    coveredPosition: position))
        }
    }

    private mutating func readCommands(_ database: Database, _ reading: Reading) throws(DatabaseError) {
        let row = try Statement(
            "SELECT position, session, number, run, counter, time, checksum, bytes FROM command ORDER BY position",
            in: database)
        var previous: Int64?
        while try row.step() {
            let position = row.integer(0)
            let key = SessionKey(row.integer(1))
            let logPosition = Self.position(row, firstColumn: 2)
            let time = MonotonicInstant(nanoseconds: row.integer(5))
            let bytes = row.bytes(7)
            let checksum = bytes.withUnsafeBytes {
                CommandSchema.checksum(position: position, key: key, at: logPosition, time: time, bytes: $0)
            }
            guard checksum == row.integer(6) else {
                try reading.reject("a row of the table command was changed, position \(position)")
                continue
            }
            guard Self.isPlausible(position), Self.isPlausible(key.rawValue), Self.isPlausible(logPosition),
                Self.isPlausible(time.nanoseconds)
            else {
                try reading.reject("a row of the table command has a number that no server counts to")
                continue
            }
            // Damaged pages may lead back to themselves.
            if case .salvaging = reading, position <= previous ?? 0 { return }
            if previous.map({ $0 + 1 != position }) ?? (position <= 0) {
                try reading.reject("commands are missing before position \(position)")
            }
            previous = position
            lastKey = max(lastKey, key.rawValue)
            lastTime = max(lastTime, time)
            let index = indices[key]
            let isNeeded = index.map { position > sessions[$0].coveredPosition } ?? false
            rows.append((key, bytes.count, isNeeded))
            guard let index, isNeeded else { continue }
            let last = sessions[index].entries.last?.position ?? sessions[index].covered
            guard logPosition.number == last.number + 1 else {
                try reading.reject("commands are missing in a session, before position \(position)")
                continue
            }
            sessions[index].entries.append(
                CommandEntry(session: sessions[index].id, position: logPosition, time: time, bytes: bytes))
        }
        if let previous {
            // The rows end where the log ends, unless all of them were deleted.
            if previous < lastPosition { try reading.reject("the commands after position \(previous) are missing") }
            lastPosition = previous
        }
    }

    /// A checksum protects against accidents only. The numbers that follow must not overflow.
    static func isPlausible(_ number: Int64) -> Bool { (0...Int64.max / 2).contains(number) }

    private static func isPlausible(_ position: LogPosition) -> Bool {
        isPlausible(Int64(clamping: position.number)) && isPlausible(Int64(clamping: position.id.counter))
    }

    private static func position(_ row: Statement, firstColumn: Int32) -> LogPosition {
        LogPosition(
            number: UInt64(bitPattern: row.integer(firstColumn)),
            id: CommandID(
                run: RunID(UInt64(bitPattern: row.integer(firstColumn + 1))),
                counter: UInt64(bitPattern: row.integer(firstColumn + 2))))
    }
}
