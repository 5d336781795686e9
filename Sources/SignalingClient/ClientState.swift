import SignalingProtocol

/// A client's side of one connection, as rules: what the application wants and what the socket says goes in, with `now`;
/// what to do comes out.
struct ClientState {
    /// Where the client stands.
    enum Phase {
        /// No connection, and none wanted. Next: `opening`.
        case disconnected
        /// The socket is being opened. Next: `connecting`, `disconnected`.
        case opening(ConnectRequest)
        /// The connect has been sent. Next: `connected`, `disconnected`.
        case connecting(RequestID, until: MonotonicInstant)
        /// In the session. Next: `disconnecting`, `disconnected`; a resume will go from here to a phase of its own.
        case connected(heartbeat: Duration, lastHeard: MonotonicInstant)
        /// `disconnect` has been sent; the server's close ends it. Next: `disconnected`.
        case disconnecting(until: MonotonicInstant)
    }

    enum Input {
        case connect(ConnectRequest)
        case signal(SignalRequest, CallID)
        case forceDisconnect(ConnectionID, CallID)
        case disconnect
        case socketOpened
        case received(ServerMessage)
        /// The server said something that is not of this protocol.
        case receivedMalformed(SignalingError)
        /// The socket is gone; the close code if the server sent one.
        case socketClosed(code: UInt16?)
        /// The socket could not be opened.
        case socketFailed(SignalingError)
    }

    enum Effect {
        case openSocket
        case send(ClientMessage)
        case closeSocket(code: UInt16)
        case connectSucceeded(Welcome)
        case connectFailed(SignalingError)
        case callSucceeded(CallID, Seq?)
        case callFailed(CallID, SignalingError)
        case emit(SessionEvent)
    }

    /// Names a call of the application that waits for its answer.
    struct CallID: Hashable { var rawValue: UInt64 }

    /// How long the server may take from an open socket to `connected`, and from `disconnect` to its close.
    static let answerTimeout = Duration.seconds(15)

    /// Requests that may wait for their answers at a time (G5). A caller who awaits each one never comes near.
    static let waitingLimit = 10_000

    private(set) var phase = Phase.disconnected
    private(set) var connection: Connection?
    private var peers: [ConnectionID: Connection] = [:]
    /// The last seq that was seen, and the order it belongs to: what a resume will need.
    private(set) var position: (epoch: Epoch, seq: Seq)?
    private var waiting: [RequestID: CallID] = [:]
    private var lastRequest = RequestID(0)
    /// What the server gave as the reason before its close.
    private var announcedReason: DisconnectReason?

    /// When `advance` has to be called at the latest.
    var nextDeadline: MonotonicInstant? {
        switch phase {
        case .disconnected, .opening: nil
        case .connecting(_, let until), .disconnecting(let until): until
        // HB-3: silence of two heartbeats is a loss.
        case .connected(let heartbeat, let lastHeard): lastHeard.advanced(by: heartbeat * 2)
        }
    }

