import Logging
import SignalingCore
import SignalingProtocol

/// What the writer uses while its database is open.
struct OpenArchive {
    let store: ArchiveStore
    let tail: TailMark
    /// Whether no process has used it before, as far as that is known.
    let isNew: Bool
    let checkpoints: Checkpoints
}

/// Where an archive is, and how it is opened.
struct ArchivePlace: Sendable {
    let files: DatabaseFiles
    let durability: Durability
    /// The date at opening: no sweep was later if none is known.
    let wallTime: WallTime?
    let projectOf: @Sendable (SessionID) -> APIKey?
    let logger: Logger
    let tuning: ArchiveTuning

    /// Opens the database, or creates it. One that cannot be used is set aside.
    func open(bounds: HistoryBounds) throws(CommandLogFault) -> (OpenArchive, ArchiveReader) {
        let before = TailMark.read(files)
        let (database, totals) = try Database.openOrSetAside(
            files, ArchiveSchema.schema, logger, consequence: Self.consequence
        ) { (database) throws(DatabaseError) in
            // Reads one row: a check of a whole file of some GB would delay the start by minutes.
            try ArchiveTotals.read(from: database)
        }
        // A database that was set aside has taken its mark along.
        let tail = try TailMark(files)
        let mark = tail.read()
        if mark.confirmed > totals.lastKey {
            logger.error(
                "the history lacks the newest messages that the last run has kept: a file of it was damaged or removed",
                metadata: ["path": "\(files.path)", "messages": .stringConvertible(totals.messageCount)])
        }
        tail.begin(
            TailMark.Content(
                confirmed: totals.lastKey, database: FileIdentity(path: files.path),
                sweptAt: before.sweptAt > 0 ? before.sweptAt : wallTime?.milliseconds ?? 0,
                lostOrderCount: before.lostOrderCount))
        let isNew = before == TailMark.Content() && totals.lastKey == 0
        do throws(DatabaseError) {
            // Erased content must not stay in free pages (HIS-9).
            try database.execute("PRAGMA secure_delete = ON")
            try database.execute("PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")")
            database.lockTimeoutMilliseconds = 1_000
            // A process that was killed may have left it in the write-ahead log.
            try? database.checkpoint(.truncate)
            let second = try Database(path: files.path, access: .readWrite)
            let third = try Database(path: files.path, access: .readOnly)
            second.setKeepsLogOnClose(true)
            third.setKeepsLogOnClose(true)
            third.lockTimeoutMilliseconds = 1_000
            let store = try ArchiveStore(
                database, bounds: bounds, tail: tail, projectOf: projectOf, clock: tuning.clock)
            let reader = try ArchiveReader(third)
            database.injectedFault = tuning.injectedFault
            // 4 MiB and 64 MiB, as in the command log.
            let checkpoints = Checkpoints(second, interval: 1_024, limit: 16_384)
            return (OpenArchive(store: store, tail: tail, isNew: isNew, checkpoints: checkpoints), reader)
        } catch {
            throw files.openingFault(error)
        }
    }

    /// Renames the database, which is not open any more.
    func setAside(_ fault: CommandLogFault) throws(CommandLogFault) {
        try files.setAside(for: fault, logger, consequence: Self.consequence)
    }

    private static let consequence = "the messages of the history cannot be read any more"
}

/// The parts of an archive's surroundings that tests replace.
struct ArchiveTuning: Sendable {
    var injectedFault: (@Sendable (String) -> Int32?)?
    /// The date, for the positions of feeds.
    var clock: @Sendable () -> WallTime = { .ofSystem }
}

extension DatabaseFiles {
    /// Renames a database that cannot be used, and says so.
    func setAside(for fault: CommandLogFault, _ logger: Logger, consequence: String) throws(CommandLogFault) {
        let aside = try setAside(as: fault.code == .laterVersion ? "later" : "damaged")
        logger.error("\(consequence): cannot use \(path): \(fault); it is set aside as \(aside)")
    }

    /// As ``fault(_:)``, for the history.
    func archiveFault(_ error: DatabaseError) -> CommandLogFault {
        switch error.kind {
        case .full:
            CommandLogFault(
                .full, "the disk of \(path) is full, and the history waits in memory. Free some space.")
        case .busy:
            CommandLogFault(
                .locked, "another program has locked \(path), and the history waits in memory. End that program.")
        case .damaged, .inputOutput:
            CommandLogFault(
                .inputOutput, "cannot use \(path): \(error). Check the disk, and start the server again.")
        }
    }
}
