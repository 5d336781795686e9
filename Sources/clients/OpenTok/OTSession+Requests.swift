import Locking
import SignalingClient

// Signals and forced disconnects.
extension OTSession {
    /// Sends a signal to one connection, or with `nil` to all of them, the sender included. An empty type means no
    /// type.
    ///
    /// Errors at once: 1413 for a string over 8192 UTF-16 units; 1461 for a type over 128 characters, or with
    /// characters other than letters, digits and `-._~`; 1010 if the session is not connected; 1550 if 10,000 requests
    /// wait for their answers. Errors later: 1011 if the connection is not in the session, 1550 if the token does not
    /// permit signals or there are too many of them, 1010 if the session reconnects as a new connection before it has
    /// the answer.
    public func signal(withType type: String?, string: String?, connection: OTConnection?, error: OTErrorPointer?) {
        signal(withType: type, string: string, connection: connection, retryAfterReconnect: true, error: error)
    }

    /// Sends a signal. With `retryAfterReconnect` the signal waits while the session is reconnecting, and is delivered
    /// once. Without it, the signal fails with 1010: at once while reconnecting, or later if the socket is lost before
    /// the answer.
    public func signal(
        withType type: String?, string: String?, connection: OTConnection?, retryAfterReconnect: Bool,
        error: OTErrorPointer?
    ) {
        error?.pointee = nil
        let request = SignalRequest(type: type, data: string, to: connection.map { ConnectionID($0.connectionId) })
        do throws(SignalingError) {
            try SignalRequest(data: request.data, to: request.to).validate()
        } catch let refusal {
            error?.pointee = OTError(refusal)
            return
        }
        do throws(SignalingError) {
            try request.validate()
        } catch let refusal {
            // Only a fault of the type is left. OpenTok's iOS library has one code for all of them.
            error?.pointee = OTError(.sessionInvalidSignalType, refusal.message)
            return
        }
        start(error, whileReconnecting: retryAfterReconnect) { channel, completion in
            channel.send(request, retryAfterReconnect: retryAfterReconnect, completion: completion)
        }
    }

    /// Forces another client to disconnect.
    ///
    /// Errors at once: 1010 if the session is not connected, 1520 without the token of a moderator, 1550 if 10,000
    /// requests wait for their answers. Error later: 1011 if the connection is not in the session.
    public func forceDisconnect(_ connection: OTConnection, error: OTErrorPointer?) {
        error?.pointee = nil
        if let capabilities, !capabilities.canForceDisconnect {
            error?.pointee = OTError(
                .sessionUnableToForceDisconnect,
                "only a moderator may end other connections; use a token with the role moderator")
            return
        }
        let id = ConnectionID(connection.connectionId)
        start(error, whileReconnecting: true) { channel, completion in
            channel.forceDisconnect(id, completion: completion)
        }
    }

    /// Starts a request, and reports its refusal to the delegate.
    private func start(
        _ error: OTErrorPointer?, whileReconnecting: Bool,
        _ send: (Session, @escaping Session.Completion<Seq?>) -> Void
    ) {
        let admission: Result<(channel: Session, attempt: Int), OTError> = state.withLock { state in
            guard state.status == .connected || (whileReconnecting && state.hasConnection), let channel = state.channel
            else {
                return .failure(.notConnected)
            }
            guard state.waitingCount < Self.waitingLimit else {
                return .failure(
                    OTError(
                        .sessionUnableToSendSignal,
                        "\(Self.waitingLimit) requests are waiting for an answer; try again later"))
            }
            state.waitingCount += 1
            return .success((channel, state.attempt))
        }
        switch admission {
        case .failure(let refusal): error?.pointee = refusal
        case .success(let (channel, attempt)):
            send(channel) { [weak self] result in
                guard let self else { return }
                state.withLock { $0.waitingCount -= 1 }
                // The end of the whole connection is reported in place of these.
                if case .failure(let refusal) = result, refusal.code != .notConnected || channel.isConnected {
                    onAPIQueue { $0.refused(refusal, attempt) }
                }
            }
        }
    }
}
