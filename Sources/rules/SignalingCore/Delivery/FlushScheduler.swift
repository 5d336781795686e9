import SignalingProtocol

/// Decides when to flush a session that has something to send (write coalescing, WIRE-11).
///
/// The cost of a delivery is the number of writes, not of events, so a flush that carries several events makes a busy
/// session cheap. But a wait costs latency. It only pays on a busy loop, and if other events come meanwhile. So:
///
/// - If a turn has brought ``burstCount`` signals or more, the rest of the burst is probably on the way: the loop looks
///   for input once more before it flushes. This costs one system call.
/// - While the loop is not busy, and in a session whose flush is cheap, nothing else waits.
/// - On a busy loop, a session whose signals come faster than ``Pace/longestWait`` waits for further ones, until
///   ``enoughCount`` of them are pending. The first signal after a pause does not wait.
/// - If nothing else came during a wait, because the senders wait for their answers, the next flushes do not wait.
///
/// Nothing of this takes longer than ``Pace/longestWait``. Joins and departures alone wait longer: each of them goes to
/// every member, and users do not wait for them.
public struct FlushScheduler: Sendable {
    /// How long events wait for each other.
    public struct Pace: Hashable, Sendable {
        /// The longest time that a signal waits; zero for no wait at all. A chat user does not notice 5 ms.
        public var longestWait: Duration
        /// What one write costs, about. It tells a cheap flush from others.
        public var costPerMember: Duration

        public init(longestWait: Duration = .milliseconds(5), costPerMember: Duration = .microseconds(5)) {
            self.longestWait = longestWait
            self.costPerMember = costPerMember
        }
    }

    public enum Decision: Hashable, Sendable {
        case flush
        /// Ask again at the end of the next turn, which comes at once.
        case nextTurn
        /// Ask again at this moment, or at the end of an earlier turn.
        case wait(until: MonotonicInstant)
    }

    /// A flush of this cost is cheap, in nanoseconds.
    private static let cheapCost: Int64 = 100_000
    /// A session with this many pending events does not wait for a timer: a write for 16 events costs each of them little
    /// more than one for 100.
    static let enoughCount = 16
    /// With this many new signals in one turn, the loop looks for input once more. A client's frames come five in a read.
    static let burstCount = 4
    /// A session with this many pending bytes is flushed at once. It is well below the log's bound in bytes.
    public static let byteLimit = 65_536
    /// An event that comes later than this after the first one is a reason to wait. Earlier ones came in the same burst.
    /// In nanoseconds.
    private static let burstTime: Int64 = 1_000_000
    /// Most flushes without a wait after waits in which nothing came.
    static let longestSkip = 64
    /// How much longer joins and departures wait: 100 ms by default.
    static let presenceFactor = 20

    /// What holds the pending signals back.
    private enum Wait: Sendable {
        /// Nothing, or no longer than the burst in which they came.
        case none
        /// A timer, in a session whose signals come fast enough. Nothing has come meanwhile.
        case idle
        /// The same, and other signals have come.
        case worthIt
    }

    private let longestWait: Int64
    private let costPerMember: Int64
    private var lastFlush: MonotonicInstant?
    /// The size of the events since the last flush.
    public private(set) var waitingByteCount = 0
    /// The number of events since the last flush.
    private var waitingEventCount = 0
    /// Whether a signal is pending, not only joins and departures.
    public private(set) var hasSignals = false
    /// How many of them were pending at the last decision.
    private var decidedEventCount = 0
    /// When the pending signals were first decided on.
    private var pendingSince: MonotonicInstant?
    private var wait = Wait.none
    /// The mean time between two events, in nanoseconds, weighted towards the last flushes.
    private var meanInterval: Int64?
    /// How many flushes go without a wait after the next wait in which nothing comes.
    private var skipCount = 1
    /// How many of them are left.
    private var skipsLeft = 0

    public init(pace: Pace = Pace()) {
        longestWait = pace.longestWait.wholeNanoseconds
        costPerMember = pace.costPerMember.wholeNanoseconds
    }

    /// Adds the size of an appended event.
    ///
    /// - Parameter isPresence: whether the event is a join or a departure.
    public mutating func noteWaiting(byteCount: Int, isPresence: Bool = false) {
        waitingByteCount += byteCount
        waitingEventCount += 1
        if !isPresence { hasSignals = true }
    }

    /// Decides at the end of a turn whether to flush.
    ///
    /// - Parameter isLoopBusy: whether the loop has no time to spare.
    public mutating func decide(now: MonotonicInstant, memberCount: Int, isLoopBusy: Bool) -> Decision {
        let newCount = waitingEventCount - decidedEventCount
        decidedEventCount = waitingEventCount
        let cost = costPerMember * Int64(memberCount)
        guard waitingByteCount < Self.byteLimit, longestWait > 0, let lastFlush else { return .flush }
        guard hasSignals else {
            guard cost >= Self.cheapCost else { return .flush }
            let interval = min(longestWait, cost) * Int64(Self.presenceFactor)
            let due = MonotonicInstant(nanoseconds: lastFlush.nanoseconds + interval)
            return due <= now ? .flush : .wait(until: due)
        }
        let since = pendingSince ?? now
        pendingSince = since
        let age = now.nanoseconds - since.nanoseconds
        if newCount > 0, age >= Self.burstTime { noteWorth() }
        guard age < longestWait else { return .flush }
        if newCount >= Self.burstCount { return .nextTurn }
        guard cost >= Self.cheapCost, waitingEventCount < Self.enoughCount,
            mayWait(now.nanoseconds - lastFlush.nanoseconds, isLoopBusy)
        else { return .flush }
        return .wait(until: MonotonicInstant(nanoseconds: since.nanoseconds + longestWait))
    }

    /// Begins a wait, or continues one.
    private mutating func mayWait(_ sinceFlush: Int64, _ isLoopBusy: Bool) -> Bool {
        switch wait {
        case .idle, .worthIt: return true
        case .none: break
        }
        guard isLoopBusy, sinceFlush < longestWait, meanInterval.map({ $0 < longestWait }) ?? true else { return false }
        if skipsLeft > 0 {
            skipsLeft -= 1
            return false
        }
        wait = .idle
        return true
    }

    private mutating func noteWorth() {
        switch wait {
        case .none: break
        case .idle, .worthIt: wait = .worthIt
        }
    }

    /// The pending events were flushed.
    public mutating func noteFlushed(at now: MonotonicInstant) {
        switch wait {
        case .none: break
        case .worthIt: skipCount = 1
        case .idle:
            if let pendingSince, now.nanoseconds - pendingSince.nanoseconds >= longestWait {
                skipsLeft = skipCount
                skipCount = min(Self.longestSkip, skipCount * 2)
            }
        }
        noteInterval(now)
        wait = .none
        pendingSince = nil
        lastFlush = now
        waitingByteCount = 0
        waitingEventCount = 0
        decidedEventCount = 0
        hasSignals = false
    }

    private mutating func noteInterval(_ now: MonotonicInstant) {
        guard let lastFlush, waitingEventCount > 0 else { return }
        // A long pause is no more than a pause.
        let interval = min((now.nanoseconds - lastFlush.nanoseconds) / Int64(waitingEventCount), 4 * longestWait)
        meanInterval = meanInterval.map { ($0 * 3 + interval) / 4 } ?? interval
    }
}
