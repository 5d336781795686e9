import CSQLite

/// One connection to a database. Used on one thread at a time.
final class Database {
    enum Access {
        case readWrite
        case readOnly
    }

    /// What SQLite checks.
    enum CheckedPart: String {
        case structure = "quick_check"
        case structureAndContent = "integrity_check"
    }

    /// What a checkpoint achieves.
    enum Checkpoint {
        /// Copies as many pages as possible without waiting for anyone.
        case passive
        /// Copies all pages, and lets the next writer begin the log at its start. Fails while another connection reads.
        case restart
        /// As `restart`, and truncates the file of the log.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    /// Called before each step, with the text of the statement. A returned code makes the step fail. For tests.
    var injectedFault: (@Sendable (String) -> Int32?)?

    let connection: OpaquePointer
    /// The write-ahead log after the last commit of this connection.
    fileprivate struct LogLength {
        var pageCount = 0
        /// How often a commit has begun the log at its start.
        var beginCount = 0
    }

    /// Changes with each commit. SQLite keeps the pointer until the connection is closed.
    private let logLength = UnsafeMutablePointer<LogLength>.allocate(capacity: 1)

    /// The largest value that a row may have: more than a session with 100,000 connections and a log of 128 MiB needs.
    /// SQLite itself reads up to 1 GB at once, so a file of somebody else could make a tool reserve several.
    static let valueByteLimit: Int32 = 256 << 20

    /// - Parameter path: the file. `readWrite` creates it if it does not exist. A symbolic link is refused.
    init(path: String, access: Access, valueByteLimit: Int32 = valueByteLimit) throws(DatabaseError) {
        var opened: OpaquePointer?
        let flags =
            switch access {
            case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        // One thread at a time uses a connection, so SQLite's own lock is not needed.
        let code = sqlite3_open_v2(
            path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, nil)
        let hardened = code == SQLITE_OK ? signalbox_sqlite_distrust_file(opened) : code
        guard hardened == SQLITE_OK, let opened else {
            let error = DatabaseError.last(of: opened, code: hardened)
            sqlite3_close_v2(opened)
            throw error
        }
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, valueByteLimit)
        connection = opened
        logLength.initialize(to: LogLength())
        // Replaces SQLite's own hook, which would run checkpoints within commits.
        sqlite3_wal_hook(
            connection,
            { context, _, _, pageCount in
                guard let length = context?.assumingMemoryBound(to: LogLength.self) else { return SQLITE_OK }
                // A commit that does not begin the log makes it longer.
                if pageCount <= length.pointee.pageCount { length.pointee.beginCount += 1 }
                length.pointee.pageCount = Int(pageCount)
                return SQLITE_OK
            }, logLength)
    }

    deinit {
        sqlite3_close_v2(connection)
        logLength.deallocate()
    }

    /// The pages in the write-ahead log after the last commit of this connection.
    var logPageCount: Int { logLength.pointee.pageCount }
    /// How often a commit of this connection has begun the write-ahead log at its start. A commit that adds more pages
    /// than the log had may not count.
    var logBeginCount: Int { logLength.pointee.beginCount }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Whether the file was removed, or another file has its name now.
    var fileHasMoved: Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }

    /// How long a call waits for the lock of another program before it fails with `busy`. A checkpoint does not wait.
    var lockTimeoutMilliseconds: Int32 = 0 {
        didSet { sqlite3_busy_timeout(connection, lockTimeoutMilliseconds) }
    }

