import SignalingProtocol

/// How often something may be done: so many times a second in the long run, and so many at once after a pause.
public struct RateLimit: Hashable, Sendable {
    /// At least 1.
    public let perSecond: Int
    /// At least 1.
    public let burst: Int

    public init(perSecond: Int, burst: Int) {
        self.perSecond = min(max(1, perSecond), 1_000_000)
        self.burst = min(max(1, burst), 1_000_000)
    }

    /// The time that one of them is worth.
    var interval: Duration { .nanoseconds(1_000_000_000 / Int64(perSecond)) }
}

/// What somebody has left of a ``RateLimit``: a bucket of tokens that fills evenly and is full at first.
///
/// It is kept as one moment, that at which the bucket will be full again.
struct TokenBucket: Hashable, Sendable {
    private(set) var fullAt = MonotonicInstant(nanoseconds: .min)

    init() {}

    /// A bucket as it was kept.
    init(fullAt: MonotonicInstant) { self.fullAt = fullAt }

    /// Holds a bucket that was last used at that moment to a limit that may be another than it was used with.
    mutating func adapt(to limit: RateLimit?, usedAt moment: MonotonicInstant) {
        guard let limit else { return }
        fullAt = min(fullAt, moment.advanced(by: limit.interval * limit.burst))
    }

    /// Takes a token if there is one, and says whether there was. Without a limit there always is.
    mutating func consume(_ limit: RateLimit?, now: MonotonicInstant) -> Bool {
        guard let limit else { return true }
        let interval = limit.interval
        let latest = now.advanced(by: interval * (limit.burst - 1))
        guard fullAt <= latest else { return false }
        fullAt = max(fullAt, now).advanced(by: interval)
        return true
    }
}
