import CSQLite
import SignalingCore

/// The tables of a database, and the marks by which its file is recognized.
struct DatabaseSchema: Sendable {
    /// Marks a file as this kind of database of Signalbox.
    let applicationID: Int64
    /// Of the tables. A greater one in a file is of a later version of this program.
    let version: Int64
    /// The tables by their names, as SQLite keeps their definitions.
    let tables: [String: String]
    /// What makes a database of an earlier version one of the next version.
    var migrations: [Int64: [String]] = [:]

    fileprivate var creation: String {
        """
        BEGIN IMMEDIATE;
        \(tables.values.sorted().joined(separator: ";\n"));
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        COMMIT;
        """
    }

    fileprivate func migration(from version: Int64) -> String? {
        migrations[version].map { steps in
            """
            BEGIN IMMEDIATE;
            \(steps.joined(separator: ";\n"));
            PRAGMA user_version = \(version + 1);
            COMMIT;
            """
        }
    }

    /// The words of a definition, without its comments and its layout, which may differ between versions of this program.
    ///
    /// By bytes, since SQLite ends a comment at a line feed and nowhere else. A quotation mark, or a comment of the other
    /// form, is a part of a word, and so makes a difference.
    static func words(of definition: [UInt8]) -> [ArraySlice<UInt8>] {
        let dash = UInt8(ascii: "-")
        return definition.split(separator: UInt8(ascii: "\n")).flatMap { line in
            let comment = line.indices.dropLast().first { line[$0] == dash && line[$0 + 1] == dash }
            return line[..<(comment ?? line.endIndex)].split { $0 == UInt8(ascii: " ") }
        }
    }
}

extension Database {
    /// Opens a database. A new file gets its tables, and one of an earlier version those that it lacks.
    ///
    /// - Throws: `damaged` when the file is another program's.
    static func open(_ files: DatabaseFiles, _ schema: DatabaseSchema) throws(DatabaseError) -> Database {
        // SQLite deletes the write-ahead log of an empty database.
        guard !files.isEmpty || !files.hasLog else { throw DatabaseError(damaged: "the file is empty") }
        let database = try Database(path: files.path, access: .readWrite)
        // Closing must not change files that are set aside.
        database.setKeepsLogOnClose(true)
        // A tool that reads the database may be recovering the write-ahead log.
        database.lockTimeoutMilliseconds = 5_000
        try database.execute("PRAGMA cell_size_check = ON")
        if try database.integer("SELECT count(*) FROM sqlite_schema") == 0, try database.applicationID() == 0 {
            try database.useWriteAheadLog()
            try database.create(schema)
        }
        try database.checkApplication(schema)
        return database
    }

    /// Creates the tables in an empty file.
    func create(_ schema: DatabaseSchema) throws(DatabaseError) {
        // The layout of an archive relies on it.
        try execute("PRAGMA page_size = 4096")
        try execute(schema.creation)
    }

    /// Lets the database have a write-ahead log. A new file has none, and neither has a copy that SQLite has made, such
    /// as a backup.
    func useWriteAheadLog() throws(DatabaseError) {
        try execute("PRAGMA journal_mode = WAL")
        guard try usesWriteAheadLog() else {
            throw DatabaseError(code: SQLITE_IOERR, text: "the file system allows no write-ahead log")
        }
    }

    func usesWriteAheadLog() throws(DatabaseError) -> Bool {
        let mode = try Statement("PRAGMA journal_mode", in: self)
        return try mode.step() && mode.text(0) == "wal"
    }

    /// Gives a database of an earlier version the present tables. Call it after ``checkSchema(_:)``.
    func migrate(to schema: DatabaseSchema) throws(DatabaseError) {
        while let migration = schema.migration(from: try integer("PRAGMA user_version")) {
            do throws(DatabaseError) { try execute(migration) } catch {
                rollBack()
                throw error
            }
        }
    }

    func checkApplication(_ schema: DatabaseSchema) throws(DatabaseError) {
        guard try applicationID() == schema.applicationID else {
            throw DatabaseError(damaged: "the file is not a database of Signalbox")
        }
    }

    /// The version of the tables, if this code cannot read them.
    func laterVersion(than schema: DatabaseSchema) throws(DatabaseError) -> Int64? {
        let version = try integer("PRAGMA user_version")
        return version > schema.version ? version : nil
    }

    /// Checks that the file has our tables and nothing else. A view in place of a table could be read without an end, and
    /// a trigger could undo what the server writes and acknowledges. A database of an earlier version may lack tables.
    ///
    /// - Throws: `damaged`, with the name of the first table, index, view or trigger that is not ours or not as it was.
    func checkSchema(_ schema: DatabaseSchema) throws(DatabaseError) {
        let isComplete = try integer("PRAGMA user_version") == schema.version
        let row = try Statement("SELECT type, name, sql FROM sqlite_schema", in: self)
        var expected = schema.tables
        while try row.step() {
            let (kind, name) = (Self.printable(row.text(0)), Self.printable(row.text(1)))
            guard let definition = expected.removeValue(forKey: row.text(1)), kind == "table" else {
                throw DatabaseError(damaged: "it has the \(kind) \"\(name)\", which Signalbox did not create")
            }
            guard DatabaseSchema.words(of: row.bytes(2)) == DatabaseSchema.words(of: Array(definition.utf8)) else {
                throw DatabaseError(damaged: "the table \(name) is not as Signalbox creates it")
            }
        }
        if isComplete, let name = expected.keys.min() { throw DatabaseError(damaged: "the table \(name) is missing") }
    }

    /// A name in the file may be any text.
    private static func printable(_ name: String) -> String {
        String(name.prefix(100).map { $0.isASCII && $0 >= " " && $0 != "\u{7F}" ? $0 : "?" })
    }

    private func applicationID() throws(DatabaseError) -> Int64 { try integer("PRAGMA application_id") }
}