    /// Executes statements that fail with `busy` at once.
    func withoutWaiting<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        sqlite3_busy_timeout(connection, 0)
        defer { sqlite3_busy_timeout(connection, lockTimeoutMilliseconds) }
        return try body()
    }

    /// Whether closing the last connection leaves the write-ahead log as it is.
    func setKeepsLogOnClose(_ keeps: Bool) { _ = signalbox_sqlite_keep_log_on_close(connection, keeps ? 1 : 0) }

    /// Executes one or several statements, and ignores their rows.
    func execute(_ sql: String) throws(DatabaseError) {
        try checkInjectedFault(sql)
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError.last(of: connection, code: code) }
    }

    /// The integer in the only row of a statement; 0 without a row.
    func integer(_ sql: String) throws(DatabaseError) -> Int64 {
        let statement = try Statement(sql, in: self)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// SQLite's own check of the file: at most 20 lines, and none if it is intact. Reads the whole file.
    func damage(in part: CheckedPart) throws(DatabaseError) -> [String] {
        let statement = try Statement("PRAGMA \(part.rawValue)(20)", in: self)
        var lines: [String] = []
        while try statement.step() {
            let line = statement.text(0)
            if line != "ok" { lines.append(line) }
        }
        return lines
    }

    func checkpoint(_ kind: Checkpoint) throws(DatabaseError) {
        try checkInjectedFault("checkpoint")
        // A backup reads for as long as it takes. The writer must not wait for it.
        sqlite3_busy_timeout(connection, 0)
        defer { sqlite3_busy_timeout(connection, lockTimeoutMilliseconds) }
        if try copyLog(kind) >= 0 { return }
        // A connection that has never read does not know that there is a log, and has copied nothing.
        _ = try integer("SELECT count(*) FROM sqlite_schema")
        _ = try copyLog(kind)
    }

    /// - Returns: the pages of the log; negative if the connection knows of none.
    private func copyLog(_ kind: Checkpoint) throws(DatabaseError) -> Int32 {
        var pageCount: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(connection, nil, kind.mode, &pageCount, nil)
        guard code == SQLITE_OK else { throw DatabaseError.last(of: connection, code: code) }
        return pageCount
    }

    /// Ends an open transaction without its changes. Some errors end it by themselves.
    func rollBack() {
        if isInTransaction { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
    }

    fileprivate func checkInjectedFault(_ sql: String) throws(DatabaseError) {
        guard let code = injectedFault?(sql) else { return }
        throw DatabaseError(code: code, text: String(cString: sqlite3_errstr(code)))
    }
}

/// A prepared statement. Its parameters count from 1, its columns from 0, as in SQLite.
final class Statement {
    private let database: Database
    private let statement: OpaquePointer
    private let sql: String
    /// Why SQLite has refused a value. The parameter is still NULL then, which must not be written.
    private var bindFault: DatabaseError?

    init(_ sql: String, in database: Database) throws(DatabaseError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            database.connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw DatabaseError.last(of: database.connection, code: code) }
        self.database = database
        self.sql = sql
        statement = prepared
    }

    deinit { sqlite3_finalize(statement) }

    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(statement, index, value) }

    func bindNull(at index: Int32) { sqlite3_bind_null(statement, index) }

    /// Binds bytes without a copy. They must stay valid until the statement is run.
    func bind(borrowing bytes: UnsafeRawBufferPointer, at index: Int32) {
        if bytes.isEmpty {
            sqlite3_bind_zeroblob(statement, index, 0)
        } else if sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil) != SQLITE_OK {
            bindFault = DatabaseError(
                code: SQLITE_IOERR, text: "a value of \(bytes.count) bytes is larger than the database accepts")
        }
    }

    /// Binds a copy of the bytes.
    func bind(_ bytes: [UInt8], at index: Int32) {
        // SQLite's name for "copy it" is the pointer -1.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        bytes.withUnsafeBytes { raw in
            if raw.isEmpty {
                sqlite3_bind_zeroblob(statement, index, 0)
            } else if sqlite3_bind_blob64(statement, index, raw.baseAddress, UInt64(raw.count), copies) != SQLITE_OK {
                bindFault = DatabaseError(
                    code: SQLITE_IOERR, text: "a value of \(raw.count) bytes is larger than the database accepts")
            }
        }
    }

    /// Binds UTF-8 without a copy. It must stay valid until the statement is run.
    func bind(borrowingText bytes: UnsafeRawBufferPointer, at index: Int32) {
        sqlite3_bind_text64(
            statement, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil,
            UInt8(SQLITE_UTF8))
    }

    /// Advances to the next row. Returns `false` after the last one.
    func step() throws(DatabaseError) -> Bool {
        try database.checkInjectedFault(sql)
        if let fault = bindFault {
            bindFault = nil
            throw fault
        }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = DatabaseError.last(of: database.connection, code: code)
            sqlite3_reset(statement)
            throw error
        }
    }

    /// Executes a statement without rows, and makes it ready for the next use.
    func run() throws(DatabaseError) {
        _ = try step()
        sqlite3_reset(statement)
    }

    /// Ends the reading of rows, and makes the statement ready for the next use.
    func reset() { sqlite3_reset(statement) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func bytes(_ column: Int32) -> [UInt8] {
        // The pointer is valid until the next step, and null for a blob of no bytes.
        guard let pointer = sqlite3_column_blob(statement, column) else { return [] }
        return [UInt8](
            UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, column))))
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

extension [UInt8] {
    /// As `withUnsafeBytes`, which has no typed errors.
    func withBytes<Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        try withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
