import FoundationEssentials
import Glibc
import SignalingCore

extension SQLiteCommandLog {
    /// Copies the databases of a state folder, each in one step, while a server may be running on it (LOG-24). Another
    /// process can do it. The server goes on; its write-ahead logs grow until the copies are complete.
    ///
    /// The copy of the sessions is marked: a server that opens it begins new epochs, since the original may have gone on.
    /// The copy of the history has every message of the sessions, also those that wait for the archive.
    ///
    /// - Parameter file: gets the sessions; the history gets the same name with `.history` behind it. Neither exists.
    ///   They are complete or absent when this returns or throws, and only their owner may read them.
    /// - Returns: the files that were written.
    /// - Throws: ``CommandLogFault`` `.unusable` when there is no database that can be opened, `.notWritten` for a copy,
    ///   or `.damaged` when ``check(folder:decode:)`` would find a fault in a database itself.
    @discardableResult
    public static func backup(folder: String, to file: String) throws(CommandLogFault) -> [String] {
        let source = try existing(folder)
        let history = try DatabaseFiles(folder: folder, name: DatabaseFiles.archive)
        try history.checkKinds()
        var copies: [(draft: String, file: String)] = []
        defer { for copy in copies { unlink(copy.draft) } }
        func add(_ name: String, _ write: (String) throws(CommandLogFault) -> Void) throws(CommandLogFault) {
            guard access(name, F_OK) != 0 else {
                throw CommandLogFault(.notWritten, "\(name) exists. Name a file that does not exist.")
            }
            // SQLite accepts an empty file, and keeps its permissions.
            guard let draft = DatabaseFiles.createDraft(of: name) else { throw cannotCreate(name) }
            copies.append((draft, name))
            try write(draft)
        }
        var waiting: [WaitingMessages] = []
        let hasHistory = history.exists && !history.isEmpty
        try add(file) { (draft) throws(CommandLogFault) in waiting = try copy(source, to: draft, hasHistory) }
        // Second, so that it has every message that the copied sessions no longer carry.
        if hasHistory || !waiting.isEmpty {
            try add(file + historySuffix) { (draft) throws(CommandLogFault) in
                try SQLiteArchive.copy(hasHistory ? history : nil, adding: waiting, to: draft)
            }
        }
        for (index, copy) in copies.enumerated() where link(copy.draft, copy.file) != 0 {
            let fault = cannotCreate(copy.file)
            for written in copies[..<index] { unlink(written.file) }
            throw fault
        }
        return copies.map(\.file)
    }

    private static func cannotCreate(_ file: String) -> CommandLogFault {
        CommandLogFault(.notWritten, "cannot create \(file): \(String(cString: strerror(errno)))")
    }

    /// What the name of the sessions' file gets for that of the history.
    static let historySuffix = ".history"

    /// - Returns: what waits in the sessions for their archive.
    private static func copy(
        _ source: DatabaseFiles, to draft: String, _ hasHistory: Bool
    ) throws(CommandLogFault) -> [WaitingMessages] {
        // First, as for a check.
        let confirmed = TailMark.read(source).confirmed
        let original = try openForReading(source)
        do throws(DatabaseError) {
            // SQLite copies rows without a look at them, and follows damaged pages without an end.
            if let damage = try original.damage(in: .structureAndContent).first { throw DatabaseError(damaged: damage) }
            try original.copy(to: draft)
            let copy = try Database(path: draft, access: .readWrite)
            let content = try LogContent(copy)
            let missing = confirmed - content.lastPosition
            guard missing <= 0 else { throw DatabaseError(damaged: "the last \(missing) commands are missing") }
            let waiting = content.keptSessions.map { ($0.id, $0.waitingSteps()) }.filter { !$0.1.isEmpty }
            try copy.execute("PRAGMA synchronous = FULL")
            guard var state = try LogState.read(from: copy) else { return waiting }
            state.copy = hasHistory || !waiting.isEmpty ? .withHistory : .ofSessions
            try state.write(try Statement(LogState.write, in: copy))
            return waiting
        } catch {
            throw CommandLogFault(
                error.kind == .damaged ? .damaged : .notWritten,
                "cannot copy \(source.path): \(error). Run signalbox state check on its folder.")
        }
    }
}

extension Database {
    /// Opens a database that a server may be using, without changing it.
    static func openForReading(
        _ files: DatabaseFiles, _ schema: DatabaseSchema = CommandSchema.schema
    ) throws(DatabaseError) -> Database {
        let database = try Database(path: files.path, access: .readOnly)
        database.lockTimeoutMilliseconds = 5_000
        try database.checkApplication(schema)
        if let version = try database.laterVersion(than: schema) {
            throw DatabaseError(damaged: "a later version of Signalbox wrote it (version \(version))")
        }
        try database.checkSchema(schema)
        return database
    }

    /// Writes a compact copy in one read transaction. A copy in steps would begin again at each write of the server.
    func copy(to path: String) throws(DatabaseError) {
        let statement = try Statement("VACUUM INTO ?", in: self)
        try Array(path.utf8).withBytes { (bytes) throws(DatabaseError) in
            statement.bind(borrowingText: bytes, at: 1)
            try statement.run()
        }
    }
}
