import SignalingProtocol

/// Events of the socket, except for messages.
extension ClientState {
    mutating func socketOpened() -> [Effect] {
        arriving = nil
        switch phase {
        case .opening(let request, let until):
            let id = nextRequest()
            phase = .connecting(request, id, until: until)
            return [.send(.connect(id, request.takingPages))]
        case .reconnecting(let terms, let reconnection):
            guard case .opening(let until) = reconnection.step, let view else { return [] }
            let id = nextRequest()
            phase = .reconnecting(terms, reconnection.connecting(id, until: until))
            var request = terms.request
            request.resume = ResumeRequest(
                connectionId: view.connection.connectionId, secret: terms.offer.secret, epoch: view.epoch,
                after: view.seq)
            return [.send(.connect(id, request.takingPages))]
        case .disconnected, .connecting, .connected, .disconnecting: return []
        }
    }

    mutating func socketClosed(_ code: UInt16?, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected: return []
        case .opening, .connecting:
            let detail = code.map { " (close code \($0))" } ?? ""
            return failConnect(SignalingError(.connectFailed, "the server closed the connection\(detail)"))
        case .connected:
            return ReconnectPolicy.mayReconnect(after: code) ? loseSocket(now) : end(ReconnectPolicy.reason(for: code))
        case .reconnecting(_, let reconnection):
            guard reconnection.isTrying else { return [] }
            return ReconnectPolicy.mayReconnect(after: code)
                ? attemptFailed(now) : end(ReconnectPolicy.reason(for: code))
        case .disconnecting: return end(.clientDisconnected)
        }
    }

    mutating func socketFailed(_ error: SignalingError, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .opening, .connecting: failConnect(error)
        case .disconnected, .connected, .reconnecting, .disconnecting: socketClosed(nil, now)
        }
    }
}

extension ConnectRequest {
    /// The same request of a client that takes the list of connections in pages (CON-11).
    fileprivate var takingPages: ConnectRequest {
        var request = self
        request.connectionPages = true
        return request
    }
}
