import Logging
import SignalingCore
import SignalingProtocol

extension SQLiteCommandLog {
    /// Opens the database of a state folder, or creates it, and reads what the last process has kept.
    ///
    /// A database that is damaged, or that a later version wrote, is renamed, and a new one is created. If the newest
    /// commands may be missing, the sessions are removed, and begin new epochs (LOG-21). Both are logged.
    ///
    /// - Parameters:
    ///   - folder: exists, is private, and is locked by this process. See `PrivateFolder`.
    ///   - overwritesDeleted: whether no deleted content may stay in the file: with a history somebody may erase messages
    ///     (HIS-9). It costs a write for each page that is given up.
    ///   - now: the clock of the loop's instants. Called on other threads, too.
    ///   - wallTime: the date at the call.
    ///   - onLostOrders: is given what can be read of the sessions that are not continued, before the database forgets
    ///     them: the archive must have their messages by then (HIS-3). Also called for a new database, with `false`: there
    ///     may have been another one.
    ///   - post: executes work on the loop, after the calls that run. Called on another thread.
    /// - Throws: ``CommandLogFault`` `.unusable` when the folder or the files cannot be used.
    public static func open(
        folder: String, durability: Durability = .process, overwritesDeleted: Bool = false,
        now: @escaping @Sendable () -> MonotonicInstant,
        wallTime: WallTime, logger: Logger, onLostOrders: ([KeptCommands.Session], Bool) -> Void = { _, _ in },
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) throws(CommandLogFault) -> (log: SQLiteCommandLog, kept: KeptCommands) {
        try open(
            folder: folder, durability: durability, overwritesDeleted: overwritesDeleted, now: now, wallTime: wallTime,
            logger: logger, onLostOrders: onLostOrders, post: post, tuning: LogTuning())
    }

    static func open(
        folder: String, durability: Durability = .process, overwritesDeleted: Bool = false,
        now: @escaping @Sendable () -> MonotonicInstant,
        wallTime: WallTime, logger: Logger, onLostOrders: ([KeptCommands.Session], Bool) -> Void = { _, _ in },
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, tuning: LogTuning
    ) throws(CommandLogFault) -> (log: SQLiteCommandLog, kept: KeptCommands) {
        // Together with the date: reading a large state takes a while, and the log's time would lag by it.
        let opened = now()
        let files = try DatabaseFiles(folder: folder)
        var discarded: [KeptCommands.Session] = []
        let (database, found) = try Database.openOrSetAside(
            files, CommandSchema.schema, logger,
            consequence: "the sessions of the last run are not continued, and their clients are told",
            salvage: { discarded = (try? LogContent($0, .salvaging))?.keptSessions ?? [] }
        ) { (database) throws(DatabaseError) in
            let content = try LogContent(database)
            // Finds damage that the last run may have stopped for, and that reading the rows does not.
            if content.state?.isClean == false, let damage = try database.damage(in: .structure).first {
                throw DatabaseError(damaged: damage)
            }
            return content
        }
        // A database that was set aside has taken its mark along.
        let tail = try TailMark(files)
        database.injectedFault = tuning.injectedFault
        let boot = tuning.bootID
        var content = found
        let mark = tail.read()
        let identity = FileIdentity(path: files.path)
        var beginsAnew = false
        if let reason = content.reasonToBeginAnew(boot: boot, mark: mark, database: identity) {
            if !content.sessions.isEmpty || content.sleeperCount > 0 || content.lastPosition < mark.confirmed {
                logger.warning(
                    "the sessions of the last run begin anew, and their clients are told: \(reason)",
                    metadata: ["path": "\(files.path)", "sessions": .stringConvertible(content.sessions.count)])
            }
            discarded = content.keptSessions
            content.removeSessions()
            beginsAnew = true
        }
        if beginsAnew || content.state == nil { onLostOrders(discarded, beginsAnew || !discarded.isEmpty) }
        let clock = FolderClock(opened: opened, wallTime: wallTime, lastKept: content.lastTime)
        let state = LogState(
            position: content.lastPosition, aliveAt: clock.time(at: now()), boot: boot, durability: durability,
            isClean: false, copy: nil)
        do throws(DatabaseError) {
            try database.begin(content, state, durability, overwritesDeleted: overwritesDeleted)
            tail.begin(with: identity, confirmed: content.lastPosition)
            let store = try CommandStore(
                database, content: content, state: state, retainedByteCount: tuning.retainedByteCount)
            let second = try Database(path: files.path, access: .readWrite)
            second.injectedFault = tuning.injectedFault
            let receiver = ReportReceiver()
            let reports = LogReports { post { receiver.deliver() } }
            let transactions = LogTransactions(
                store: store, files: files, tail: tail,
                checkpoints: Checkpoints(second, interval: tuning.checkpointPages, limit: tuning.logLimitPages),
                clock: clock, now: now, reports: reports, logger: logger)
            let log = SQLiteCommandLog(
                writer: try DatabaseThread(transactions, name: "command-log", ticks: tuning.ticks), reports: reports,
                clock: clock,
                tails: content.tails, lastKey: content.lastKey, sleeperCount: content.sleeperCount,
                sleeperReader: SleeperReader(path: files.path, injectedFault: tuning.injectedFault), logger: logger)
            receiver.log = log
            // The last process may have been killed between the snapshot and the overwriting.
            if overwritesDeleted, content.state?.isClean == false { log.writer.add([.scrub(ScrubPass())]) }
            var kept = content.kept(openedAt: clock.time(at: now()))
            kept.discarded = discarded
            return (log, kept)
        } catch {
            throw files.openingFault(error)
        }
    }
}

/// Sizes of a log, and the parts of its surroundings that tests replace.
struct LogTuning {
    /// Commands of this size are kept without asking for a snapshot.
    var retainedByteCount = 16 << 20
    /// Pages of 4 KiB in the write-ahead log between two checkpoints: 4 MiB.
    var checkpointPages = 1_024
    /// Pages of 4 KiB in the write-ahead log at which the writer waits for a checkpoint: 64 MiB.
    var logLimitPages = 16_384
    var bootID = BootID.current()
    var ticks = true
    var injectedFault: (@Sendable (String) -> Int32?)?
}

/// Delivers reports to a log on the loop, if it still exists.
///
/// Unchecked: set before the first command, and used on the loop afterwards.
private final class ReportReceiver: @unchecked Sendable {
    weak var log: SQLiteCommandLog?

    func deliver() { log?.deliverReports() }
}
