import SignalingProtocol

/// When each client of a server that stops is sent away, and when it is asked to come back.
///
/// All of them at once would come back at once. So they go one after the other, a millisecond each, and no longer than
/// the plan may last: a few go at once, and ten thousand share the whole time.
struct DrainPlan: Sendable {
    /// The time that each client adds to the plan.
    static let perClient = Duration.milliseconds(1)
    /// The least stretch over which they are asked back: as after any lost socket (RES-13).
    static let shortestReturn = Duration.milliseconds(250)
    /// Most clients to be sent away in one turn of a loop, so that it goes on with everything else.
    static let sliceCount = 100

    let count: Int
    private let startedAt: MonotonicInstant
    private var spread: Duration

    init(count: Int, longest: Duration, startedAt: MonotonicInstant) {
        self.count = count
        self.startedAt = startedAt
        spread = max(.zero, min(longest, Self.perClient * count))
    }

    /// Everybody goes now.
    mutating func hurry() { spread = .zero }

    /// How many have to be gone by now: the first at once, all of them at the end.
    func dueCount(at now: MonotonicInstant) -> Int {
        let elapsed = now.duration(since: startedAt)
        guard elapsed < spread else { return count }
        return min(count, Int(Double(count) * (max(.zero, elapsed) / spread)) + 1)
    }

    /// When the client of this place, counted from 0, has to go.
    func moment(of place: Int) -> MonotonicInstant {
        startedAt.advanced(by: spread * place / max(1, count))
    }

    /// How long a client that goes now should wait before it comes back: until nobody is left, and then its share of
    /// as long again. Whole milliseconds.
    ///
    /// - Parameter random: from 0 to 1.
    func returnWait(at now: MonotonicInstant, random: Double) -> Duration {
        let left = max(.zero, startedAt.advanced(by: spread).duration(since: now))
        let wait = left + max(spread, Self.shortestReturn) * min(max(0, random), 1)
        return .milliseconds(min(wait, Limits.longestReconnectWait).wholeMilliseconds)
    }
}
