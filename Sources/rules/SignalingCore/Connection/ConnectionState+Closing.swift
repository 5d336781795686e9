import SignalingProtocol

/// The ends of a connection: by the server, by the session, by the socket.
extension ConnectionState {
    /// Closes the socket from the server's side. If the client may come back, the session waits for it (RES-10);
    /// otherwise peers see `networkDisconnected`, since the client did not choose to leave.
    mutating func close(_ reason: CloseReason) -> [Effect] {
        switch phase {
        case .closing:
            return []
        case .connected(let connected):
            phase = .closing
            let binding = connected.binding
            return [
                .submit(
                    reason.shouldReconnect ? .detach(binding) : .leave(binding, .networkDisconnected),
                    connected.session, nil),
                .send(.disconnected(.networkDisconnected, reason.reconnect)), .close(reason, .drop),
            ]
        case .joining(_, let joining, _):
            phase = .closing
            return cancelJoin(joining, .networkDisconnected) + [.close(reason, .drop)]
        case .leaving:
            phase = .closing
            return [.close(reason, reason == .normal ? .deliver : .drop)]
        case .awaitingConnect, .authenticating:
            phase = .closing
            return [.close(reason, .drop)]
        }
    }

    /// Closes the socket of a stopping server, without a command to the session that would remove a connection
    /// (``Input/serverStops(returnAfter:)``).
    mutating func closeStopping(returnAfter wait: Duration) -> [Effect] {
        switch phase {
        case .closing:
            return []
        case .awaitingConnect, .authenticating, .connected:
            phase = .closing
            return [.send(.disconnected(.networkDisconnected, .after(wait))), .close(.goingAway, .drop)]
        case .joining(_, let joining, _):
            return postpone(joining, returnAfter: wait)
        case .leaving:
            // The client has sent `disconnect`, and does not come back.
            phase = .closing
            return [.close(.goingAway, .drop)]
        }
    }

    /// Closes the socket of a client whose join the session has not answered. The client is to try again later.
    ///
    /// - Parameter cancels: false if the session will never carry out the join.
    mutating func postpone(_ joining: Joining, returnAfter wait: Duration, cancels: Bool = true) -> [Effect] {
        phase = .closing
        return (cancels ? cancelJoin(joining, .networkDisconnected) : [])
            + [.send(.disconnected(.networkDisconnected, .after(wait))), .close(.goingAway, .drop)]
    }

    /// The session has ended the connection: only the socket is left to close.
    mutating func closeEnded(_ reason: DisconnectReason, ban: Restriction?) -> [Effect] {
        switch phase {
        case .connected, .leaving:
            phase = .closing
            let close: CloseReason = reason == .forceDisconnected ? .forceDisconnected : .goingAway
            return [.send(.disconnected(reason, close.reconnect, ban: ban)), .close(close, .drop)]
        case .awaitingConnect, .authenticating, .joining, .closing: return []
        }
    }

    /// The connection continues on a newer socket (RES-8). The client may come back: an attempt that it has given up
    /// may have taken the connection over.
    mutating func closeSuperseded() -> [Effect] {
        switch phase {
        case .connected: return endSuperseded()
        case .awaitingConnect, .authenticating, .joining, .leaving, .closing: return []
        }
    }

    mutating func endSuperseded() -> [Effect] {
        phase = .closing
        return [
            .send(.disconnected(.networkDisconnected, CloseReason.superseded.reconnect)),
            .close(.superseded, .drop),
        ]
    }

    /// PRES-2: the close codes 1000, 1001 and 1005 (none) mean that the client left by itself. Any other end is a loss.
    mutating func socketClosed(_ code: UInt16?) -> [Effect] {
        defer { phase = .closing }
        let isLeaving =
            switch code {
            case CloseReason.normal.rawValue, CloseReason.goingAway.rawValue, StandardCloseCode.noStatus: true
            default: false
            }
        switch phase {
        case .connected(let connected):
            let binding = connected.binding
            return [
                .submit(isLeaving ? .leave(binding, .clientDisconnected) : .detach(binding), connected.session, nil)
            ]
        case .joining(_, let joining, _):
            return cancelJoin(joining, isLeaving ? .clientDisconnected : .networkDisconnected)
        case .awaitingConnect, .authenticating, .leaving, .closing:
            return []
        }
    }
}
