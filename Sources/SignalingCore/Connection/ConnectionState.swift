import SignalingProtocol

/// One socket's way through the protocol: before connect, connected, closing.
///
/// Pure: what the socket, the token's verifier and the session say goes in, with `now`; what to do comes out.
public struct ConnectionState: Sendable {
    /// Where a socket stands.
    enum Phase: Sendable {
        /// Open, and has not been let in. Next: `authenticating`, `closing`.
        case awaitingConnect(until: MonotonicInstant)
        /// Its token is being checked. Next: `joining`, `closing`.
        case authenticating(RequestID, ConnectRequest, until: MonotonicInstant)
        /// The session has been asked to take it in. Next: `connected`, `closing`.
        case joining(RequestID, Joining, until: MonotonicInstant)
        /// In its session. Next: `leaving`, `closing`.
        case connected(Membership)
        /// It has left its session, and earlier requests are not answered yet (WIRE-8); nothing more is read. Next: `closing`.
        case leaving(until: MonotonicInstant)
        /// The close frame has been ordered; nothing more is read. The end.
        case closing
    }

    struct Joining: Sendable {
        let session: SessionID
        let request: JoinRequest
        let resumeSecret: ResumeSecret
    }

    struct Membership: Sendable {
        let session: SessionID
        let binding: SocketBinding
        /// It has come back on this socket, and was not heard on it yet (RES-6).
        var isUnconfirmed: Bool
        var lastHeard: MonotonicInstant
        var nextPing: MonotonicInstant
    }

    /// What happens to a socket.
    public enum Input: Sendable {
        /// A line arrived.
        case received(ClientMessage)
        /// A line arrived that is not a message: why, and its request's id if it had one.
        case receivedMalformed(ClientMessageError)
        /// The token was checked.
        case authenticated(Result<Admission, SignalingError>)
        /// The session answered a request of ours.
        case answered(RequestID?, SessionOutcome)
        /// What waits to be sent to this client for its own requests, and how many bytes its system has taken since the
        /// socket was opened: told when the first is above ``BackPressure/pauseByteCount``, and each time that something
        /// was sent, or a deadline has come, while it is not read from.
        case backlog(waitingByteCount: Int, takenByteCount: UInt64)
        /// The session no longer has this connection.
        case ended(DisconnectReason)
        /// The connection goes on by a newer socket (RES-8).
        case superseded
        /// The transport found something that this protocol forbids, or the server wants to end the connection.
        case mustClose(CloseReason)
        /// The whole server stops. Nobody is taken out of a session: everybody goes at once, and telling each of each
        /// would cost the square of their number. The client is asked to come back after this time (LEAVE-5).
        case serverStops(returnAfter: Duration)
        /// The socket is gone, with the peer's close code if it sent one.
        case socketClosed(code: UInt16?)
    }

    /// What the shell has to do, in this order.
    public enum Effect: Sendable {
        /// Send a line to this client.
        case send(ServerMessage)
        /// It is in: from now on it is served from the session's log, after this answer.
        case enter(RequestID, Welcome, suppressesPresence: Bool)
        /// Check this token, and come back with `.authenticated`.
        case authenticate(ConnectRequest)
        /// Give a command to a session.
        case submit(SessionCommand, SessionID, RequestID?)
        /// Send a ping.
        case ping
        /// Take no more of what this client sends, until `resumeReading`. Lines that were received already wait.
        case pauseReading
        /// Go on with the lines that wait, then with reading.
        case resumeReading
        /// Send what is waiting if the socket takes it, then close.
        case close(CloseReason)
    }

    /// A token that was found valid: what it says about its holder.
    public struct Admission: Sendable {
        public var session: SessionID
        public var connectionId: ConnectionID
        public var role: Role
        public var data: String
        public var wallTime: WallTime
        /// The token's time is over (RES-7).
        public var isExpired: Bool
        /// Names the socket among all others.
        public var socket: SocketID
        /// Fresh and random, for a later resume, and its hash.
        public var resumeSecret: ResumeSecret
        public var secretHash: ResumeSecretHash
        /// The hash of the secret that the client came with, if it came with one.
        public var claimedSecretHash: ResumeSecretHash?

        public init(
            session: SessionID, connectionId: ConnectionID, role: Role, data: String, wallTime: WallTime,
            isExpired: Bool = false, socket: SocketID, resumeSecret: ResumeSecret, secretHash: ResumeSecretHash,
            claimedSecretHash: ResumeSecretHash? = nil
        ) {
            self.session = session
            self.connectionId = connectionId
            self.role = role
            self.data = data
            self.wallTime = wallTime
            self.isExpired = isExpired
            self.socket = socket
            self.resumeSecret = resumeSecret
            self.secretHash = secretHash
            self.claimedSecretHash = claimedSecretHash
        }
    }

