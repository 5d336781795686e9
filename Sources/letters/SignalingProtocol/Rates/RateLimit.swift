/// A rate limit: a rate in the long run, and a burst after a pause (SIG-11).
public struct RateLimit: Hashable, Sendable {
    /// From 1 to 1,000,000; the initializer clamps.
    public let perSecond: Int
    /// From 1 to 1,000,000; the initializer clamps.
    public let burst: Int

    public init(perSecond: Int, burst: Int) {
        self.perSecond = min(max(1, perSecond), 1_000_000)
        self.burst = min(max(1, burst), 1_000_000)
    }

    /// The time in which the bucket gains one token.
    package var interval: Duration { .nanoseconds(1_000_000_000 / Int64(perSecond)) }
}
