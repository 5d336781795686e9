import SignalingProtocol

/// When a stopping server disconnects each client, and how long it asks each client to wait before it reconnects
/// (LEAVE-5).
///
/// Clients that are disconnected at the same time reconnect at the same time. The server therefore disconnects them one
/// after the other, one per millisecond, but all within the longest time: a few clients are done at once, and ten
/// thousand use the whole time.
struct DrainPlan: Sendable {
    struct Pace: Sendable {
        /// How much each client adds to the time of the drain.
        var perClient = Duration.milliseconds(1)
        /// The maximum number of clients to disconnect in one turn of the loop, so that the loop also serves the
        /// others.
        var sliceCount = 100
        /// How long the closing handshakes may take after the last client was disconnected. A client may lose
        /// `disconnected` if its socket is cut before it has read it.
        var closingTime = Duration.seconds(2)
    }

    /// The minimum time over which the reconnects are spread, as after any lost socket (RES-13).
    static let shortestReturn = Duration.milliseconds(250)

    let count: Int
    private let startedAt: MonotonicInstant
    private var spread: Duration

    init(count: Int, longest: Duration, startedAt: MonotonicInstant, pace: Pace = Pace()) {
        self.count = count
        self.startedAt = startedAt
        spread = max(.zero, min(longest, pace.perClient * count))
    }

    /// Makes every client due now.
    mutating func hurry() { spread = .zero }

    /// How many clients must be disconnected by now: the first at once, all of them at the end.
    func dueCount(at now: MonotonicInstant) -> Int {
        let elapsed = now.duration(since: startedAt)
        guard elapsed < spread else { return count }
        return min(count, Int(Double(count) * (max(.zero, elapsed) / spread)) + 1)
    }

    /// When the client with this index must be disconnected.
    func moment(of index: Int) -> MonotonicInstant {
        startedAt.advanced(by: spread * index / max(1, count))
    }

    /// How long a client that is disconnected now waits before it reconnects: the time until the last client has been
    /// disconnected, plus a random part of the whole spread. Whole milliseconds.
    ///
    /// - Parameter random: from 0 to 1.
    func returnWait(at now: MonotonicInstant, random: Double) -> Duration {
        let left = max(.zero, startedAt.advanced(by: spread).duration(since: now))
        let wait = left + max(spread, Self.shortestReturn) * min(max(0, random), 1)
        return .milliseconds(min(wait, Limits.longestReconnectWait).wholeMilliseconds)
    }
}