    /// Malformed lines that a socket may send before it is closed (WIRE-9).
    public static let malformedLimit = 10

    private var phase: Phase
    private var malformedCount = 0
    private var pending = PendingAnswers()
    private var pressure = BackPressure()
    private let heartbeat: Duration

    public init(openedAt now: MonotonicInstant, heartbeat: Duration = Limits.heartbeat) {
        phase = .awaitingConnect(until: now.advanced(by: Limits.connectTimeout))
        self.heartbeat = heartbeat
    }

    /// The session and binding of a connected client.
    public var connected: (session: SessionID, binding: SocketBinding)? {
        switch phase {
        case .connected(let membership): (membership.session, membership.binding)
        case .awaitingConnect, .authenticating, .joining, .leaving, .closing: nil
        }
    }

    public var isClosing: Bool {
        switch phase {
        case .closing: true
        case .awaitingConnect, .authenticating, .joining, .connected, .leaving: false
        }
    }

    /// Between `pauseReading` and `resumeReading`.
    public var isReadingPaused: Bool { pressure.isPaused }

    /// When `advance` has to be called at the latest; `nil` when nothing is due.
    public var nextDeadline: MonotonicInstant? {
        switch phase {
        case .awaitingConnect(let until), .authenticating(_, _, let until), .joining(_, _, let until),
            .leaving(let until):
            until
        case .connected(let membership):
            min(membership.nextPing, pressure.stallLimit(heartbeat: heartbeat) ?? silenceLimit(membership))
        case .closing: nil
        }
    }

    private func silenceLimit(_ membership: Membership) -> MonotonicInstant {
        membership.lastHeard.advanced(by: heartbeat * 2)
    }

