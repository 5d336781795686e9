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
        case connecting(RequestID, ConnectRequest, until: MonotonicInstant)
        /// In the session. Next: `reconnecting`, `disconnecting`, `disconnected`.
        case connected(Link, lastHeard: MonotonicInstant)
        /// The socket is lost, and the connection is to go on. Next: `connected`, `disconnected`.
        case reconnecting(Link, Comeback)
        /// `disconnect` has been sent; the server's close ends it. Next: `disconnected`.
        case disconnecting(until: MonotonicInstant)
    }

    /// What the last `connected` said that is needed to stay, and to come back.
    struct Link {
        let request: ConnectRequest
        let offer: ResumeOffer
        let heartbeat: Duration

        /// How long it is worth trying (RES-13).
        var patience: Duration { max(offer.resumeWindow, offer.recoveryWindow) }
    }

    /// The way back.
    struct Comeback {
        enum Stage {
            case waiting(until: MonotonicInstant)
            case opening(until: MonotonicInstant)
            case connecting(RequestID, until: MonotonicInstant)

            var until: MonotonicInstant {
                switch self {
                case .waiting(let until), .opening(let until), .connecting(_, let until): until
                }
            }
        }

        var stage: Stage
        /// Attempts that came to nothing.
        var failures = 0
        let giveUpAt: MonotonicInstant

        /// Closes the socket of an attempt, if there is one.
        var closeForGood: [Effect] {
            switch stage {
            case .waiting: []
            case .opening, .connecting: [.closeSocket(code: 1000)]
            }
        }
    }

    enum Input {
        case connect(ConnectRequest)
        case signal(SignalRequest, CallID, retriesAfterReconnect: Bool = true)
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
        /// Back in the session as another connection (RES-2).
        case connectionReplaced(Welcome)
        case callSucceeded(CallID, Seq?)
        case callFailed(CallID, SignalingError)
        case emit(SessionEvent)
    }

    /// Names a call of the application that waits for its answer.
    struct CallID: Hashable { var rawValue: UInt64 }

    /// How long the server may take from an open socket to `connected`, and from `disconnect` to its close.
    static let answerTimeout = Duration.seconds(15)

    private(set) var phase = Phase.disconnected
    private(set) var connection: Connection?
    private var peers: [ConnectionID: Connection] = [:]
    /// The last seq that was seen, and the order it belongs to: what a resume needs.
    private(set) var position: (epoch: Epoch, seq: Seq)?
    private var pending = PendingRequests()
    private var lastRequest = RequestID(0)
    /// What the server gave as the reason before the close that ends the connection.
    private var farewell: DisconnectReason?
    private let random: () -> Double

    /// - Parameter random: a new number from 0 up to 1 at each call.
    init(random: @escaping () -> Double) {
        self.random = random
    }

    /// When `advance` has to be called at the latest.
    var nextDeadline: MonotonicInstant? {
        switch phase {
        case .disconnected, .opening: nil
        case .connecting(_, _, let until), .disconnecting(let until): until
        // HB-3: silence of two heartbeats is a loss.
        case .connected(let link, let lastHeard): lastHeard.advanced(by: link.heartbeat * 2)
        case .reconnecting(_, let comeback): min(comeback.stage.until, comeback.giveUpAt)
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
            return [.closeSocket(code: Self.lostCode)] + lose(now)
        case .reconnecting(let link, var comeback):
            if now >= comeback.giveUpAt { return comeback.closeForGood + end(.networkDisconnected) }
            switch comeback.stage {
            case .waiting:
                comeback.stage = .opening(until: now.advanced(by: Self.answerTimeout))
                phase = .reconnecting(link, comeback)
                return [.openSocket]
            case .opening, .connecting:
                return [.closeSocket(code: Self.lostCode)] + attemptFailed(link, comeback, now)
            }
        case .disconnecting:
            return [.closeSocket(code: 1000)] + end(.clientDisconnected)
        }
    }

    /// Says that the socket is given up, and not the connection: 1000 would be leaving (PRES-2).
    private static let lostCode: UInt16 = 4001

    mutating func handle(_ input: Input, now: MonotonicInstant) -> [Effect] {
        switch input {
        case .connect(let request): connect(request)
        case .signal(let request, let call, let retries):
            self.request(call, .signal(request, retriesAfterReconnect: retries))
        case .forceDisconnect(let target, let call): self.request(call, .forceDisconnect(target))
        case .disconnect: disconnect(now)
        case .socketOpened: socketOpened(now)
        case .received(let message): received(message, now)
        case .receivedMalformed(let error): receivedMalformed(error, now)
        case .socketClosed(let code): socketClosed(code, now)
        case .socketFailed(let error): socketFailed(error, now)
        }
    }

    private mutating func nextRequest() -> RequestID {
        lastRequest = lastRequest.next
        return lastRequest
    }

    // MARK: - What the application wants

    private mutating func connect(_ request: ConnectRequest) -> [Effect] {
        guard case .disconnected = phase else {
            return [.connectFailed(SignalingError(.illegalState, "already connected or connecting"))]
        }
        farewell = nil
        phase = .opening(request)
        return [.openSocket]
    }

    private mutating func request(_ call: CallID, _ content: PendingRequests.Content) -> [Effect] {
        switch phase {
        case .connected: break
        case .reconnecting where content.survivesLoss: break
        case .reconnecting:
            return [.callFailed(call, SignalingError(.notConnected, "the connection is lost at the moment"))]
        case .disconnected, .opening, .connecting, .disconnecting:
            return [.callFailed(call, SignalingError(.notConnected, "not connected to the session"))]
        }
        guard !pending.isFull else {
            return [.callFailed(call, SignalingError(.rateLimited, "too many requests are waiting for an answer"))]
        }
        pending.append(content, for: call)
        return sendNext()
    }

    /// Sends what may be sent.
    private mutating func sendNext() -> [Effect] {
        guard case .connected = phase else { return [] }
        return pending.takeNext(after: &lastRequest).map { .send($0) }
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
        case .reconnecting(_, let comeback):
            return comeback.closeForGood + end(.clientDisconnected)
        }
    }

    // MARK: - What the socket says

    private mutating func socketOpened(_ now: MonotonicInstant) -> [Effect] {
        let until = now.advanced(by: Self.answerTimeout)
        switch phase {
        case .opening(let request):
            let id = nextRequest()
            phase = .connecting(id, request, until: until)
            return [.send(.connect(id, request))]
        case .reconnecting(let link, var comeback):
            guard case .opening = comeback.stage, let connection, let position else {
                return [.closeSocket(code: Self.lostCode)]
            }
            let id = nextRequest()
            comeback.stage = .connecting(id, until: until)
            phase = .reconnecting(link, comeback)
            var request = link.request
            request.resume = ResumeRequest(
                connectionId: connection.connectionId, secret: link.offer.secret, epoch: position.epoch,
                after: position.seq)
            return [.send(.connect(id, request))]
        case .disconnected, .connecting, .connected, .disconnecting:
            return [.closeSocket(code: 1000)]
        }
    }

    private mutating func received(_ message: ServerMessage, _ now: MonotonicInstant) -> [Effect] {
        if case .connected(let link, _) = phase { phase = .connected(link, lastHeard: now) }
        switch message {
        case .connected(let id, let welcome):
            switch phase {
            case .connecting(id, let request, _): return entered(welcome, request, now)
            case .reconnecting(let link, let comeback):
                guard case .connecting(id, _) = comeback.stage else { return [] }
                return cameBack(welcome, link, now)
            case .disconnected, .opening, .connecting, .connected, .disconnecting: return []
            }
        case .ack(let id, let seq):
            if let seq { note(seq) }
            return pending.answer(id).map { [.callSucceeded($0, seq)] + sendNext() } ?? []
        case .error(let id, let error): return refused(id, error, now)
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
        case .disconnected(let reason, let reconnect): return dismissed(reason, reconnect, now)
        case .ping(let seq):
            note(seq)
            return [.send(.pong)]
        }
    }

    /// The server sends this client away (LEAVE-4). Its close ends the connection; if coming back makes sense there is nothing to
    /// wait for.
    private mutating func dismissed(
        _ reason: DisconnectReason, _ reconnect: Reconnect, _ now: MonotonicInstant
    ) -> [Effect] {
        let wait: Duration?
        switch reconnect {
        case .never:
            farewell = reason
            return []
        case .yes: wait = nil
        case .after(let time): wait = time
        }
        switch phase {
        case .connected: return [.closeSocket(code: Self.lostCode)] + lose(now, firstWait: wait)
        case .reconnecting(let link, let comeback):
            return [.closeSocket(code: Self.lostCode)] + attemptFailed(link, comeback, now, wait: wait)
        case .disconnected, .opening, .connecting, .disconnecting: return []
        }
    }

    private mutating func refused(_ id: RequestID?, _ error: SignalingError, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .connecting(let connect, _, _) where id == connect:
            return fail(error) + [.closeSocket(code: 1000)]
        case .reconnecting(let link, let comeback):
            guard case .connecting(let connect, _) = comeback.stage, id == connect else { return [] }
            return error.isRetryable
                ? [.closeSocket(code: Self.lostCode)] + attemptFailed(link, comeback, now)
                : [.closeSocket(code: 1000)] + end(.networkDisconnected)
        case .disconnected, .opening, .connecting, .connected, .disconnecting:
            guard let id, let call = pending.answer(id) else { return [] }
            return [.callFailed(call, error)] + sendNext()
        }
    }

    private mutating func receivedMalformed(_ error: SignalingError, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .opening, .connecting:
            fail(error) + [.closeSocket(code: 1002)]
        case .connected, .disconnecting, .reconnecting:
            [.closeSocket(code: 1002)] + end(.networkDisconnected)
        case .disconnected: []
        }
    }

    private mutating func socketClosed(_ code: UInt16?, _ now: MonotonicInstant) -> [Effect] {
        let mayReturn = Self.mayReturn(after: code)
        switch phase {
        case .disconnected: return []
        case .opening, .connecting:
            return fail(
                SignalingError(.connectFailed, "the server closed the connection\(code.map { " (\($0))" } ?? "")"))
        case .connected:
            if let farewell { return end(farewell) }
            return mayReturn ? lose(now) : end(code == 4502 ? .forceDisconnected : .networkDisconnected)
        case .reconnecting(let link, let comeback):
            if let farewell { return end(farewell) }
            return mayReturn
                ? attemptFailed(link, comeback, now) : end(code == 4502 ? .forceDisconnected : .networkDisconnected)
        case .disconnecting: return end(.clientDisconnected)
        }
    }

    private mutating func socketFailed(_ error: SignalingError, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .opening, .connecting: fail(error)
        case .connected: lose(now)
        case .reconnecting(let link, let comeback): attemptFailed(link, comeback, now)
        case .disconnecting: end(.clientDisconnected)
        case .disconnected: []
        }
    }

    /// CLOSE-1.
    private static func mayReturn(after code: UInt16?) -> Bool {
        switch code ?? 1006 {
        case 1001, 1005, 1006, 1012, 1013, 1014, 4000..<4500: true
        default: false
        }
    }

    // MARK: - In the session

    private mutating func entered(
        _ welcome: Welcome, _ request: ConnectRequest, _ now: MonotonicInstant
    ) -> [Effect] {
        take(welcome, request, now)
        return [.connectSucceeded(welcome)]
    }

    private mutating func take(_ welcome: Welcome, _ request: ConnectRequest, _ now: MonotonicInstant) {
        phase = .connected(
            Link(request: request, offer: welcome.resume, heartbeat: welcome.heartbeat), lastHeard: now)
        farewell = nil
        if welcome.outcome == .resumed, let position {
            // Whatever the server repeats from further back has been seen (G3).
            self.position = (welcome.epoch, max(position.seq, welcome.seq))
            return
        }
        position = (welcome.epoch, welcome.seq)
        connection = welcome.connection
        peers = Dictionary(
            welcome.connections.map { ($0.connectionId, $0) }, uniquingKeysWith: { _, last in last })
        peers[welcome.connection.connectionId] = welcome.connection
    }

    /// RES-2, as the client sees it.
    private mutating func cameBack(_ welcome: Welcome, _ link: Link, _ now: MonotonicInstant) -> [Effect] {
        let before = peers
        let ownID = connection?.connectionId
        take(welcome, link.request, now)
        switch welcome.outcome {
        case .resumed:
            let waiting = pending.repeated.map { Effect.send($0) } + sendNext()
            // RES-6: to be heard at once on this socket ends the time in which an older attempt, or the older secret, could
            // take the connection away from it.
            return [.emit(.reconnected(.resumed))] + (waiting.isEmpty ? [.send(.pong)] : waiting)
        case .new, .recovered, .lost:
            // A server that knows nothing of resuming says "new", and means that something may be missing.
            let outcome: Welcome.Outcome = welcome.outcome == .recovered ? .recovered : .lost
            let gone = before.values.filter { $0.connectionId != ownID && peers[$0.connectionId] == nil }
            let came = peers.values.filter {
                $0.connectionId != connection?.connectionId && before[$0.connectionId] == nil
            }
            return [.connectionReplaced(welcome)]
                + gone.sorted { $0.creationTime < $1.creationTime }
                .map { .emit(.connectionDestroyed($0, .networkDisconnected)) }
                + came.sorted { $0.creationTime < $1.creationTime }.map { .emit(.connectionCreated($0)) }
                + [.emit(.reconnected(outcome))]
                + pending.removeSent().map { .callFailed($0, Self.unknownFate) }
                + sendNext()
        }
    }

    private mutating func note(_ seq: Seq) {
        if let position, seq > position.seq { self.position = (position.epoch, seq) }
    }

    /// G3: what has been seen is not seen again. Online-only signals have no place in the order.
    private mutating func isNew(_ seq: Seq?) -> Bool {
        switch phase {
        case .connected, .disconnecting: break
        case .disconnected, .opening, .connecting, .reconnecting: return false
        }
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

    // MARK: - Losses and endings

    private static var unknownFate: SignalingError {
        SignalingError(.notConnected, "the connection was lost before the server answered")
    }

    /// The socket is gone, the connection not yet.
    private mutating func lose(_ now: MonotonicInstant, firstWait: Duration? = nil) -> [Effect] {
        guard case .connected(let link, _) = phase, link.patience > .zero else { return end(.networkDisconnected) }
        farewell = nil
        let wait = firstWait ?? ReconnectPolicy.wait(attempt: 0, random: random())
        phase = .reconnecting(
            link,
            Comeback(stage: .waiting(until: now.advanced(by: wait)), giveUpAt: now.advanced(by: link.patience)))
        return pending.removePerishable().map { .callFailed($0, Self.unknownFate) } + [.emit(.reconnecting)]
    }

    private mutating func attemptFailed(
        _ link: Link, _ comeback: Comeback, _ now: MonotonicInstant, wait: Duration? = nil
    ) -> [Effect] {
        // The late end of a socket that was given up already.
        if case .waiting = comeback.stage { return [] }
        var comeback = comeback
        comeback.failures += 1
        let wait = wait ?? ReconnectPolicy.wait(attempt: comeback.failures, random: random())
        comeback.stage = .waiting(until: now.advanced(by: wait))
        phase = .reconnecting(link, comeback)
        return []
    }

    /// A connect that came to nothing.
    private mutating func fail(_ error: SignalingError) -> [Effect] {
        phase = .disconnected
        return [.connectFailed(error)]
    }

    /// The connection is over: who still waits for an answer is told that none will come, then everybody that it ended.
    private mutating func end(_ reason: DisconnectReason) -> [Effect] {
        phase = .disconnected
        connection = nil
        peers = [:]
        position = nil
        return pending.removeAll().map { .callFailed($0, Self.unknownFate) } + [.emit(.disconnected(reason))]
    }
}
