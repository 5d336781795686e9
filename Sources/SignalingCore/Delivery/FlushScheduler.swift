import SignalingProtocol

/// Decides when to flush a session that has something to send (write coalescing, WIRE-11).
///
/// The first event after a pause is flushed at once. While the session stays busy, there is one flush per interval. The
/// cost of a delivery is the number of writes, not of events, so coalescing makes a busy session cheap.
///
/// The interval grows with the number of members, as the cost of a flush does. A small session never waits, and a large
/// one uses at most about half of the loop. Joins and departures alone wait ten times as long: each of them goes to
/// every member, and users do not wait for them.
public struct FlushScheduler: Sendable {
    /// How much each member adds to the interval: about twice the cost of a write.
    public static let intervalPerMember = Duration.microseconds(10)

    /// The longest interval. A chat user does not notice it.
    public static let longestInterval = Duration.milliseconds(5)

    /// The shortest time between two flushes of a session.
    ///
    /// Under 1 ms, the resolution of the loop's timers, the interval is zero: the session is flushed at the end of each
    /// turn of the loop.
    public func interval(memberCount: Int) -> Duration {
        let interval = min(Self.longestInterval, intervalPerMember * memberCount)
        return interval < .milliseconds(1) ? .zero : interval
    }

    /// The longest time that a join or departure waits, unless a signal follows it.
    public static let longestPresenceInterval = Duration.milliseconds(100)

    /// The shortest time between two flushes of a session in which only joins and departures are pending.
    public func presenceInterval(memberCount: Int) -> Duration {
        if interval(memberCount: memberCount) == .zero { return .zero }
        return min(Self.longestPresenceInterval, intervalPerMember * (10 * memberCount))
    }

    /// A session with this many pending bytes is flushed at once. It is well below the log's bound in bytes.
    public static let byteLimit = 65_536

    private let intervalPerMember: Duration
    private var lastFlush: MonotonicInstant?
    /// The size of the events since the last flush.
    public private(set) var waitingByteCount = 0
    /// Whether a signal is pending, not only joins and departures.
    public private(set) var hasSignals = false

    public init(intervalPerMember: Duration = FlushScheduler.intervalPerMember) {
        self.intervalPerMember = intervalPerMember
    }

    /// Adds the size of an appended event.
    ///
    /// - Parameter isPresence: whether the event is a join or a departure.
    public mutating func noteWaiting(byteCount: Int, isPresence: Bool = false) {
        waitingByteCount += byteCount
        if !isPresence { hasSignals = true }
    }

    /// When to flush: `now`, or a later moment.
    public func due(now: MonotonicInstant, memberCount: Int) -> MonotonicInstant {
        guard waitingByteCount < Self.byteLimit, let lastFlush else { return now }
        let interval = hasSignals ? interval(memberCount: memberCount) : presenceInterval(memberCount: memberCount)
        return max(now, lastFlush.advanced(by: interval))
    }

    /// Starts the next interval.
    public mutating func noteFlushed(at now: MonotonicInstant) {
        lastFlush = now
        waitingByteCount = 0
        hasSignals = false
    }
}
