import DequeModule
import SignalingCore
import SignalingProtocol

/// Passes everything on to a command log, and measures how long appends and snapshots take. Confined to the loop.
///
/// Only for a log of one process, which confirms commands in the order of the appends.
final class MeteredCommandLog: LocalCommandLog, CommandLogObserver {
    private struct Append {
        var count: Int
        let at: MonotonicInstant
    }

    private let log: any LocalCommandLog
    private let now: () -> MonotonicInstant
    @exclusivity(unchecked) private var appends: Deque<Append> = []
    @exclusivity(unchecked) private var snapshots: [SessionID: MonotonicInstant] = [:]
    @exclusivity(unchecked) private(set) var appendLatency = Histogram(.durations)
    private(set) var snapshotDuration = Histogram(.durations)
    @exclusivity(unchecked) weak var observer: (any CommandLogObserver)?

    init(_ log: any LocalCommandLog, now: @escaping () -> MonotonicInstant) {
        self.log = log
        self.now = now
        log.observer = self
    }

    var inFlightByteCount: Int { log.inFlightByteCount }
    func time(at now: MonotonicInstant) -> MonotonicInstant { log.time(at: now) }

    func append(_ commands: [CommandAppend], now: MonotonicInstant) {
        appends.append(Append(count: commands.count, at: now))
        log.append(commands, now: now)
    }

    func keep(_ snapshot: CommandSnapshot) {
        snapshots[snapshot.session] = now()
        log.keep(snapshot)
    }

    func remove(_ session: SessionID, through position: LogPosition) {
        snapshots[session] = nil
        log.remove(session, through: position)
    }

    var sleeperCount: Int { log.sleeperCount }

    func sleep(_ snapshot: CommandSnapshot, for reason: SleepReason) {
        snapshots[snapshot.session] = nil
        log.sleep(snapshot, for: reason)
    }

    func wake(_ session: SessionID, answer: @escaping (KeptCommands.Session?) -> Void) {
        log.wake(session, answer: answer)
    }

    func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) { log.readSleepers(in: range, atMost: count, answer: answer) }

    func forgetSleepers(_ sessions: [SessionID], at time: MonotonicInstant) { log.forgetSleepers(sessions, at: time) }

    func log(confirmed entries: [CommandEntry]) {
        let now = now()
        var count = entries.count
        while count > 0, let first = appends.first {
            if first.count > count {
                appends[appends.startIndex].count -= count
                break
            }
            count -= first.count
            appendLatency.observe(now.duration(since: first.at))
            appends.removeFirst()
        }
        observer?.log(confirmed: entries)
    }

    func log(needsSnapshotsOf sessions: [SessionID]) { observer?.log(needsSnapshotsOf: sessions) }

    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        if let began = snapshots.removeValue(forKey: session) {
            snapshotDuration.observe(now().duration(since: began))
        }
        observer?.log(kept: position, of: session, byteCount: byteCount)
    }
}
