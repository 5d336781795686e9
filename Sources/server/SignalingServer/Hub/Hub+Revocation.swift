import SignalingCore
import SignalingProtocol
import SignalingTokens

/// Connections whose tokens were revoked (TOK-10).
extension Hub {
    /// The pause between two looks at all sockets. Otherwise a backend that revokes a thousand tokens a second would stop
    /// the loop, while nobody waits for a tenth of a second.
    private static var revocationPause: Duration { .milliseconds(100) }

    /// The verifier refuses other tokens than before: ends the connections of those that it refuses now.
    func endRevoked() {
        let now = environment.now
        guard let next = nextRevocationCheck, now < next else { return checkRevocations() }
        timers?.revocation.schedule(at: next)
    }

    func checkRevocations() {
        nextRevocationCheck = environment.now.advanced(by: Self.revocationPause)
        let revoked = peers.values.filter { peer in
            guard let key = peer.joinKey, let token = peer.token else { return false }
            return verifier.isRevoked(token, of: key.project)
        }
        for peer in revoked { handle(.mustClose(.tokenExpired), for: peer) }
    }
}