    mutating func advance(to now: MonotonicInstant) -> [Effect] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        switch phase {
        case .disconnected, .opening: return []
        case .connecting:
            return fail(SignalingError(.connectFailed, "the server did not answer the connect")) + [
                .closeSocket(code: 1000)
            ]
        case .connected:
            return [.closeSocket(code: 4001)] + end(.networkDisconnected)
        case .disconnecting:
            return [.closeSocket(code: 1000)] + end(.clientDisconnected)
        }
    }

    mutating func handle(_ input: Input, now: MonotonicInstant) -> [Effect] {
        switch input {
        case .connect(let request): connect(request)
        case .signal(let request, let call): self.request(call, now) { .signal($0, request) }
        case .forceDisconnect(let target, let call): self.request(call, now) { .forceDisconnect($0, target) }
        case .disconnect: disconnect(now)
        case .socketOpened: socketOpened(now)
        case .received(let message): received(message, now)
        case .receivedMalformed(let error): receivedMalformed(error)
        case .socketClosed(let code): socketClosed(code)
        case .socketFailed(let error): fail(error)
        }
    }

    private mutating func connect(_ request: ConnectRequest) -> [Effect] {
        guard case .disconnected = phase else {
            return [.connectFailed(SignalingError(.illegalState, "already connected or connecting"))]
        }
        announcedReason = nil
        phase = .opening(request)
        return [.openSocket]
    }

    private mutating func nextRequest() -> RequestID {
        lastRequest = RequestID(lastRequest.rawValue + 1)
        return lastRequest
    }

    private mutating func socketOpened(_ now: MonotonicInstant) -> [Effect] {
        guard case .opening(let request) = phase else { return [.closeSocket(code: 1000)] }
        let id = nextRequest()
        phase = .connecting(id, until: now.advanced(by: Self.answerTimeout))
        return [.send(.connect(id, request))]
    }

    private mutating func request(
        _ call: CallID, _ now: MonotonicInstant, message: (RequestID) -> ClientMessage
    ) -> [Effect] {
        guard case .connected = phase else {
            return [.callFailed(call, SignalingError(.notConnected, "not connected to the session"))]
        }
        guard waiting.count < Self.waitingLimit else {
            return [.callFailed(call, SignalingError(.rateLimited, "too many requests are waiting for an answer"))]
        }
        let id = nextRequest()
        waiting[id] = call
        return [.send(message(id))]
    }

    private mutating func disconnect(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected, .disconnecting:
            return []
        case .opening, .connecting:
            return fail(SignalingError(.connectFailed, "disconnected before the server answered"))
                + [.closeSocket(code: 1000)]
        case .connected:
            phase = .disconnecting(until: now.advanced(by: Self.answerTimeout))
            return [.send(.disconnect(nextRequest()))]
        }
    }

    private mutating func received(_ message: ServerMessage, _ now: MonotonicInstant) -> [Effect] {
        if case .connected(let heartbeat, _) = phase { phase = .connected(heartbeat: heartbeat, lastHeard: now) }
        switch message {
        case .connected(let id, let welcome):
            guard case .connecting(id, _) = phase else { return [] }
            phase = .connected(heartbeat: welcome.heartbeat, lastHeard: now)
            connection = welcome.connection
            peers = Dictionary(
                welcome.connections.map { ($0.connectionId, $0) }, uniquingKeysWith: { _, last in last })
            peers[welcome.connection.connectionId] = welcome.connection
            position = (welcome.epoch, welcome.seq)
            return [.connectSucceeded(welcome)]
        case .ack(let id, let seq):
            if let seq { note(seq) }
            return waiting.removeValue(forKey: id).map { [.callSucceeded($0, seq)] } ?? []
        case .error(let id, let error):
            if case .connecting(let connect, _) = phase, id == connect {
                return fail(error) + [.closeSocket(code: 1000)]
            }
            guard let id, let call = waiting.removeValue(forKey: id) else { return [] }
            return [.callFailed(call, error)]
        case .signal(let event):
            guard isNew(event.seq) else { return [] }
            return [.emit(.signal(signal(event)))]
        case .connectionCreated(let seq, let connection):
            guard isNew(seq) else { return [] }
            peers[connection.connectionId] = connection
            return [.emit(.connectionCreated(connection))]
        case .connectionDestroyed(let seq, let id, let reason):
            guard isNew(seq), let peer = peers.removeValue(forKey: id) else { return [] }
            return [.emit(.connectionDestroyed(peer, reason))]
        case .disconnected(let reason, _):
            announcedReason = reason
            return []
        case .ping(let seq):
            note(seq)
            return [.send(.pong)]
        }
    }

    private mutating func note(_ seq: Seq) {
        if let position, seq > position.seq { self.position = (position.epoch, seq) }
    }

    /// G3: what has been seen is not seen again. Online-only signals have no place in the order.
    private mutating func isNew(_ seq: Seq?) -> Bool {
        guard let position else { return false }
        guard let seq else { return true }
        guard seq > position.seq else { return false }
        self.position = (position.epoch, seq)
        return true
    }

    private func signal(_ event: SignalEvent) -> Signal {
        let from = event.from.map { id in
            peers[id] ?? event.sender
                // Its sender has left, or connection events are suppressed and the server is an older one.
                ?? Connection(connectionId: id, creationTime: WallTime(milliseconds: 0), data: "")
        }
        return Signal(
            type: event.type, data: event.data, from: from, seq: event.seq, isDirected: event.to != nil)
    }

    private mutating func receivedMalformed(_ error: SignalingError) -> [Effect] {
        switch phase {
        case .opening, .connecting:
            fail(error) + [.closeSocket(code: 1002)]
        case .connected, .disconnecting:
            [.closeSocket(code: 1002)] + end(.networkDisconnected)
        case .disconnected: []
        }
    }

    private mutating func socketClosed(_ code: UInt16?) -> [Effect] {
        switch phase {
        case .disconnected: []
        case .opening, .connecting:
            fail(SignalingError(.connectFailed, "the server closed the connection\(code.map { " (\($0))" } ?? "")"))
        case .connected: end(announcedReason ?? .networkDisconnected)
        case .disconnecting: end(.clientDisconnected)
        }
    }

    /// A connect that came to nothing.
    private mutating func fail(_ error: SignalingError) -> [Effect] {
        switch phase {
        case .opening, .connecting:
            phase = .disconnected
            return [.connectFailed(error)]
        case .connected, .disconnecting:
            return end(.networkDisconnected)
        case .disconnected:
            return []
        }
    }

    /// The connection is over: who still waits for an answer is told that none will come, then everybody that it ended.
    private mutating func end(_ reason: DisconnectReason) -> [Effect] {
        phase = .disconnected
        connection = nil
        peers = [:]
        position = nil
        let lost = SignalingError(.notConnected, "the connection was lost before the server answered")
        let failures = waiting.sorted { $0.key < $1.key }.map { Effect.callFailed($0.value, lost) }
        waiting = [:]
        return failures + [.emit(.disconnected(reason))]
    }
}
