import SignalingCore

extension SQLiteCommandLog {
    /// Everything that a state folder keeps of its sessions.
    public struct FolderContents: Sendable {
        /// A file of the database.
        public struct File: Sendable, Equatable {
            public let name: String
            public let byteCount: Int
        }

        /// In the order in which they began. The snapshots and commands contain what users have sent.
        public let sessions: [KeptCommands.Session]
        /// The sessions that sleep (HIS-3).
        public let sleeperCount: Int
        /// `nil` without a message in the history.
        public let history: SQLiteArchive.Summary?
        /// The databases, their write-ahead logs and marks; only the files that exist.
        public let files: [File]
        /// Why the next server begins new sessions, as the end of a sentence; `nil` if it continues these.
        public let obstacle: String?
    }

    /// Reads the database of a state folder as the next process would. Changes nothing, and works while a server runs.
    ///
    /// - Throws: ``CommandLogFault`` `.unusable` when there is no database that can be opened, or `.damaged`.
    public static func contents(folder: String) throws(CommandLogFault) -> FolderContents {
        let files = try existing(folder)
        let mark = TailMark.read(files)
        let archive = try DatabaseFiles(folder: folder, name: DatabaseFiles.archive)
        let history = try SQLiteArchive.summary(archive)
        let database = try openForReading(files)
        do throws(DatabaseError) {
            let content = try LogContent(database)
            return FolderContents(
                sessions: content.keptSessions, sleeperCount: content.sleeperCount, history: history,
                files: (files.sizes + archive.sizes).map { .init(name: $0.name, byteCount: $0.byteCount) },
                obstacle: content.reasonToBeginAnew(
                    boot: BootID.current(), mark: mark, database: FileIdentity(path: files.path)))
        } catch {
            throw CommandLogFault(error.kind == .damaged ? .damaged : .unusable, "cannot read \(files.path): \(error)")
        }
    }
}
