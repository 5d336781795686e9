import SignalingCore
import SignalingProtocol

/// A command log in memory, which confirms and forgets when the test says so. It stands for a disk: a new engine may
/// continue what an earlier one has left.
public final class MemoryCommandLog: LocalCommandLog {
    public weak var observer: (any CommandLogObserver)?
    /// Called after each append. A simulation schedules the confirmation here.
    public var onAppend: () -> Void = {}
    /// How far the log's clock is ahead of the process's.
    private var offset: Duration

    private struct Session {
        var snapshot: KeptCommands.Snapshot?
        var entries: [CommandEntry] = []
        var lastNumber: UInt64 = 0
        /// Of each run.
        var counters: [RunID: UInt64] = [:]
    }

    private var sessions: [SessionID: Session] = [:]
    private var sleepers: [SessionID: Session] = [:]
    private var inFlight: [CommandEntry] = []
    private var lastTime: MonotonicInstant
    public private(set) var appendCount = 0
    public private(set) var snapshotCount = 0
    /// The snapshots after which nothing live has content that was erased (HIS-9).
    public private(set) var erasingSnapshotCount = 0

    public init(offset: Duration = .seconds(1_000_000)) {
        self.offset = offset
        lastTime = MonotonicInstant(nanoseconds: .min)
    }

    /// A process opens the log: its clock continues from the wall clock, or from the last time in the log (LOG-4).
    public func open(at now: MonotonicInstant, wallTime: WallTime) {
        let wall = MonotonicInstant(nanoseconds: wallTime.milliseconds * 1_000_000)
        offset = max(wall, lastTime).duration(since: now)
    }

    public var inFlightByteCount: Int { inFlight.reduce(0) { $0 + $1.bytes.count } }
    public var inFlightCount: Int { inFlight.count }
    /// The sessions of which anything is kept.
    public var keptSessions: [SessionID] { sessions.keys.sorted() }
    public func keptEntries(of session: SessionID) -> [CommandEntry] { sessions[session]?.entries ?? [] }

    public func time(at now: MonotonicInstant) -> MonotonicInstant { max(lastTime, now.advanced(by: offset)) }

    public func append(_ commands: [CommandAppend], now: MonotonicInstant) {
        lastTime = time(at: now)
        appendCount += 1
        for command in commands {
            var session = sessions[command.session] ?? Session()
            let expected = (session.counters[command.id.run] ?? 0) + 1
            precondition(command.id.counter == expected, "LOG-3: a counter has a gap")
            session.counters[command.id.run] = expected
            session.lastNumber += 1
            let position = LogPosition(number: session.lastNumber, id: command.id)
            inFlight.append(
                CommandEntry(session: command.session, position: position, time: lastTime, bytes: command.bytes))
            sessions[command.session] = session
        }
        onAppend()
    }

    /// Confirms the oldest commands that wait.
    public func confirm(_ count: Int = .max) {
        let confirmed = Array(inFlight.prefix(count))
        inFlight.removeFirst(confirmed.count)
        for entry in confirmed { sessions[entry.session]?.entries.append(entry) }
        if !confirmed.isEmpty { observer?.log(confirmed: confirmed) }
    }

    public func keep(_ snapshot: CommandSnapshot) {
        let bytes = snapshot.encode()
        snapshotCount += 1
        if snapshot.replacesErased { erasingSnapshotCount += 1 }
        let position = snapshot.position
        if position.number > sessions[snapshot.session]?.snapshot?.position.number ?? 0 {
            sessions[snapshot.session]?.snapshot = KeptCommands.Snapshot(position: position, bytes: bytes)
            sessions[snapshot.session]?.entries.removeAll { $0.position.number <= position.number }
        }
        observer?.log(kept: position, of: snapshot.session, byteCount: bytes.count)
    }

    public func remove(_ session: SessionID, through position: LogPosition) {
        sessions[session]?.snapshot = nil
        sessions[session]?.entries.removeAll { $0.position.number <= position.number }
        if sessions[session]?.lastNumber == position.number { sessions[session] = nil }
    }

    public var sleeperCount: Int { sleepers.count }
    /// Why the sessions sleep, or slept last.
    public private(set) var sleepReasons: [SessionID: SleepReason] = [:]
    public var sleepingSessions: [SessionID] { sleepers.keys.sorted() }

    public func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason) {
        keep(snapshot)
        sleepReasons[snapshot.session] = reason
        sleepers[snapshot.session] = sessions.removeValue(forKey: snapshot.session)
    }

    public func wake(_ session: SessionID, answer: @escaping (KeptCommands.Session?) -> Void) {
        let sleeper = sleepers.removeValue(forKey: session)
        if let sleeper { sessions[session] = sleeper }
        answer(sleeper.map { KeptCommands.Session(id: session, snapshot: $0.snapshot, entries: $0.entries) })
    }

    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        var read = SleepingSessions(atMost: count)
        for session in sleepingSessions.reversed() where range.contains(session) {
            guard read.add(session, sleepers[session]?.snapshot?.bytes ?? []) else { break }
        }
        answer(.success(read))
    }

    public func forgetSleepers(_ sessions: [SessionID], at time: MonotonicInstant) {
        for session in sessions { sleepReasons[session]?.hasHistory = false }
        sleepers = sleepers.filter { sleepReasons[$0.key]?.isOver(at: time) == false }
    }

    /// Asks the observer for snapshots, as a log does that grows.
    public func askForSnapshots() { observer?.log(needsSnapshotsOf: keptSessions) }

    /// The process ends. Of the commands that wait, the oldest are on the disk already, and the others are gone.
    ///
    /// - Parameter lostAt: in the time of the process that ends.
    public func crash(keeping count: Int, lostAt: MonotonicInstant) -> KeptCommands {
        observer = nil
        for entry in inFlight.prefix(count) { sessions[entry.session]?.entries.append(entry) }
        // The newest first, so that each session ends at its last entry that was kept.
        for entry in inFlight.dropFirst(count).reversed() {
            sessions[entry.session]?.lastNumber = entry.position.number - 1
        }
        inFlight = []
        sessions = sessions.filter { $0.value.snapshot != nil || !$0.value.entries.isEmpty }
        return KeptCommands(
            sessions: sessions.sorted { $0.key < $1.key }.map {
                KeptCommands.Session(id: $0, snapshot: $1.snapshot, entries: $1.entries)
            },
            lostAt: lostAt.advanced(by: offset))
    }
}
