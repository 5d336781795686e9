import SignalingProtocol

/// The life of the device: its networks, and an app that goes to the background. The browser library has the same
/// rules in `web-test-client/client/client-page.js`.
extension ClientState {
    mutating func networkBack(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected, .opening, .connecting, .disconnecting: return []
        case .connected:
            checkSocket(now)
            return []
        case .reconnecting(_, let reconnection):
            switch reconnection.step {
            case .waiting: return now < reconnection.giveUpAt ? startAttempt(now) : []
            // A wait that the server has asked for is kept: the server spreads the returns of its clients.
            case .postponed, .suspended, .opening, .connecting: return []
            }
        }
    }

    /// The system stops an app in the background, and its socket with it. The client ends the socket itself, so that
    /// the server notices the loss now, and sends nothing into a socket that nobody reads.
    ///
    /// A first connect goes on: the program waits for its answer, and 15 s bound it.
    mutating func suspended(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected, .opening, .connecting, .disconnecting: return []
        case .connected(let terms, _):
            // Without a way back the socket stays as long as the system lets it.
            guard terms.reconnectWindow > .zero else { return [] }
            let effects = [.closeSocket(.heartbeatMissed)] + loseSocket(now)
            suspendReconnection()
            return effects
        case .reconnecting(_, let reconnection):
            suspendReconnection()
            return reconnection.leaveAttempt(.heartbeatMissed)
        }
    }

    mutating func awake(_ now: MonotonicInstant) -> [Effect] {
        guard case .reconnecting(let terms, let reconnection) = phase,
            case .suspended(let notBefore) = reconnection.step
        else { return networkBack(now) }
        let giveUpAt = now.advanced(by: terms.reconnectWindow)
        phase = .reconnecting(terms, reconnection.awake(notBefore: notBefore ?? now, giveUpAt: giveUpAt))
        return advance(to: now)
    }

    private mutating func suspendReconnection() {
        if case .reconnecting(let terms, let reconnection) = phase {
            phase = .reconnecting(terms, reconnection.suspended)
        }
    }

    /// The socket may not have survived the pause. An overdue ping has little time left.
    private mutating func checkSocket(_ now: MonotonicInstant) {
        guard case .connected(let terms, let silentUntil) = phase,
            now.advanced(by: terms.heartbeat) > silentUntil
        else { return }
        phase = .connected(terms, silentUntil: min(silentUntil, now.advanced(by: Self.checkTime)))
    }
}
