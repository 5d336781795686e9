import SignalingProtocol

/// The rate at which the server handles a client's lines (WIRE-15).
///
/// Signals have a rate of their own (SIG-11), and only those that it does not count are charged here: refused and
/// online-only signals, malformed lines, `pong`, and all other requests. Over the rate, lines wait: reading pauses, so
/// the cost of a flood stays with its sender.
struct InputRate: Sendable {
    /// A longer line costs one more for each further piece of this many bytes, as parsing it takes more time.
    static let pieceByteCount = 1024

    private let limit: RateLimit?
    private var bucket = TokenBucket()

    /// - Parameter limit: `nil` for no limit.
    init(limit: RateLimit?) { self.limit = limit }

    /// When the allowance will be whole again; in the past if it is.
    var fullAt: MonotonicInstant { bucket.fullAt }

    /// Begins with the allowance of an earlier connection.
    mutating func begin(fullAt: MonotonicInstant) { bucket = TokenBucket(fullAt: max(fullAt, bucket.fullAt)) }

    /// As how many lines a line of this size counts.
    static func lineCount(of byteCount: Int) -> Int { 1 + byteCount / pieceByteCount }

    /// Charges lines that the server has handled. The further frames of a message count as lines, too: the library
    /// handles each by itself.
    ///
    /// - Returns: when to handle the next line; `nil` for at once.
    mutating func charge(lineCount: Int, now: MonotonicInstant) -> MonotonicInstant? {
        guard let limit else { return nil }
        return bucket.overdraw(lineCount, limit, now: now)
    }
}

extension RateLimit {
    /// The rate of all lines that the signal rate does not count (WIRE-15). The burst is small, since a client may have
    /// it on each of several connections at once.
    public static let standardInput = RateLimit(perSecond: 200, burst: 200)
}
