import Dispatch
import Locking
import SignalingClient

// Calls of the delegate, always on the `apiQueue`.
extension OTSession {
    /// Runs `body` on the `apiQueue` and waits for its end. So events wait in the client's stream, which has a limit,
    /// and not on the queue.
    func onAPIQueue(_ body: @escaping @Sendable (OTSession) -> Void) {
        apiQueue.async { body(self) }
    }

    func connectFailed(_ error: SignalingError) {
        let wasWanted = state.withLock { state in
            defer { state.end(state.status == .connecting ? .failed : .notConnected) }
            return state.status == .connecting
        }
        if wasWanted {
            delegate?.session(self, didFailWithError: OTError(error))
        } else {
            delegate?.sessionDidDisconnect(self, reason: .clientDisconnected)
        }
    }

    func connected(through channel: Session) {
        // The connection may have ended already. Then the next event reports it.
        let own = channel.connection
        let others = channel.connections.filter { $0.connectionId != own?.connectionId }
        let isConnected = state.withLock { state in
            guard state.status == .connecting, let own else { return false }
            state.status = .connected
            state.connection = OTConnection(own)
            state.capabilities = OTSessionCapabilities(channel.capabilities)
            return true
        }
        guard isConnected else { return }
        delegate?.sessionDidConnect(self)
        for other in others { introduce(other) }
    }

    /// Returns the connection of this peer, and reports it to the delegate unless that has happened.
    ///
    /// A signal introduces its sender only until the first late reconnect. The sender may not be in the list of
    /// connections that `connected(through:)` has read, since it left before; its departure is still to come. After a
    /// late reconnect all presence events come first, and no departure follows for the sender of a replayed signal (G7).
    @discardableResult
    private func introduce(_ peer: Connection, bySignal: Bool = false) -> OTConnection {
        let (connection, isNew) = state.withLock { state in
            if let own = state.connection, own.connectionId == peer.connectionId.rawValue { return (own, false) }
            if let known = state.peers[peer.connectionId] { return (known, false) }
            let connection = OTConnection(peer)
            guard state.hasConnection, !options.connectionEventsSuppressed, !(bySignal && state.knowsAllPeers) else {
                return (connection, false)
            }
            state.peers[peer.connectionId] = connection
            return (connection, true)
        }
        if isNew { delegate?.session(self, connectionCreated: connection) }
        return connection
    }

    private func isConnected(_ attempt: Int) -> Bool {
        state.withLock { $0.hasConnection && $0.attempt == attempt }
    }

    func refused(_ error: SignalingError, _ attempt: Int) {
        guard isConnected(attempt) else { return }
        delegate?.session(self, didFailWithError: OTError(error))
    }

    /// Forwards the events to the delegate. The session is not retained between two events, so that releasing it ends
    /// its connection.
    func follow(_ events: AsyncStream<SessionEvent>, _ attempt: Int) {
        Task { [weak self] in
            for await event in events {
                guard let self else { return }
                await withCheckedContinuation { done in
                    onAPIQueue { session in
                        session.handle(event, attempt)
                        done.resume()
                    }
                }
            }
        }
    }

    private func handle(_ event: SessionEvent, _ attempt: Int) {
        switch event {
        case .signal(let signal):
            guard isConnected(attempt) else { return }
            let sender = signal.from.map { introduce($0, bySignal: true) }
            guard isConnected(attempt) else { return }
            delegate?.session(self, receivedSignalType: signal.type, from: sender, with: signal.data)
        case .connectionCreated(let peer):
            guard isConnected(attempt) else { return }
            introduce(peer)
        case .connectionDestroyed(let peer, let reason):
            guard isConnected(attempt), let known = state.withLock({ $0.peers.removeValue(forKey: peer.connectionId) })
            else { return }
            delegate?.session(self, connectionDestroyed: known, reason: OTDisconnectReason(reason))
        case .connectionAway, .connectionBack, .history, .changed, .reactions, .reacted, .read, .erased, .userJoined,
            .userLeft, .moderated, .restricted, .unrestricted:
            break
        case .reconnecting:
            guard move(to: .reconnecting, attempt) else { return }
            delegate?.sessionDidBeginReconnecting(self)
        case .reconnected(let outcome, _):
            guard move(to: .connected, attempt) else { return }
            if outcome != .resumed { replaceConnection() }
            delegate?.sessionDidReconnect(self, outcome: OTReconnectOutcome(outcome))
        case .disconnected(let reason, _):
            ended(reason, reason == .networkDisconnected ? "the connection to the server was lost" : nil, attempt)
        case .overflowed:
            let channel = state.withLock { $0.attempt == attempt ? $0.channel : nil }
            channel?.beginDisconnect()
            ended(.networkDisconnected, "the delegate is too slow: too many events waited for it", attempt)
        }
    }

    /// Sets the status of the attempt's connection. False if there is none.
    private func move(to status: OTSessionConnectionStatus, _ attempt: Int) -> Bool {
        state.withLock { state in
            guard state.hasConnection, state.attempt == attempt else { return false }
            state.status = status
            return true
        }
    }

    /// After a late reconnection, ``connection`` is a new one. The delegate finds it in `sessionDidReconnect`.
    private func replaceConnection() {
        state.withLock { state in
            if let own = state.channel?.connection { state.connection = OTConnection(own) }
            state.knowsAllPeers = true
        }
    }

    private func ended(_ reason: DisconnectReason, _ loss: String?, _ attempt: Int) {
        let status: OTSessionConnectionStatus? = state.withLock { state in
            guard state.attempt == attempt else { return nil }
            defer { state.end(.notConnected) }
            return state.status
        }
        guard let status else { return }
        if let loss, status != .disconnecting {
            delegate?.session(self, didFailWithError: OTError(.connectionDropped, loss))
        }
        delegate?.sessionDidDisconnect(self, reason: OTDisconnectReason(reason))
    }
}
