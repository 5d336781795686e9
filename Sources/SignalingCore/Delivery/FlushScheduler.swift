import SignalingProtocol

/// When a session that has something to send is flushed: the first event after a pause at once, then, while it stays
/// busy, one flush per interval. Merging is what makes a busy session cheap: the cost of a delivery is the number of
/// writes, not of events.
///
/// The interval grows with the number of members, since that is what a flush costs: two people who talk fast wait for
/// nothing, and a crowd cannot take more than about half of the loop.
public struct FlushScheduler: Sendable {
    /// The shortest time between two flushes of a session: 10 µs for each member, about twice what writing to it costs,
    /// and at most 5 ms, which a chat does not feel. Below a millisecond, the resolution of the loop's timers, there is
    /// none: such a session is flushed at the end of each turn.
    public static func interval(memberCount: Int) -> Duration {
        let interval = Duration.microseconds(min(5000, 10 * memberCount))
        return interval < .milliseconds(1) ? .zero : interval
    }

    /// Bytes waiting from which a session is flushed without regard to the interval, well before the log's bound.
    public static let byteLimit = 65_536

    private var lastFlush: MonotonicInstant?
    private var waitingByteCount = 0

    public init() {}

    public mutating func noteWaiting(byteCount: Int) { waitingByteCount += byteCount }

    /// When to flush: now, or at the returned moment.
    public func due(now: MonotonicInstant, memberCount: Int) -> MonotonicInstant {
        guard waitingByteCount < Self.byteLimit, let lastFlush else { return now }
        return max(now, lastFlush.advanced(by: Self.interval(memberCount: memberCount)))
    }

    public mutating func noteFlushed(at now: MonotonicInstant) {
        lastFlush = now
        waitingByteCount = 0
    }
}
