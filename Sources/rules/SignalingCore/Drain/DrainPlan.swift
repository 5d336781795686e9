import SignalingProtocol

/// When a stopping server disconnects each client, and how long it asks each client to wait before it reconnects
/// (LEAVE-5).
///
/// Clients that are disconnected at the same time reconnect at the same time. The server therefore disconnects them one
/// after the other, at the pace at which a server takes them back, but all within the longest time: a few clients are
/// done at once, five thousand in a second, and twenty-five thousand in five.
package struct DrainPlan: Sendable {
    package struct Pace: Sendable {
        /// How much each client adds to the time of the drain. A server resumes about as many clients in this time as
        /// it disconnects (`scripts/bench restart`).
        package var perClient: Duration
        /// The maximum number of clients to disconnect in one turn of the loop, so that the loop also serves the
        /// others.
        package var sliceCount: Int
        /// How long the closing handshakes may take after the last client was disconnected.
        ///
        /// A client that reads needs a round trip. The server waits no longer for a client that does not answer: the
        /// system has the bytes of all others and delivers them after the end of the process.
        package var closingTime: Duration

        package init(
            perClient: Duration = .microseconds(200), sliceCount: Int = 100, closingTime: Duration = .milliseconds(100)
        ) {
            self.perClient = perClient
            self.sliceCount = sliceCount
            self.closingTime = closingTime
        }
    }

    /// The minimum time over which the reconnects are spread, as after any lost socket (RES-13).
    static let shortestReturn = Duration.milliseconds(250)
    /// The time that a restart takes, from the last close to the next server. After a long drain, clients return when
    /// it is over. After a short one they try at once, since an early attempt costs less than a wait of all clients.
    static let restart = Duration.milliseconds(250)

    package let count: Int
    private let startedAt: MonotonicInstant
    private var spread: Duration

    package init(count: Int, longest: Duration, startedAt: MonotonicInstant, pace: Pace = Pace()) {
        self.count = count
        self.startedAt = startedAt
        spread = max(.zero, min(longest, pace.perClient * count))
    }

    /// Makes every client due now.
    package mutating func hurry() { spread = .zero }

    /// How many clients must be disconnected by now: the first at once, all of them at the end.
    package func dueCount(at now: MonotonicInstant) -> Int {
        let elapsed = now.duration(since: startedAt)
        guard elapsed < spread else { return count }
        return min(count, Int(Double(count) * (max(.zero, elapsed) / spread)) + 1)
    }

    /// When the client with this index must be disconnected.
    package func moment(of index: Int) -> MonotonicInstant {
        startedAt.advanced(by: spread * index / max(1, count))
    }

    /// How long a client that is disconnected now waits before it reconnects: the time until the last client has been
    /// disconnected, the time of a restart (at most a quarter of the spread), and a random part of the whole spread.
    /// Whole milliseconds.
    ///
    /// - Parameter random: from 0 to 1.
    package func returnWait(at now: MonotonicInstant, random: Double) -> Duration {
        let left = max(.zero, startedAt.advanced(by: spread).duration(since: now))
        let wait =
            left + min(Self.restart, spread / 4) + max(spread, Self.shortestReturn) * min(max(0, random), 1)
        return .milliseconds(min(wait, Limits.longestReconnectWait).wholeMilliseconds)
    }

    /// How long a client waits before it reconnects, if the server disconnects several at once: a random part of the
    /// time in which a server takes them back. Whole milliseconds.
    ///
    /// - Parameter random: from 0 to 1.
    package static func returnWait(ofEach count: Int, pace: Pace, random: Double) -> Duration {
        let spread = min(max(shortestReturn, pace.perClient * count), Limits.longestReconnectWait)
        return .milliseconds((spread * random).wholeMilliseconds)
    }
}
