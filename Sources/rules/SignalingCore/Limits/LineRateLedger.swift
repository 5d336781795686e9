import SignalingProtocol

/// The least allowance of lines that a connection with each token has left (WIRE-15).
///
/// A new connection begins with the allowance of its token here, so a client does not reset its rate by
/// connecting again, beside its earlier connection or after it. An allowance that is whole again is forgotten.
package struct LineRateLedger {
    private static let smallestSweep = 1024

    /// When the allowance of a token is whole again.
    private var moments: [TokenDigest: MonotonicInstant] = [:]
    private var sweepAt = smallestSweep

    package init() {}

    /// The number of tokens in memory.
    package var count: Int { moments.count }

    /// A connection with this token is over its rate, or has ended.
    ///
    /// - Parameter fullAt: when its allowance is whole again.
    package mutating func note(_ token: TokenDigest, fullAt: MonotonicInstant, now: MonotonicInstant) {
        guard fullAt > now else { return }
        sweep(now)
        moments[token] = max(fullAt, moments[token] ?? fullAt)
    }

    /// When the allowance of a new connection with this token is whole; nil if it is.
    package mutating func fullAt(_ token: TokenDigest, now: MonotonicInstant) -> MonotonicInstant? {
        guard let moment = moments[token] else { return nil }
        if moment > now { return moment }
        moments[token] = nil
        return nil
    }

    /// Forgets tokens whose allowances are whole. The cost is constant per call in the long run.
    private mutating func sweep(_ now: MonotonicInstant) {
        guard moments.count >= sweepAt else { return }
        moments = moments.filter { $0.value > now }
        sweepAt = max(Self.smallestSweep, moments.count * 2)
    }
}
