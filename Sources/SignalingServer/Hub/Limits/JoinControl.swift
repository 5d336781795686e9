import SignalingCryptography
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// How many connections may be in sessions at a time.
struct JoinLimits: Sendable {
    var perProject = Int.max
    var perToken = Int.max
}

/// Counts the connections in sessions by project and by token, and decides whether another may join.
///
/// A pure value. One project's or one token's clients must not take every place of the server.
struct JoinControl {
    /// For whom a connection counts.
    struct Key: Hashable, Sendable {
        let project: APIKey
        let token: TokenDigest
    }

    /// Half of the SHA-256 of a token's signed content, so that the server keeps no token.
    struct TokenDigest: Hashable, Sendable {
        let high: UInt64
        private let low: UInt64

        /// - Parameter token: verified.
        init(of token: String) {
            (high, low) = HashFunction.sha256.digest(of: SignedContent.of(token)).withUnsafeBytes {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
        }
    }

    let limits: JoinLimits
    private var projects: [APIKey: Int] = [:]
    private var tokens: [TokenDigest: Int] = [:]

    init(limits: JoinLimits) { self.limits = limits }

    /// Why a further connection may not join; nil if it may.
    func refusal(of key: Key) -> Refusal? {
        if projects[key.project, default: 0] >= limits.perProject { return .project }
        if tokens[key.token, default: 0] >= limits.perToken { return .token }
        return nil
    }

    /// A connection is in its session.
    mutating func join(_ key: Key) {
        projects[key.project, default: 0] += 1
        tokens[key.token, default: 0] += 1
    }

    /// The connection's socket has left.
    mutating func leave(_ key: Key) {
        Self.decrement(key.project, in: &projects)
        Self.decrement(key.token, in: &tokens)
    }

    private static func decrement<ID: Hashable>(_ id: ID, in counts: inout [ID: Int]) {
        guard let count = counts[id] else { return }
        counts[id] = count > 1 ? count - 1 : nil
    }
}