    /// Carries out what is due.
    public mutating func advance(to now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .awaitingConnect(let until), .authenticating(_, _, let until), .joining(_, _, let until):
            return now >= until ? close(.connectTimeout) : []
        case .connected(var membership):
            if let stallLimit = pressure.stallLimit(heartbeat: heartbeat) {
                // WIRE-14: who is not read from is not heard either, and may stay as long as it takes what waits for it.
                if now >= stallLimit { return close(.slowConsumer) }
            } else if now >= silenceLimit(membership) {
                return close(.heartbeatMissed)
            }
            guard now >= membership.nextPing else { return [] }
            // From now, not from the last one: after a pause of the whole process there is one ping, not a burst.
            membership.nextPing = now.advanced(by: heartbeat)
            phase = .connected(membership)
            return pressure.hasBacklog ? [] : [.ping]
        case .leaving(let until):
            return now >= until ? close(.normal) : []
        case .closing:
            return []
        }
    }

    public mutating func handle(_ input: Input, now: MonotonicInstant) -> [Effect] {
        var effects = effects(of: input, now: now)
        if isClosing { return effects }
        switch pressure.judge(unansweredCount: pending.count, now: now) {
        case nil: break
        case .pause: effects.append(.pauseReading)
        case .resume:
            // Meanwhile it could not be heard.
            if case .connected(var membership) = phase {
                membership.lastHeard = now
                phase = .connected(membership)
            }
            effects.append(.resumeReading)
        }
        return effects
    }

    private mutating func effects(of input: Input, now: MonotonicInstant) -> [Effect] {
        switch input {
        case .received(let message): return noteHeard(now) + received(message, now)
        case .receivedMalformed(let error): return noteHeard(now) + receivedMalformed(error)
        case .authenticated(let result): return authenticated(result)
        case .answered(let request, let outcome): return answered(request, outcome, now: now)
        case .backlog(let waiting, let taken):
            pressure.note(waitingByteCount: waiting, takenByteCount: taken, now: now)
            return []
        case .ended(let reason):
            switch phase {
            case .connected, .leaving:
                // The session has let go of it already: only the socket is left to close.
                phase = .closing
                let close: CloseReason = reason == .forceDisconnected ? .forceDisconnected : .goingAway
                return [.send(.disconnected(reason, close.reconnect)), .close(close)]
            case .awaitingConnect, .authenticating, .joining, .closing: return []
            }
        case .superseded:
            switch phase {
            case .connected:
                phase = .closing
                return [.send(.disconnected(.networkDisconnected, .never)), .close(.superseded)]
            case .awaitingConnect, .authenticating, .joining, .leaving, .closing: return []
            }
        case .mustClose(let reason): return close(reason)
        case .serverStops(let wait):
            return close(.goingAway).compactMap { effect in
                switch effect {
                case .send(.disconnected(let reason, _)): .send(.disconnected(reason, .after(wait)))
                case .send, .close, .ping, .pauseReading, .resumeReading: effect
                case .submit, .authenticate, .enter: nil
                }
            }
        case .socketClosed(let code): return socketClosed(code)
        }
    }

    private mutating func noteHeard(_ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .connected(var membership):
            let isFirst = membership.isUnconfirmed
            membership.lastHeard = now
            membership.isUnconfirmed = false
            phase = .connected(membership)
            return isFirst ? [.submit(.heard(membership.binding), membership.session, nil)] : []
        case .awaitingConnect, .authenticating, .joining, .leaving, .closing: return []
        }
    }

    private mutating func received(_ message: ClientMessage, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .awaitingConnect(let until):
            guard case .connect(let id, let request) = message else { return refuseUnconnected(message) }
            phase = .authenticating(id, request, until: until)
            pending.expect(id)
            return [.authenticate(request)]
        case .authenticating, .joining:
            if case .connect(let id, _) = message { return answer(.error(id, .alreadyConnecting)) }
            return refuseUnconnected(message)
        case .connected(let membership):
            switch message {
            case .connect(let id, _): return answer(.error(id, .alreadyConnecting))
            case .signal(let id, let request):
                pending.expect(id)
                return [.submit(.signal(.connection(membership.binding, id), request), membership.session, id)]
            case .forceDisconnect(let id, let target):
                pending.expect(id)
                let sender = CommandSender.connection(membership.binding, id)
                return [.submit(.forceDisconnect(sender, target), membership.session, id)]
            case .disconnect(let id):
                phase = .leaving(until: now.advanced(by: heartbeat * 2))
                let leave = Effect.submit(
                    .leave(membership.binding, .clientDisconnected), membership.session, nil)
                return [leave] + answer(.goodbye(id))
            case .pong: return []
            }
        case .leaving, .closing:
            return []
        }
    }

    /// Answers a request here, behind the answers to those before it.
    private mutating func answer(_ answer: PendingAnswers.Answer) -> [Effect] {
        pending.add(answer).map { send($0) } ?? []
    }

    private mutating func send(_ answer: PendingAnswers.Answer) -> [Effect] {
        switch answer {
        case .ack(let id, let seq): return [.send(.ack(id, seq))]
        case .error(let id, let error): return [.send(.error(id, error))]
        case .goodbye(let id):
            phase = .closing
            return [.send(.ack(id, nil)), .send(.disconnected(.clientDisconnected, .never)), .close(.normal)]
        }
    }

    /// CON-1: nothing but connect makes sense yet.
    private mutating func refuseUnconnected(_ message: ClientMessage) -> [Effect] {
        switch message {
        case .connect, .pong: []
        case .signal(let id, _), .disconnect(let id):
            answer(.error(id, SignalingError(.notConnected, "connect first")))
        case .forceDisconnect(let id, _):
            answer(.error(id, SignalingError(.notConnectedToModerate, "connect first")))
        }
    }

    private mutating func receivedMalformed(_ error: ClientMessageError) -> [Effect] {
        switch phase {
        case .leaving, .closing: return []
        case .awaitingConnect, .authenticating, .joining, .connected: break
        }
        malformedCount += 1
        let answer = answer(.error(error.id, error.error))
        return malformedCount < Self.malformedLimit ? answer : answer + close(.tooManyErrors)
    }

    private mutating func authenticated(_ result: Result<Admission, SignalingError>) -> [Effect] {
        guard case .authenticating(let id, let request, let until) = phase else { return [] }
        switch result {
        case .success(let admission):
            // The session is the token's, whatever the request said (G8).
            var join = JoinRequest(
                connectionId: admission.connectionId, socket: admission.socket, role: admission.role,
                data: admission.data, suppressesPresence: request.connectionEventsSuppressed,
                wallTime: admission.wallTime, secretHash: admission.secretHash, isExpired: admission.isExpired)
            if let resume = request.resume, let claimed = admission.claimedSecretHash {
                join.resumption = Resumption(
                    connectionId: resume.connectionId, secretHash: claimed, epoch: resume.epoch, after: resume.after)
            }
            phase = .joining(
                id, Joining(session: admission.session, request: join, resumeSecret: admission.resumeSecret),
                until: until)
            return [.submit(.join(join), admission.session, id)]
        case .failure(let error):
            return refuseConnect(id, error)
        }
    }

    private mutating func refuseConnect(_ id: RequestID, _ error: SignalingError) -> [Effect] {
        phase = .closing
        return [.send(.error(id, error)), .close(.connectRefused)]
    }

    private mutating func answered(
        _ request: RequestID?, _ outcome: SessionOutcome, now: MonotonicInstant
    ) -> [Effect] {
        switch phase {
        case .joining(let id, let joining, _):
            switch outcome {
            case .joined(let membership):
                phase = .connected(
                    Membership(
                        session: joining.session,
                        binding: SocketBinding(membership.connection.connectionId, joining.request.socket),
                        isUnconfirmed: membership.outcome == .resumed, lastHeard: now,
                        nextPing: now.advanced(by: heartbeat)))
                let welcome = Welcome(
                    connection: membership.connection, connections: membership.connections, role: membership.role,
                    epoch: membership.epoch, seq: membership.seq, outcome: membership.outcome,
                    replayThrough: membership.replayThrough,
                    resume: ResumeOffer(
                        secret: joining.resumeSecret, resumeWindow: membership.resumeWindow,
                        recoveryWindow: membership.recoveryWindow),
                    heartbeat: heartbeat)
                let held = pending.take(id, nil) ?? []
                return [.enter(id, welcome, suppressesPresence: joining.request.suppressesPresence)]
                    + held.flatMap { send($0) }
            case .refused(let error):
                return refuseConnect(id, error)
            case .wasForceDisconnected:
                phase = .closing
                return [.send(.disconnected(.forceDisconnected, .never)), .close(.forceDisconnected)]
            case .done, .signalled, .forceDisconnected:
                return []
            }
        case .connected, .leaving:
            guard let request else { return [] }
            let answer: PendingAnswers.Answer
            switch outcome {
            case .signalled(let seq): answer = .ack(request, seq)
            case .forceDisconnected: answer = .ack(request, nil)
            case .refused(let error): answer = .error(request, error)
            case .done, .joined, .wasForceDisconnected: return []
            }
            guard let answers = pending.take(request, answer) else { return [] }
            pressure.noteAnswer(now: now)
            // With an engine that answers at once there is always one.
            if answers.count == 1 { return send(answers[0]) }
            return answers.flatMap { send($0) }
        case .awaitingConnect, .authenticating, .closing:
            return []
        }
    }

    /// Closes the socket from our side. A client that may come back is waited for (RES-10); of another, peers see
    /// `networkDisconnected`: it did not choose to go.
    private mutating func close(_ reason: CloseReason) -> [Effect] {
        switch phase {
        case .closing:
            return []
        case .connected(let membership):
            phase = .closing
            let binding = membership.binding
            return [
                .submit(
                    reason.shouldReconnect ? .detach(binding) : .leave(binding, .networkDisconnected),
                    membership.session, nil),
                .send(.disconnected(.networkDisconnected, reason.reconnect)), .close(reason),
            ]
        case .joining(_, let joining, _):
            phase = .closing
            return takeBack(joining, .networkDisconnected) + [.close(reason)]
        case .awaitingConnect, .authenticating, .leaving:
            phase = .closing
            return [.close(reason)]
        }
    }

    /// PRES-2: a close with 1000, 1001 or no code (1005) is a client's own leaving; anything else is a loss.
    private mutating func socketClosed(_ code: UInt16?) -> [Effect] {
        defer { phase = .closing }
        let isLeaving = code == 1000 || code == 1001 || code == 1005
        switch phase {
        case .connected(let membership):
            let binding = membership.binding
            return [
                .submit(
                    isLeaving ? .leave(binding, .clientDisconnected) : .detach(binding), membership.session, nil)
            ]
        case .joining(_, let joining, _):
            return takeBack(joining, isLeaving ? .clientDisconnected : .networkDisconnected)
        case .awaitingConnect, .authenticating, .leaving, .closing:
            return []
        }
    }

    /// Takes back a join that has not been answered. The session carries out commands in the order in which they were
    /// given, so this one comes after the join; nobody has to wait for the answer of a socket that is gone. Whether the join
    /// began a connection or continued one is not known yet: a new one that its client never heard of is over, an old one may
    /// be continued still.
    private func takeBack(_ joining: Joining, _ reason: DisconnectReason) -> [Effect] {
        let request = joining.request
        var commands = [SessionCommand.leave(SocketBinding(request.connectionId, request.socket), reason)]
        if let resumption = request.resumption {
            commands.append(.detach(SocketBinding(resumption.connectionId, request.socket)))
        }
        return commands.map { .submit($0, joining.session, nil) }
    }
}

extension SignalingError {
    static var alreadyConnecting: SignalingError {
        SignalingError(.illegalState, "this socket has a connect already")
    }
}
