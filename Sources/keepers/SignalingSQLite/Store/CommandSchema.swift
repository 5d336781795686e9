import SignalingCore
import SignalingProtocol

/// The tables of the database (LOG-20), and the checksums of their rows.
///
/// `command` is in one global order and has no further index: so an append writes the last page only, and old commands
/// are deleted as a prefix. `session` names each session by a number, which keeps the rows of `command` short, and has
/// its newest snapshot. `sleeper` has the sessions that wait for their next join, and is not read at the start;
/// `restricted` says which of them are kept because of a restriction (MOD-9). The commands of a session without a row in
/// `session` belong to an ended session.
enum CommandSchema {
    /// The tables by their names, as SQLite keeps their definitions.
    static let tables = [
        "command": """
        CREATE TABLE command (
            position INTEGER PRIMARY KEY,   -- in the order of all sessions
            session INTEGER NOT NULL,
            number INTEGER NOT NULL,        -- in the order of its session
            time INTEGER NOT NULL,          -- nanoseconds since 1970, see LOG-4
            run INTEGER NOT NULL,
            counter INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT
        """,
        "session": """
        CREATE TABLE session (
            key INTEGER PRIMARY KEY,
            id BLOB NOT NULL,               -- UTF-8
            position INTEGER NOT NULL,      -- commands up to it are covered by the snapshot
            number INTEGER NOT NULL,        -- number, run and counter of the last covered command; 0 without one
            run INTEGER NOT NULL,
            counter INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            snapshot BLOB                   -- NULL before the first one
        ) STRICT
        """,
        "sleeper": """
        CREATE TABLE sleeper (
            id BLOB PRIMARY KEY,            -- of a session that nobody is in, and that is kept (HIS-3, MOD-9)
            number INTEGER NOT NULL,        -- number, run and counter of its last command
            run INTEGER NOT NULL,
            counter INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            snapshot BLOB NOT NULL          -- of its last state
        ) STRICT, WITHOUT ROWID
        """,
        "restricted": """
        CREATE TABLE restricted (
            id BLOB PRIMARY KEY,            -- of a sleeper
            until INTEGER NOT NULL,         -- when its restrictions have ended; the greatest number for those without an end
            history INTEGER NOT NULL,       -- 1 if it may have a history, too
            checksum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        "state": """
        CREATE TABLE state (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            position INTEGER NOT NULL,      -- no later command has this position or a lower one
            alive INTEGER NOT NULL,         -- the last sign of life, as time of the log
            boot BLOB NOT NULL,             -- the run of the operating system
            durability INTEGER NOT NULL,    -- 0 process, 1 power
            clean INTEGER NOT NULL,         -- 1 after a synchronized stop
            copy INTEGER NOT NULL,          -- 1 in a backup, 2 in one with a history beside it
            checksum INTEGER NOT NULL
        ) STRICT
        """,
    ]

    static let schema = DatabaseSchema(
        applicationID: 0x5367_4278, version: 3, tables: tables,
        migrations: [1: creation(of: "sleeper"), 2: creation(of: "restricted")])

    private static func creation(of table: String) -> [String] { tables[table].map { [$0] } ?? [] }

    static func checksum(
        position: Int64, key: SessionKey, at logPosition: LogPosition, time: MonotonicInstant,
        bytes: UnsafeRawBufferPointer
    ) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(position)
        checksum.add(key.rawValue)
        checksum.add(logPosition)
        checksum.add(time.nanoseconds)
        checksum.add(bytes)
        return checksum.value
    }

    static func checksum(
        key: SessionKey, id: UnsafeRawBufferPointer, position: Int64, at logPosition: LogPosition,
        snapshot: UnsafeRawBufferPointer?
    ) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(key.rawValue)
        checksum.add(id)
        checksum.add(position)
        checksum.add(logPosition)
        checksum.add(snapshot == nil ? 0 : 1)
        if let snapshot { checksum.add(snapshot) }
        return checksum.value
    }
}

extension RowChecksum {
    fileprivate mutating func add(_ position: LogPosition) {
        add(Int64(bitPattern: position.number))
        add(Int64(bitPattern: position.id.run.rawValue))
        add(Int64(bitPattern: position.id.counter))
    }
}

extension LogPosition {
    /// The position before a session's first command.
    static let none = LogPosition(number: 0, id: CommandID(run: RunID(0), counter: 0))
}

extension Database {
    /// Begins a run: keeps what is to be continued, and marks the database as not stopped. This is on the disk when it
    /// returns. Otherwise, after a loss of power, the stop of the last run could seem to be the newest state.
    func begin(
        _ content: LogContent, _ state: LogState, _ durability: Durability, overwritesDeleted: Bool
    ) throws(DatabaseError) {
        try execute("PRAGMA synchronous = FULL")
        do throws(DatabaseError) {
            try execute("BEGIN IMMEDIATE")
            if content.sessions.isEmpty {
                try execute("DELETE FROM command")
                try execute("DELETE FROM session")
            }
            if content.sleeperCount == 0 {
                try execute("DELETE FROM sleeper")
                try execute("DELETE FROM restricted")
            }
            for key in content.emptySessions { try execute("DELETE FROM session WHERE key = \(key.rawValue)") }
            try state.write(try Statement(LogState.write, in: self))
            try execute("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        // Without a history there is nothing to erase. The overwriting of deleted content, which some distributions switch
        // on, costs a write for each page; the folder is private, and later commands overwrite it anyway.
        try execute("PRAGMA secure_delete = \(overwritesDeleted ? "ON" : "FAST")")
        // A process that was killed may have left erased content there.
        if overwritesDeleted { try? checkpoint(.truncate) }
        if durability == .process { try execute("PRAGMA synchronous = NORMAL") }
        // The writer repeats the transaction, and meanwhile reports that it is locked.
        lockTimeoutMilliseconds = 1_000
    }
}

/// The only row of the table `state`: what the next process has to know about this one.
struct LogState {
    var position: Int64
    var aliveAt: MonotonicInstant
    /// Names the run of the operating system. Empty if the system has no such name.
    var boot: String
    var durability: Durability
    var isClean: Bool
    /// Which copy of a database this is; `nil` for the original.
    var copy: Copy?

    enum Copy: Int64 {
        case ofSessions = 1
        /// The messages of the sessions are in another file.
        case withHistory = 2
    }

    static func read(from database: Database) throws(DatabaseError) -> LogState? {
        let row = try Statement(
            "SELECT position, alive, boot, durability, clean, copy, checksum FROM state", in: database)
        guard try row.step() else { return nil }
        let state = LogState(
            position: row.integer(0), aliveAt: MonotonicInstant(nanoseconds: row.integer(1)), boot: row.text(2),
            durability: row.integer(3) == 0 ? .process : .power, isClean: row.integer(4) != 0,
            copy: Copy(rawValue: row.integer(5)))
        guard LogContent.isPlausible(state.position), LogContent.isPlausible(state.aliveAt.nanoseconds),
            state.checksum == row.integer(6)
        else {
            throw DatabaseError(damaged: "the row of the table state was changed")
        }
        return state
    }

    static let write = "REPLACE INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)"

    func write(_ statement: Statement) throws(DatabaseError) {
        statement.bind(position, at: 1)
        statement.bind(aliveAt.nanoseconds, at: 2)
        statement.bind(durability == .process ? 0 : 1, at: 4)
        statement.bind(isClean ? 1 : 0, at: 5)
        statement.bind(copy?.rawValue ?? 0, at: 6)
        statement.bind(checksum, at: 7)
        try Array(boot.utf8).withBytes { (bytes) throws(DatabaseError) in
            statement.bind(borrowing: bytes, at: 3)
            try statement.run()
        }
    }

    private var checksum: Int64 {
        var checksum = RowChecksum()
        checksum.add(position)
        checksum.add(aliveAt.nanoseconds)
        Array(boot.utf8).withUnsafeBytes { checksum.add($0) }
        for number in [durability == .process ? 0 : 1, isClean ? 1 : 0, copy == nil ? 0 : 1] as [Int64] {
            checksum.add(number)
        }
        return checksum.value
    }
}
