import SignalingProtocol

/// Decides when to flush a session that has something to send (write coalescing, WIRE-11).
///
/// The cost of a delivery is the number of writes, not of events, so a flush that carries several events makes a busy
/// session cheap. But waiting only pays if other events come meanwhile. So:
///
/// - A session whose flush is cheap never waits.
/// - The first event after a pause is flushed at once.
/// - Otherwise events wait for each other, at most for ``Pace/longestWait``. As soon as ``enoughCount`` of them wait,
///   they are flushed when the loop has no more input for the session.
/// - If nothing else came during a wait, because the senders wait for their answers, the next flushes do not wait.
///
/// Joins and departures alone wait longer: each of them goes to every member, and users do not wait for them.
public struct FlushScheduler: Sendable {
    /// How long events wait for each other.
    public struct Pace: Hashable, Sendable {
        /// The longest time that an event waits; zero for no wait at all. A chat user does not notice 5 ms.
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
    /// A session with this many pending bytes is flushed at once. It is well below the log's bound in bytes.
    public static let byteLimit = 65_536
    /// An event that comes later than this after the first one is a reason to wait. Earlier ones came in the same burst.
    /// In nanoseconds.
    private static let burstTime: Int64 = 1_000_000
    /// Most flushes without a wait after waits in which nothing came.
    static let longestSkip = 64
    /// How much longer joins and departures wait: 100 ms by default.
    static let presenceFactor = 20

    private struct Wait: Sendable {
        let since: MonotonicInstant
        /// The pending events when it was last looked at.
        var eventCount: Int
        var isWorthIt = false
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
    private var wait: Wait?
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
    public mutating func decide(now: MonotonicInstant, memberCount: Int) -> Decision {
        let cost = costPerMember * Int64(memberCount)
        guard waitingByteCount < Self.byteLimit, longestWait > 0, cost >= Self.cheapCost, let lastFlush else {
            return .flush
        }
        guard hasSignals else {
            let interval = min(longestWait, cost) * Int64(Self.presenceFactor)
            return decision(MonotonicInstant(nanoseconds: lastFlush.nanoseconds + interval), now)
        }
        guard var wait else { return beginWait(now, lastFlush) }
        if waitingEventCount > wait.eventCount {
            wait.eventCount = waitingEventCount
            let age = now.nanoseconds - wait.since.nanoseconds
            if age >= Self.burstTime || waitingEventCount >= Self.enoughCount { wait.isWorthIt = true }
            self.wait = wait
            if waitingEventCount >= Self.enoughCount, age < longestWait { return .nextTurn }
        }
        if waitingEventCount >= Self.enoughCount { return .flush }
        return decision(MonotonicInstant(nanoseconds: wait.since.nanoseconds + longestWait), now)
    }

    private mutating func beginWait(_ now: MonotonicInstant, _ lastFlush: MonotonicInstant) -> Decision {
        if now.nanoseconds - lastFlush.nanoseconds >= longestWait { return .flush }
        if skipsLeft > 0 {
            skipsLeft -= 1
            return .flush
        }
        wait = Wait(since: now, eventCount: waitingEventCount)
        if waitingEventCount >= Self.enoughCount {
            wait?.isWorthIt = true
            return .nextTurn
        }
        return .wait(until: MonotonicInstant(nanoseconds: now.nanoseconds + longestWait))
    }

    private func decision(_ due: MonotonicInstant, _ now: MonotonicInstant) -> Decision {
        due <= now ? .flush : .wait(until: due)
    }

    /// The pending events were flushed.
    public mutating func noteFlushed(at now: MonotonicInstant) {
        if let wait {
            if wait.isWorthIt {
                skipCount = 1
            } else if now.nanoseconds - wait.since.nanoseconds >= longestWait {
                skipsLeft = skipCount
                skipCount = min(Self.longestSkip, skipCount * 2)
            }
        }
        wait = nil
        lastFlush = now
        waitingByteCount = 0
        waitingEventCount = 0
        hasSignals = false
    }

}
