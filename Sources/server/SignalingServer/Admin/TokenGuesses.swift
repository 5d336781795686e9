import SignalingProtocol
import SignalingTransport

/// Decides whether a token for the admin listener counts, so that nobody can guess it quickly.
///
/// An address that has sent too many wrong tokens gets no answer to its next one, right or wrong. Other addresses do not
/// notice, and neither does a connection that has shown the right token before.
struct TokenGuesses {
    enum Verdict: String, CaseIterable {
        case right
        case wrong
        /// The server does not say whether the token is right.
        case tooMany
    }

    /// Wrong tokens of one address: in the long run, and at once after a pause.
    static let limit = RateLimit(perSecond: 1, burst: 10)
    private static let smallestSweep = 1024
    private static let knownLimit = 256

    private var allowances: [PeerAddress: TokenBucket] = [:]
    private var sweepAt = smallestSweep
    /// The connections that have shown the right token. The listener has fewer at a time.
    private var known: Set<UInt64> = []

    /// The number of addresses in memory: those of the last ten seconds, or of less than twice as many.
    var addressCount: Int { allowances.count }

    /// - Parameter address: a prefix, since one user may have a whole IPv6 network.
    mutating func verdict(
        isRight: Bool, from address: PeerAddress, on connection: UInt64, now: MonotonicInstant
    ) -> Verdict {
        if isRight, known.contains(connection) { return .right }
        var allowance = allowances[address] ?? TokenBucket()
        guard allowance.consume(Self.limit, now: now) else { return .tooMany }
        if isRight {
            if known.count >= Self.knownLimit { known.removeAll() }
            known.insert(connection)
            return .right
        }
        allowances[address] = allowance
        sweep(now)
        return .wrong
    }

    /// Forgets addresses whose allowance is full again. The cost is constant per call in the long run.
    private mutating func sweep(_ now: MonotonicInstant) {
        guard allowances.count >= sweepAt else { return }
        allowances = allowances.filter { $0.value.fullAt > now }
        sweepAt = max(Self.smallestSweep, allowances.count * 2)
    }
}
