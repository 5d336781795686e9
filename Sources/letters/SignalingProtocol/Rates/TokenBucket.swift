/// A token bucket for a ``RateLimit``. It starts full and fills evenly. The rates of signals, lines, requests, new
/// connections and the library's log lines all use it.
///
/// Stored as one moment: when the bucket will be full again.
package struct TokenBucket: Hashable, Sendable {
    /// When the bucket will be full; in the past if it is.
    package private(set) var fullAt = MonotonicInstant(nanoseconds: .min)

    package init() {}

    /// A saved bucket.
    package init(fullAt: MonotonicInstant) { self.fullAt = fullAt }

    /// Adapts a saved bucket to a new limit: it is full no later than an empty bucket of that limit would be.
    ///
    /// - Parameter moment: when the bucket was last used.
    package mutating func adapt(to limit: RateLimit?, usedAt moment: MonotonicInstant) {
        guard let limit else { return }
        fullAt = min(fullAt, moment.advanced(by: limit.interval * limit.burst))
    }

    /// Consumes a token.
    ///
    /// - Returns: false when the bucket is empty. Always true without a limit.
    package mutating func consume(_ limit: RateLimit?, now: MonotonicInstant) -> Bool {
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
    package mutating func overdraw(_ count: Int, _ limit: RateLimit, now: MonotonicInstant) -> MonotonicInstant? {
        let interval = limit.interval
        fullAt = max(fullAt, now).advanced(by: interval * count)
        guard fullAt > now.advanced(by: interval * (limit.burst - 1)) else { return nil }
        let resumeCount = min(limit.burst, max(1, limit.perSecond / 10))
        return fullAt.advanced(by: .zero - interval * (limit.burst - resumeCount))
    }
}
