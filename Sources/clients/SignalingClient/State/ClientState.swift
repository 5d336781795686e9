import SignalingProtocol

/// A client's side of one connection, as rules without a socket and without a clock: the application's requests and the
/// socket's events go in with `now`, and effects come out, in the order in which to execute them.
///
/// The browser library has the same machine in `web-test-client/client/client-state.js`: the same states,
/// effects and inputs, except for those of cancelled tasks, which JavaScript does not have. The scenarios in `Tests/Vectors/client` hold both to the same behaviour.
struct ClientState {
    enum Phase {
        /// No connection, and none wanted. Next: `opening`.
        case disconnected
        /// A socket is being opened. Next: `connecting`, `disconnected`.
        case opening(ConnectRequest, until: MonotonicInstant)
        /// The connect has been sent. Next: `connected`, `disconnected`.
        case connecting(ConnectRequest, RequestID, until: MonotonicInstant)
        /// In the session. Silence up to `silentUntil` is a loss (HB-3). Next: `reconnecting`, `disconnecting`,
        /// `disconnected`.
        case connected(Terms, silentUntil: MonotonicInstant)
        /// In the session, without a usable socket. Next: `connected`, `disconnected`.
        case reconnecting(Terms, Reconnection)
        /// `disconnect` has been sent. The server's `disconnected` or its close ends it. Next: `disconnected`,
        /// `opening`.
        case disconnecting(until: MonotonicInstant)
    }

    /// The terms of the last `connected` message: heartbeat, resuming and recovery.
    struct Terms {
        var request: ConnectRequest
        let offer: ResumeOffer
        let heartbeat: Duration

        /// How long after a loss the client tries to come back (RES-13). Zero: not at all.
        var reconnectWindow: Duration { max(offer.resumeWindow, offer.recoveryWindow) }

        /// When a server that was heard at `now`, and not since, counts as lost (HB-3).
        func silentUntil(from now: MonotonicInstant) -> MonotonicInstant {
            now.advanced(by: heartbeat * ClientState.silentHeartbeats)
        }
    }

    /// How long a connect or a reconnect attempt may take from opening the socket to `connected`, and how long the
    /// server may take from `disconnect` to its close.
    static let answerTimeout = Duration.seconds(15)

    /// HB-3: silence for this many heartbeats is a loss.
    static let silentHeartbeats = 2

    /// How much longer an overdue ping may take when the socket may be dead.
    static let checkTime = Duration.seconds(2)

    var phase = Phase.disconnected
    /// Present while connected, reconnecting or disconnecting.
    var view: SessionView?
    /// Present between a `connected` and the last page of its list (CON-11).
    var arriving: ArrivingWelcome?
    var absences = PeerAbsences()
    var pending = PendingRequests()
    var awaitedPage: AwaitedPage?
    var lastRequest = RequestID(0)
    private let random: () -> Double

    /// - Parameter random: a new number from 0 up to 1 at each call, for the jitter of reconnects (RES-13).
    init(random: @escaping () -> Double) {
        self.random = random
    }

    /// The client's own connection. It stays while the client reconnects.
    var connection: Connection? { view?.connection }

    /// The latest time for the next call of `advance`.
    var nextDeadline: MonotonicInstant? {
        switch phase {
        case .disconnected: nil
        case .opening(_, let until), .connecting(_, _, let until), .disconnecting(let until): until
        case .connected(_, let silentUntil): silentUntil
        case .reconnecting(_, let reconnection): reconnection.deadline
        }
    }

    mutating func handle(_ input: Input, now: MonotonicInstant) -> [Effect] {
        switch input {
        case .connect(let request): connect(request, now)
        case .signal(let request, let call, let retries):
            self.request(call, .signal(request, retriesAfterReconnect: retries))
        case .forceDisconnect(let target, let call): self.request(call, .forceDisconnect(target))
        case .refreshToken(let token, let call): self.request(call, .refreshToken(token))
        case .history(let request, let call): self.request(call, .history(request))
        case .change(let request, let call): self.request(call, .change(request))
        case .react(let request, let call): self.request(call, .react(request))
        case .reactors(let request, let call): self.request(call, .reactors(request))
        case .read(let seq, let call): self.request(call, .read(seq))
        case .erase(let erasure, let call): self.request(call, .erase(erasure))
        case .moderate(let request, let call): self.request(call, .moderate(request))
        case .restrictions(let call): self.request(call, .restrictions)
        case .disconnect: disconnect(now)
        case .networkBack: networkBack(now)
        case .suspended: suspended(now)
        case .awake: awake(now)
        case .cancelConnect: cancelConnect()
        case .withdraw(let call): withdraw(call)
        case .socketOpened: socketOpened()
        case .received(let message): received(message, now)
        case .receivedUnknown: receivedUnknown(now)
        case .receivedMalformed(let error): receivedMalformed(error)
        case .socketClosed(let code): socketClosed(code, now)
        case .socketFailed(let error): socketFailed(error, now)
        }
    }

