import SignalingProtocol

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
    var interval: Duration { .nanoseconds(1_000_000_000 / Int64(perSecond)) }
}

/// A token bucket for a ``RateLimit``. It starts full and fills evenly.
///
/// Stored as one moment: when the bucket will be full again.
struct TokenBucket: Hashable, Sendable {
    private(set) var fullAt = MonotonicInstant(nanoseconds: .min)

    init() {}

    /// A saved bucket.
    init(fullAt: MonotonicInstant) { self.fullAt = fullAt }

    /// Adapts a saved bucket to a new limit: it is full no later than an empty bucket of that limit would be.
    ///
    /// - Parameter moment: when the bucket was last used.
    mutating func adapt(to limit: RateLimit?, usedAt moment: MonotonicInstant) {
        guard let limit else { return }
        fullAt = min(fullAt, moment.advanced(by: limit.interval * limit.burst))
    }

    /// Consumes a token.
    ///
    /// - Returns: false when the bucket is empty. Always true without a limit.
    mutating func consume(_ limit: RateLimit?, now: MonotonicInstant) -> Bool {
        guard let limit else { return true }
        let interval = limit.interval
        let latest = now.advanced(by: interval * (limit.burst - 1))
        guard fullAt <= latest else { return false }
        fullAt = max(fullAt, now).advanced(by: interval)
        return true
    }

    /// Consumes tokens even if the bucket does not have them: the work is done already.
    ///
    /// - Returns: when to continue, if the bucket is empty: when it has the tokens of a tenth of a second, so that the
    ///   caller does not stop and go with each token.
    mutating func overdraw(_ count: Int, _ limit: RateLimit, now: MonotonicInstant) -> MonotonicInstant? {
        let interval = limit.interval
        fullAt = max(fullAt, now).advanced(by: interval * count)
        guard fullAt > now.advanced(by: interval * (limit.burst - 1)) else { return nil }
        let resumeCount = min(limit.burst, max(1, limit.perSecond / 10))
        return fullAt.advanced(by: .zero - interval * (limit.burst - resumeCount))
    }
}
