import SignalingProtocol

/// The signals that the connections with each access token may still send together (SIG-11).
///
/// Each connection has a bucket of its own. A client gets a full one by connecting again, and several by opening
/// several connections. It cannot renew its access token, so the connections with one access token share a further
/// bucket, which outlives them. That bucket has the allowance of several connections, since several users may have
/// one access token.
///
/// A part of the session's state: every node computes the same levels from the times of the log. Full buckets are
/// forgotten.
struct TokenAllowances: Hashable, Sendable {
    /// The number of connections whose allowance one access token has.
    static let connectionCount = 5
    private static let smallestSweep = 64

    private var buckets: [TokenFingerprint: TokenBucket] = [:]
    private var sweepAt = smallestSweep
    /// When all buckets will be full; `nil` if all of them are.
    private(set) var fullAt: MonotonicInstant?

    init() {}

    /// The number of buckets in memory.
    var count: Int { buckets.count }

    /// Consumes the allowance for one signal: of the connection, and of its access token.
    ///
    /// - Parameters:
    ///   - own: the connection's own bucket.
    ///   - token: the access token of the connection; `nil` if it is not known.
    /// - Returns: false when one of the two buckets is empty; neither changes then. Always true without a limit.
    mutating func consume(
        with own: inout TokenBucket, of token: TokenFingerprint?, _ limit: RateLimit?, now: MonotonicInstant
    ) -> Bool {
        guard let limit, let token else { return own.consume(limit, now: now) }
        let known = buckets[token]
        var shared = known ?? TokenBucket()
        guard shared.consume(limit.shared, now: now), own.consume(limit, now: now) else { return false }
        if known == nil { sweep(now) }
        buckets[token] = shared
        fullAt = max(fullAt ?? shared.fullAt, shared.fullAt)
        return true
    }

    /// Forgets all buckets, if all of them are full.
    mutating func expire(upTo now: MonotonicInstant) {
        if let fullAt, fullAt <= now { self = TokenAllowances() }
    }

    /// Adapts the buckets to a new limit of one connection.
    mutating func adapt(to limit: RateLimit?, usedAt moment: MonotonicInstant) {
        guard let limit else { return self = TokenAllowances() }
        for token in buckets.keys { buckets[token]?.adapt(to: limit.shared, usedAt: moment) }
        fullAt = buckets.values.lazy.map(\.fullAt).max()
    }

    /// Forgets full buckets. The cost is constant per new token in the long run.
    private mutating func sweep(_ now: MonotonicInstant) {
        guard buckets.count >= sweepAt else { return }
        buckets = buckets.filter { $0.value.fullAt > now }
        sweepAt = max(Self.smallestSweep, buckets.count * 2)
    }
}

extension RateLimit {
    /// The limit of all connections with one access token.
    fileprivate var shared: RateLimit {
        RateLimit(
            perSecond: perSecond * TokenAllowances.connectionCount, burst: burst * TokenAllowances.connectionCount)
    }
}

extension TokenAllowances: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(count: buckets.count)
        for (token, bucket) in buckets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(token)
            writer.write(bucket.fullAt)
        }
        writer.write(count: sweepAt)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        var last: TokenFingerprint?
        for _ in 0..<(try reader.count(ofAtLeast: 9)) {
            let token: TokenFingerprint = try reader.value()
            // The same state has the same bytes.
            guard last.map({ $0.rawValue < token.rawValue }) ?? true else { throw .malformed }
            last = token
            buckets[token] = TokenBucket(fullAt: try reader.value())
        }
        guard let sweepAt = Int(exactly: try reader.unsigned()), sweepAt >= Self.smallestSweep else {
            throw .malformed
        }
        self.sweepAt = sweepAt
        fullAt = buckets.values.lazy.map(\.fullAt).max()
    }
}
