import SignalingProtocol

/// Requests of the application.
extension ClientState {
    mutating func connect(_ request: ConnectRequest, _ now: MonotonicInstant) -> [Effect] {
        let ending: [Effect]
        switch phase {
        case .disconnected: ending = []
        // The old connection ends here, so that a program need not wait for its disconnect before it connects again.
        case .disconnecting: ending = [.closeSocket(.normal)] + end(.clientDisconnected)
        case .opening, .connecting, .connected, .reconnecting:
            return [.connectFailed(SignalingError(.illegalState, "already connected or connecting"))]
        }
        lastRequest = RequestID(0)
        phase = .opening(request, until: now.advanced(by: Self.answerTimeout))
        return ending + [.openSocket]
    }

    mutating func request(_ call: CallID, _ content: PendingRequests.Content) -> [Effect] {
        switch phase {
        case .connected: break
        case .reconnecting where content.isRepeatable: break
        case .reconnecting:
            return [Self.failure(of: .init(call: call, content: content), "the session is reconnecting")]
        case .disconnected, .opening, .connecting, .disconnecting:
            return [Self.failure(of: .init(call: call, content: content), "the session is not connected")]
        }
        guard !pending.isFull else {
            return [.callFailed(call, SignalingError(.rateLimited, "too many requests are waiting for an answer"))]
        }
        pending.append(content, for: call)
        return sendPending()
    }

    /// Sends the waiting requests, up to the limit of unanswered ones.
    mutating func sendPending() -> [Effect] {
        guard case .connected = phase else { return [] }
        return pending.startSending(after: &lastRequest).map { .send($0) }
    }

    mutating func disconnect(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected, .disconnecting:
            return []
        case .opening, .connecting:
            return [.closeSocket(.normal)]
                + failConnect(SignalingError(.connectFailed, "disconnected before the server answered"))
        case .connected:
            phase = .disconnecting(until: now.advanced(by: Self.answerTimeout))
            return [.send(.disconnect(nextRequest()))]
        case .reconnecting(_, let reconnection):
            // Without a connection the client cannot notify the server. The others see the departure after RES-12's
            // time.
            return reconnection.leaveAttempt(.normal) + end(.clientDisconnected)
        }
    }

    mutating func cancelConnect() -> [Effect] {
        switch phase {
        case .opening, .connecting:
            return [.closeSocket(.normal)]
                + failConnect(SignalingError(.connectFailed, "the connect was cancelled before the server answered"))
        case .disconnected, .connected, .reconnecting, .disconnecting: return []
        }
    }

    mutating func withdraw(_ call: CallID) -> [Effect] {
        guard let request = pending.remove(call) else { return [] }
        return [Self.failure(of: request, "the request was cancelled before it was sent")] + sendPending()
    }

    /// IDs increase over all sockets of a connection (RES-9).
    mutating func nextRequest() -> RequestID {
        lastRequest = lastRequest.next
        return lastRequest
    }
}
