import Logging
import SignalingCore
import SignalingProtocol

/// The command log of one machine: an SQLite database in the server's state folder.
///
/// The loop's thread calls every method. A thread of its own writes commands to the database: it commits everything that
/// waits in one transaction, and then posts the confirmed entries to the loop. While it commits, the next transaction
/// collects. So the loop does not wait for the disk, except in ``close()``, and for a little work on a loop that has time
/// to spare (``commitDirectly(_:)``).
///
/// A session whose commands are all covered by ``remove(_:through:)`` is forgotten. When it begins again, its numbers
/// and the counters of its commands begin at 1.
public final class SQLiteCommandLog: LocalCommandLog {
    @exclusivity(unchecked) public weak var observer: (any CommandLogObserver)?
    /// Called when a command is not accepted, with its session. A defect of the caller; the command is dropped.
    public var onRefusal: ((SessionID, RefusedCommand) -> Void)?
    /// Called when ``health`` changes. After `failed` the process should end.
    public var onHealthChange: ((CommandLogHealth) -> Void)?
    public private(set) var health = CommandLogHealth.keeping
    @exclusivity(unchecked) public private(set) var inFlightByteCount = 0

    let writer: DatabaseThread<LogTransactions>
    private let reports: LogReports
    private let logger: Logger
    @exclusivity(unchecked) private var clock: FolderClock
    @exclusivity(unchecked) private var tails: [SessionID: SessionTail]
    @exclusivity(unchecked) private var lastKey: Int64
    /// About the number of sleeping sessions: those that are on their way to sleep count.
    @exclusivity(unchecked) public private(set) var sleeperCount: Int
    private var direct: (loop: LoopAccess, rules: DirectCommits)?
    /// The callers that wait for a session to be woken.
    private var wakers: [SessionKey: (KeptCommands.Session?) -> Void] = [:]
    private let sleeperReader: SleeperReader
    /// The callers that wait for sleeping sessions to be read.
    private var readers: [UInt64: (Result<SleepingSessions, SleepersUnread>) -> Void] = [:]
    private var readCount: UInt64 = 0

    init(
        writer: DatabaseThread<LogTransactions>, reports: LogReports, clock: FolderClock,
        tails: [SessionID: SessionTail], lastKey: Int64, sleeperCount: Int, sleeperReader: SleeperReader, logger: Logger
    ) {
        self.writer = writer
        self.sleeperReader = sleeperReader
        self.reports = reports
        self.clock = clock
        self.tails = tails
        self.lastKey = lastKey
        self.sleeperCount = sleeperCount
        self.logger = logger
    }

    /// A log that is released without ``close()`` leaves its database as a crash does.
    deinit { writer.abandon() }

    /// Commits what was appended, marks the database as stopped, and closes it. Waits for the disk. Entries that are
    /// confirmed meanwhile are posted as ever.
    ///
    /// - Throws: when a part could not be kept. The next process continues as after a crash.
    public func close() throws(CommandLogFault) {
        sleeperReader.finish()
        try writer.close()
    }

    /// Waits until what was appended is confirmed, or cannot be at present, and delivers the reports of it.
    public func settle() {
        writer.settle()
        deliverReports()
    }

    // MARK: - CommandLog

    public func time(at now: MonotonicInstant) -> MonotonicInstant { clock.time(at: now) }

    public func append(_ commands: [CommandAppend], now: MonotonicInstant) {
        let time = clock.stamp(now)
        var work: [LogWork] = []
        work.reserveCapacity(commands.count)
        for command in commands { place(command, time, &work) }
        if !work.isEmpty, !commitDirectly(work) { writer.add(work) }
    }

    public func keep(_ snapshot: CommandSnapshot) {
        guard let tail = tails[snapshot.session], tail.contains(snapshot.position),
            snapshot.position.number > tail.snapshotNumber || snapshot.replacesErased
        else { return }
        tails[snapshot.session]?.snapshotNumber = max(tail.snapshotNumber, snapshot.position.number)
        writer.add([.keep(tail.key, PendingSnapshot(snapshot))])
    }

    public func remove(_ session: SessionID, through position: LogPosition) {
        guard let tail = tails[session], tail.contains(position) else { return }
        if position.number == tail.number {
            tails[session] = nil
            writer.add([.end(tail.key)])
        } else {
            writer.add([.cover(tail.key, session, through: position)])
        }
    }

    // MARK: - LocalCommandLog

