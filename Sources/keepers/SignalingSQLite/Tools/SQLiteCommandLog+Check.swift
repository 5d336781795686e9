import SignalingCore
import SignalingProtocol

extension SQLiteCommandLog {
    /// What ``check(folder:decode:)`` has found.
    public struct CheckReport: Sendable, Equatable {
        public var sessionCount = 0
        public var commandCount = 0
        public var byteCount = 0
        /// The sessions that sleep (HIS-3).
        public var sleeperCount = 0
        /// `nil` without a message in the history.
        public var history: SQLiteArchive.Summary?
        /// One line for each fault; empty if the database is intact.
        public var faults: [String] = []
        /// Why the next server begins new sessions, as the end of a sentence; `nil` if it continues them.
        public var obstacle: String?
        /// The databases that have no write-ahead log, by their names: copies that SQLite has made. The next server gives
        /// them one.
        public var copies: [String] = []
    }

    /// Checks the databases of a state folder: SQLite's own check of the files, the checksum of each row, positions and
    /// numbers without gaps, and that each session can be decoded, also a sleeping one. Changes nothing, and works while a server runs.
    ///
    /// - Parameter decode: throws if a session's snapshot or commands cannot be decoded.
    /// - Throws: when there is no database that can be opened.
    public static func check(
        folder: String, decode: (KeptCommands.Session) throws -> Void
    ) throws(CommandLogFault) -> CheckReport {
        try check(
            existing(folder), history: DatabaseFiles(folder: folder, name: DatabaseFiles.archive), decode: decode)
    }

    static func check(
        _ files: DatabaseFiles, history: DatabaseFiles, decode: (KeptCommands.Session) throws -> Void
    ) throws(CommandLogFault) -> CheckReport {
        var report = CheckReport()
        // First, since a server may be running: the database is never behind an earlier mark.
        let mark = TailMark.read(files)
        do throws(DatabaseError) {
            let database = try Database.openForReading(files)
            report.faults = try database.damage(in: .structureAndContent)
            if try !database.usesWriteAheadLog() { report.copies.append(files.name) }
            let content = try LogContent(database)
            report.sleeperCount = content.sleeperCount
            if content.sleeperCount > 0 {
                try SleeperTable.read(database) { session in
                    guard let session else { return report.faults.append("a row of the table sleeper was changed") }
                    do {
                        try decode(session)
                    } catch {
                        report.faults.append("the sleeping session \(session.id) cannot be decoded: \(error)")
                    }
                }
            }
            if try RestrictedTable.hasChangedRow(database) {
                report.faults.append("a row of the table restricted was changed")
            }
            report.obstacle = content.reasonToBeginAnew(
                boot: BootID.current(), mark: mark, database: FileIdentity(path: files.path))
            if content.lastPosition < mark.confirmed, let obstacle = report.obstacle { report.faults.append(obstacle) }
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
        if let archive = try SQLiteArchive.check(history) {
            if archive.summary.sessionCount > 0 { report.history = archive.summary }
            if archive.isCopy { report.copies.append(history.name) }
            report.faults += archive.faults
        }
        return report
    }

    static func existing(_ folder: String) throws(CommandLogFault) -> DatabaseFiles {
        let files = try DatabaseFiles(folder: folder)
        guard files.exists else {
            throw CommandLogFault(.unusable, "there is no database in \(folder). Name the server's state folder.")
        }
        try files.checkKinds()
        return files
    }

    /// Opens a database without changing it.
    static func openForReading(_ files: DatabaseFiles) throws(CommandLogFault) -> Database {
        do throws(DatabaseError) {
            return try Database.openForReading(files)
        } catch {
            throw CommandLogFault(error.kind == .damaged ? .damaged : .unusable, "cannot read \(files.path): \(error)")
        }
    }
}
