import SignalingProtocol

/// The rate of the REST requests of each project (REST-6): a backend in a loop must not starve the clients.
///
/// Keeps one moment for each project that has made a request.
public struct RequestRates: Sendable {
    /// Of each project; `nil` for no limit.
    public var limit: RateLimit?
    private var buckets: [APIKey: TokenBucket] = [:]

    /// - Parameter limit: of each project; `nil` for no limit.
    public init(limit: RateLimit?) { self.limit = limit }

    /// Counts a request.
    ///
    /// - Returns: `nil` if the project is within its rate. Otherwise the time until its next request, at least 1 s; the
    ///   request does not count.
    public mutating func admit(_ project: APIKey, now: MonotonicInstant) -> Duration? {
        guard let limit else { return nil }
        if buckets[project, default: TokenBucket()].consume(limit, now: now) { return nil }
        // A rate is at least one request a second.
        return .seconds(1)
    }

    /// Counts the items of a list that a request of the project gets: each 100 as a request, and at most as many as the
    /// project may make in a second. They have been read already, so they count even if the rate is used up.
    public mutating func charge(_ project: APIKey, itemCount: Int, now: MonotonicInstant) {
        guard let limit else { return }
        let count = min(itemCount / Self.itemsPerRequest, limit.perSecond)
        if count > 0 { _ = buckets[project, default: TokenBucket()].overdraw(count, limit, now: now) }
    }

    static let itemsPerRequest = 100
}
