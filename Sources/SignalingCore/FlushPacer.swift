import SignalingProtocol

/// When a session that has something to send is flushed: the first event after a pause at once, then, while it stays
/// busy, one flush per interval. Merging is what makes a busy session cheap: the cost of a delivery is the number of
/// writes, not of events.
public struct FlushPacer: Sendable {
    /// The shortest time between two flushes of one session. A chat does not feel it; a busy session saves most of its
    /// writes by it.
    public static let interval = Duration.milliseconds(2)

    /// Bytes waiting from which a session is flushed without regard to the interval, well before the log's bound.
    public static let byteLimit = 65_536

    private var lastFlush: MonotonicInstant?
    private var waitingByteCount = 0

    public init() {}

    public mutating func noteWaiting(byteCount: Int) { waitingByteCount += byteCount }

    /// When to flush: now, or at the returned moment.
    public func due(now: MonotonicInstant) -> MonotonicInstant {
        guard waitingByteCount < Self.byteLimit, let lastFlush else { return now }
        return max(now, lastFlush.advanced(by: Self.interval))
    }

    public mutating func noteFlushed(at now: MonotonicInstant) {
        lastFlush = now
        waitingByteCount = 0
    }
}
