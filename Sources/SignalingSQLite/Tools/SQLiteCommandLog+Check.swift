import SignalingCore
import SignalingProtocol

extension SQLiteCommandLog {
    /// A session in a database, as `list` shows it.
    public struct ListedSession: Sendable, Equatable {
        public let id: SessionID
        /// The commands that the next process would execute.
        public let commandCount: Int
        public let commandByteCount: Int
        /// `nil` before the first snapshot.
        public let snapshotByteCount: Int?
        /// The number of the session's last command.
        public let lastNumber: UInt64
    }

    /// The sessions in the database of a state folder, in the order in which they began. Changes nothing, and works
    /// while a server runs.
    public static func list(folder: String) throws(CommandLogFault) -> [ListedSession] {
        try read(folder).sessions.map { session in
            ListedSession(
                id: session.id, commandCount: session.entries.count,
                commandByteCount: session.entries.reduce(0) { $0 + $1.bytes.count },
                snapshotByteCount: session.snapshot?.bytes.count,
                lastNumber: session.entries.last?.position.number ?? session.covered.number)
        }
    }

    /// What ``check(folder:decode:)`` has found.
    public struct CheckReport: Sendable, Equatable {
        public var sessionCount = 0
        public var commandCount = 0
        public var byteCount = 0
        /// One line for each fault; empty if the database is intact.
        public var faults: [String] = []
    }

    /// Checks the database of a state folder: SQLite's own check of the file, the checksum of each row, positions and
    /// numbers without gaps, and that each session can be decoded. Changes nothing, and works while a server runs.
    ///
    /// - Parameter decode: throws if a session's snapshot or commands cannot be decoded.
    /// - Throws: when there is no database that can be opened.
    public static func check(
        folder: String, decode: (KeptCommands.Session) throws -> Void
    ) throws(CommandLogFault) -> CheckReport {
        var report = CheckReport()
        let files = try existing(folder)
        do throws(DatabaseError) {
            let database = try Database.openForReading(files)
            report.faults = try database.damage(in: .structureAndContent)
            let content = try LogContent(database)
            report.sessionCount = content.sessions.count
            for session in content.kept(openedAt: content.lastTime).sessions {
                report.commandCount += session.entries.count
                report.byteCount += session.entries.reduce(session.snapshot?.bytes.count ?? 0) { $0 + $1.bytes.count }
                do {
                    try decode(session)
                } catch {
                    report.faults.append("the session \(session.id) cannot be decoded: \(error)")
                }
            }
        } catch {
            guard error.kind == .damaged else { throw files.openingFault(error) }
            report.faults.append("\(error)")
        }
        return report
    }

    static func existing(_ folder: String) throws(CommandLogFault) -> DatabaseFiles {
        let files = try DatabaseFiles(folder: folder)
        guard files.exists else {
            throw CommandLogFault(.unusable, "there is no database in \(folder). Name the server's state folder.")
        }
        return files
    }

    private static func read(_ folder: String) throws(CommandLogFault) -> LogContent {
        let files = try existing(folder)
        do throws(DatabaseError) {
            return try LogContent(try Database.openForReading(files))
        } catch {
            throw CommandLogFault(
                error.kind == .damaged ? .damaged : .unusable, "cannot read \(files.path): \(error)")
        }
    }
}