    public func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason) {
        guard let tail = tails[snapshot.session], tail.contains(snapshot.position),
            tail.number == snapshot.position.number
        else { return }
        tails[snapshot.session] = nil
        sleeperCount += 1
        writer.add([.sleep(tail.key, PendingSnapshot(snapshot), reason)])
    }

    public func wake(_ session: SessionID, answer: @escaping (KeptCommands.Session?) -> Void) {
        guard sleeperCount > 0, tails[session] == nil else { return answer(nil) }
        lastKey += 1
        wakers[SessionKey(lastKey)] = answer
        writer.add([.wake(SessionKey(lastKey), session)])
    }

    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        readCount += 1
        let number = readCount
        readers[number] = answer
        sleeperReader.read(in: range, atMost: count) { [reports] in reports.add([.sleepers(number, $0)]) }
    }

    public func forgetSleepers(_ sessions: [SessionID], at time: MonotonicInstant) {
        if sleeperCount > 0 { writer.add([.forget(sessions, at: time)]) }
    }

    private func noteWoken(_ session: SessionID, _ key: SessionKey, _ snapshot: KeptCommands.Snapshot?) {
        if let snapshot {
            sleeperCount -= 1
            var tail = SessionTail(key: key, covered: snapshot.position)
            tail.snapshotNumber = snapshot.position.number
            tails[session] = tail
        }
        wakers.removeValue(forKey: key)?(snapshot.map { KeptCommands.Session(id: session, snapshot: $0, entries: []) })
    }

    private func place(_ command: CommandAppend, _ time: MonotonicInstant, _ work: inout [LogWork]) {
        do throws(RefusedCommand) {
            let key: SessionKey
            let placement: SessionTail.Placement
            if let index = tails.index(forKey: command.session) {
                key = tails.values[index].key
                placement = try tails.values[index].place(command.id)
            } else {
                key = SessionKey(lastKey + 1)
                var tail = SessionTail(key: key)
                placement = try tail.place(command.id)
                tails[command.session] = tail
                lastKey += 1
                work.append(.begin(key, command.session))
            }
            inFlightByteCount += command.bytes.count
            switch placement {
            case .new(let number): work.append(.append(key, entry(command, number, time)))
            case .repeated(let number): work.append(.repeated(key, entry(command, number, time)))
            }
        } catch {
            logger.error(
                "a command was refused by the command log; this is a defect of the server",
                metadata: [
                    "session": "\(command.session)", "counter": .stringConvertible(command.id.counter),
                    "reason": "\(error)",
                ])
            // Not from within the call, as every other outcome.
            reports.add([.refused(command.session, error)])
        }
    }

    private func entry(_ command: CommandAppend, _ number: UInt64, _ time: MonotonicInstant) -> CommandEntry {
        CommandEntry(
            session: command.session, position: LogPosition(number: number, id: command.id), time: time,
            bytes: command.bytes)
    }

    // MARK: - Direct commits

    /// What the log needs of its loop to commit on it. Confined to the loop.
    public struct LoopAccess {
        let hasTime: () -> Bool
        let now: () -> MonotonicInstant
        let deliver: () -> Void

        /// - Parameters:
        ///   - hasTime: whether the loop has time to spare.
        ///   - now: the present moment, read anew at each call.
        ///   - deliver: has the loop call ``deliverReports()`` in this turn, after the calls that run.
        public init(
            hasTime: @escaping () -> Bool, now: @escaping () -> MonotonicInstant, deliver: @escaping () -> Void
        ) {
            self.hasTime = hasTime
            self.now = now
            self.deliver = deliver
        }
    }

    /// Lets the loop commit a few commands itself while it has time to spare and the writer's thread has nothing to do.
    /// This saves two wake-ups. Not for a log that synchronizes the disk at each commit, which takes milliseconds.
    public func commitDirectly(_ loop: LoopAccess) { direct = (loop, DirectCommits()) }

    /// - Returns: false if nothing has changed.
    private func commitDirectly(_ work: [LogWork]) -> Bool {
        guard let loop = direct?.loop, loop.hasTime() else { return false }
        let start = loop.now()
        guard direct?.rules.permits(work, now: start) == true else { return false }
        let isKept = writer.useIdle { $0.commitDirectly(WorkBatch(direct: work)) }
        let end = loop.now()
        direct?.rules.note(end.duration(since: start), endedAt: end)
        if isKept { loop.deliver() }
        return isKept
    }

    // MARK: - Reports

    /// Delivers the writer's reports. Called on the loop.
    public func deliverReports() {
        for report in reports.take() {
            switch report {
            case .confirmed(let entries):
                for entry in entries { inFlightByteCount -= entry.bytes.count }
                observer?.log(confirmed: entries)
            case .kept(let position, let session, let byteCount):
                observer?.log(kept: position, of: session, byteCount: byteCount)
            case .needsSnapshots(let sessions):
                observer?.log(needsSnapshotsOf: sessions)
            case .woken(let session, let key, let snapshot): noteWoken(session, key, snapshot)
            case .sleepers(let number, let result): readers.removeValue(forKey: number)?(result)
            case .scrubs(let pass): writer.add([.scrub(pass)])
            case .forgotten(let count): sleeperCount -= count
            case .refused(let session, let refusal):
                onRefusal?(session, refusal)
            case .health(let health):
                self.health = health
                onHealthChange?(health)
            }
        }
    }
}
