import SignalingProtocol

/// When a stopping server disconnects each client, and when it asks each client back (LEAVE-5).
///
/// Clients that are disconnected at the same time come back at the same time. So the server disconnects them one after the
/// other, a millisecond each, but all within the longest time: a few clients go at once, and ten thousand share the whole
/// time.
struct DrainPlan: Sendable {
    struct Pace: Sendable {
        /// The time that each client adds to the plan.
        var perClient = Duration.milliseconds(1)
        /// Most clients to disconnect in one turn of the loop, so that the loop serves the others, too.
        var sliceCount = 100
        /// How long the closing handshakes may take after the last client was disconnected. A socket that is cut before its
        /// client has read `disconnected` may lose it.
        var closingTime = Duration.seconds(2)
    }

    /// The clients are asked back over at least this time, as after any lost socket (RES-13).
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

    /// How long a client that is disconnected now waits before it comes back: until the last client has been disconnected,
    /// and then its random share of as long again. Whole milliseconds.
    ///
    /// - Parameter random: from 0 to 1.
    func returnWait(at now: MonotonicInstant, random: Double) -> Duration {
        let left = max(.zero, startedAt.advanced(by: spread).duration(since: now))
        let wait = left + max(spread, Self.shortestReturn) * min(max(0, random), 1)
        return .milliseconds(min(wait, Limits.longestReconnectWait).wholeMilliseconds)
    }
}