    /// Executes everything that is due.
    mutating func advance(to now: MonotonicInstant) -> [Effect] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        switch phase {
        case .disconnected: return []
        case .opening, .connecting:
            return [.closeSocket(.normal)]
                + failConnect(SignalingError(.connectFailed, "the server did not answer in time"))
        case .connected:
            return [.closeSocket(.heartbeatMissed)] + loseSocket(now)
        case .reconnecting(_, let reconnection):
            if now >= reconnection.giveUpAt { return reconnection.leaveAttempt(.normal) + end(.networkDisconnected) }
            if reconnection.isTrying { return reconnection.leaveAttempt(.heartbeatMissed) + attemptFailed(now) }
            return startAttempt(now)
        case .disconnecting:
            return [.closeSocket(.normal)] + end(.clientDisconnected)
        }
    }

    mutating func startAttempt(_ now: MonotonicInstant) -> [Effect] {
        guard case .reconnecting(let terms, let reconnection) = phase else { return [] }
        phase = .reconnecting(terms, reconnection.opening(until: now.advanced(by: Self.answerTimeout)))
        return [.openSocket]
    }

    // MARK: - Losses and endings

    /// The socket is gone. The connection continues if the server keeps it for a while.
    ///
    /// - Parameter wait: the delay that the server asks for; nil for the client's own back-off.
    mutating func loseSocket(_ now: MonotonicInstant, wait: Duration? = nil) -> [Effect] {
        guard case .connected(let terms, _) = phase, terms.reconnectWindow > .zero else {
            return end(.networkDisconnected)
        }
        let giveUpAt = now.advanced(by: terms.reconnectWindow)
        let step: Reconnection.Step =
            if let wait {
                .postponed(until: now.advanced(by: wait))
            } else {
                .waiting(until: now.advanced(by: ReconnectPolicy.wait(attempt: 0, random: random())))
            }
        phase = .reconnecting(terms, Reconnection(step, giveUpAt: giveUpAt))
        pending.renewReads()
        return [.emit(.reconnecting)] + pending.removeUnrepeatable().map { Self.failure(of: $0, Self.lostBeforeAnswer) }
    }

    /// A reconnect attempt has failed. The next one follows after a wait.
    mutating func attemptFailed(_ now: MonotonicInstant) -> [Effect] {
        guard case .reconnecting(let terms, let reconnection) = phase else { return [] }
        let wait = ReconnectPolicy.wait(attempt: reconnection.failureCount + 1, random: random())
        phase = .reconnecting(terms, reconnection.failed(waitUntil: now.advanced(by: wait)))
        return []
    }

    /// The server has asked the client to try again after this time. The attempt does not count as failed (RES-13).
    mutating func attemptPostponed(_ now: MonotonicInstant, wait: Duration) -> [Effect] {
        guard case .reconnecting(let terms, let reconnection) = phase else { return [] }
        phase = .reconnecting(terms, reconnection.postponed(until: now.advanced(by: wait)))
        return []
    }

    mutating func failConnect(_ error: SignalingError) -> [Effect] {
        phase = .disconnected
        return [.connectFailed(error)]
    }

    /// Ends the connection: first every pending request fails, then the application gets the event.
    ///
    /// - Parameter ban: the ban that has ended it (MOD-3).
    mutating func end(_ reason: DisconnectReason, ban: Restriction? = nil) -> [Effect] {
        phase = .disconnected
        view = nil
        return pending.removeAll().map { Self.failure(of: $0, Self.lostBeforeAnswer) }
            + [.emit(.disconnected(reason, ban: ban))]
    }

    static let lostBeforeAnswer = "the connection was lost before the server answered"

    /// Both codes mean "not connected": OpenTok has one for signals and one for moderation (LEAVE-2).
    static func failure(of request: PendingRequests.Request, _ message: String) -> Effect {
        switch request.content {
        case .signal, .refreshToken, .history, .change, .react, .reactors, .read, .erase, .moderate, .restrictions:
            .callFailed(request.call, SignalingError(.notConnected, message))
        case .forceDisconnect: .callFailed(request.call, SignalingError(.notConnectedToModerate, message))
        }
    }
}
