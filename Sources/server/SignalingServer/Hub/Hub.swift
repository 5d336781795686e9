import JSONText
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Executes the effects of all connections of one loop: reads lines from sockets, passes them to ``ConnectionState``
/// and the session engine, and writes the resulting lines. Contains no rules of its own.
///
/// The hub is confined to the loop's thread. It is a plain class, since entering an actor would add a cost to each
/// message (docs/decisions/002-confinement.md). Its files:
///
/// - `Hub.swift`: what the hub keeps, and the effects of a connection,
/// - `Hub+Input.swift`: events from sockets, and the input queues,
/// - `Hub+Engine.swift`: reports from the session engine,
/// - `Hub+Turn.swift`: the end of a turn, which writes everything,
/// - `Hub+Alarms.swift`: the sockets' deadlines,
/// - `Hub+Moderation.swift`: what moderators do, for operators,
/// - `Hub+Revocation.swift`: the end of connections whose tokens were revoked,
/// - `Hub+Drain.swift`: the end of the server,
/// - `Hub+Invariants.swift`: what holds at the end of each turn.
final class Hub<Environment: HubEnvironment> {
    let environment: Environment
    let engine: any SessionEngine
    /// The same engine, for metrics and administration; nil if it cannot be inspected.
    let inspectableEngine: (any InspectableEngine)?
    private var engineEnds = EngineEnds()
    /// Called with the number of sessions and connections that have ended in a turn.
    var onEnds: ((Int) -> Void)?
    /// Kept, since the engine's reference to its observer is weak; nil if the hub is the observer.
    private var engineObserver: (any SessionEngineObserver)?
    /// A reload changes `inputRate`, for the connections that follow.
    var limits: HubLimits
    /// Replaced when the settings are reloaded, or tokens are revoked. The other clients in a session stay, since their
    /// token was checked when they came.
    var verifier: TokenVerifier
    let logger: Logger
    private let refusals: RefusalRecorder?
    let statistics: HubStatistics
    let refusalLog: RefusalLog
    var joinControl: JoinControl
    private var lineRates = LineRateLedger()
    let writer: SocketWriter<Environment.Socket>
    var randomness: Environment.Randomness
    @exclusivity(unchecked) var parser = JSONParser(
        limits: JSONLimits(
            depth: Limits.jsonDepth, byteCount: Limits.messageByteCount, valueCount: Limits.jsonValueCount))
    let onPresence: (PresenceEvent, SessionID) -> Void
    let onKeptPresence: (KeptPresenceEvent, SessionID) -> Void

    @exclusivity(unchecked) var peers: [UInt64: Peer<Environment.Socket>] = [:]
    @exclusivity(unchecked) var rooms: [SessionID: Room<Environment.Socket>] = [:]
    /// The sockets in all rooms.
    private(set) var joinedCount = 0
    var restCalls = RESTCalls()
    let history: HistoryDesk

    // The turn.
    @exclusivity(unchecked) var turn: UInt64 = 0
    /// While a line is being handled: its time, so that the clock is read once for everything that it causes.
    @exclusivity(unchecked) var lineTime: MonotonicInstant?
    /// The peer whose line it is.
    @exclusivity(unchecked) var linePeer: Peer<Environment.Socket>?
    var now: MonotonicInstant { lineTime ?? environment.now }
    @exclusivity(unchecked) var dirtyRooms: [Room<Environment.Socket>] = []
    @exclusivity(unchecked) var dirtyPeers: [Peer<Environment.Socket>] = []
    @exclusivity(unchecked) var peersWithInput: [Peer<Environment.Socket>] = []
    @exclusivity(unchecked) var lineShare: LineShare
    /// Set at the end of the initializer.
    private(set) var timers: HubTimers<Environment.Timer>?
    /// What the timer of the sessions is set to; nil if it is not set.
    @exclusivity(unchecked) private var sessionDeadline: MonotonicInstant?

    #if DEBUG
        var checks = InvariantPace()
    #endif

    // Deadlines.
    var alarms = TimingWheel<UInt64>()
    /// The earliest time to look again at all sockets for revoked tokens.
    var nextRevocationCheck: MonotonicInstant?

    // The end.
    var drain: DrainRun<Environment.Timer>?
    /// Whether the other nodes may have declared this one lost (``standAlone(_:)``).
    var isIsolated = false
    /// Whether ``hurry()`` was called. It may come before the drain: the two signals that cause them are handled apart.
    var isHurried = false
    @exclusivity(unchecked) var hasEnded = false

    /// Call it on the loop.
    ///
    /// - Parameters:
    ///   - engine: the hub becomes its observer.
    ///   - onPresence: called for each presence event.
    ///   - onKeptPresence: called for each presence event of a session that outlives the process. The receiver reports to
    ///     the engine that it was told.
    init(
        environment: Environment, engine: any SessionEngine, verifier: TokenVerifier, limits: HubLimits, logger: Logger,
        refusals: RefusalRecorder? = nil, onPresence: @escaping (PresenceEvent, SessionID) -> Void = { _, _ in },
        onKeptPresence: @escaping (KeptPresenceEvent, SessionID) -> Void = { _, _ in }
    ) {
        let statistics = HubStatistics()
        self.statistics = statistics
        self.environment = environment
        self.engine = engine
        inspectableEngine = engine as? any InspectableEngine
        self.verifier = verifier
        self.limits = limits
        self.logger = logger
        refusalLog = RefusalLog(logger: logger)
        self.refusals = refusals
        self.onPresence = onPresence
        self.onKeptPresence = onKeptPresence
        history = HistoryDesk(engine: engine)
        joinControl = JoinControl(limits: limits.joins)
        lineShare = LineShare(limits.lines)
        randomness = environment.makeRandomness()
        writer = SocketWriter(engine: engine, limits: limits, statistics: statistics)
        timers = HubTimers(
            flush: environment.makeTimer {},
            session: environment.makeTimer { [weak self] in self?.sessionDeadline = nil },
            input: environment.makeTimer { [weak self] in self?.handleQueuedInput() },
            revocation: environment.makeTimer { [weak self] in self?.checkRevocations() },
            alarm: environment.makeTimer { [weak self] in self?.handleDueAlarms() })
        engineObserver = environment.makeEngineObserver(for: self)
        engine.observer = engineObserver ?? self
    }

    /// Reports what has ended in the engine since the last turn.
    func reportEnds() {
        guard let onEnds, let engine = inspectableEngine else { return }
        let count = engineEnds.note(sessionCount: engine.sessionCount, detachedCount: engine.detachedCount)
        if count > 0 { onEnds(count) }
    }

    /// Sets the timer for the sessions' next deadline, if that has changed.
    func armSessionTimer() {
        let deadline = engine.nextDeadline
        if deadline == sessionDeadline { return }
        sessionDeadline = deadline
        if let deadline { timers?.session.schedule(at: deadline) } else { timers?.session.cancel() }
    }

    // MARK: - REST

    func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        engine.listConnections(of: session, answer: answer)
    }

    /// The streams of a session, as ``SessionEngine`` lists them.
    func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        engine.listStreams(of: session, answer: answer)
    }

    /// Submits a command from the project's own server. Calls `answer` on the loop.
    func submit(_ command: SessionCommand, to session: SessionID, answer: @escaping (SessionOutcome) -> Void) {
        var answer = answer
        if case .signal = command {
            answer = { [statistics, answer] outcome in
                statistics.noteServerSignal(outcome)
                answer(outcome)
            }
        }
        if hasEnded { return answer(.refused(SignalingError(.notConnected, "the server is stopping"))) }
        if engine.isSaturated {
            let reason = "the server's disk is slower than its clients; try again later"
            return answer(.refused(SignalingError(.notConnected, reason)))
        }
        let ticket = CommandTicket(origin: restCalls.add(answer: answer), request: nil)
        engine.submit(command, to: session, ticket: ticket, now: environment.now)
    }

    /// Submits an action of the project's own server (MOD-7). Calls `answer` on the loop.
    func moderate(
        _ request: ModerationRequest, in session: SessionID, answer: @escaping (SessionOutcome) -> Void
    ) {
        submit(.moderate(.server, request, Acceptance(date: environment.wallTime)), to: session) {
            [weak self] outcome in
            self?.noteModeration(outcome, in: session)
            answer(outcome)
        }
    }

    /// Reads what holds in a session, and the latest actions, for the project's own server (MOD-7). Calls `answer` on the
    /// loop.
    func readModeration(of session: SessionID, answer: @escaping (ModerationReading) -> Void) {
        engine.readModeration(of: session, now: environment.now, answer: answer)
    }

    /// Reads a page for the project's own server. Calls `answer` on the loop.
    func readHistory(
        _ request: HistoryRequest, of session: SessionID, answer: @escaping (Result<PageBytes, SignalingError>) -> Void
    ) {
        history.read(request, of: session, now: environment.now, answer: answer)
    }

    // MARK: - Effects

    func handle(_ input: ConnectionState.Input, for peer: Peer<Environment.Socket>) {
        perform(peer.state.handle(input, now: now), for: peer)
        setAlarm(for: peer)
    }

    func perform(_ effects: [ConnectionState.Effect], for peer: Peer<Environment.Socket>) {
        for effect in effects {
            switch effect {
            case .send(let message): send(message, to: peer)
            case .sendLine(let line): send(line, to: peer)
            case .readHistory(let id, let request, let session, let last):
                read(request, id, of: session, upTo: last, for: peer)
            case .enter(let request, let welcome, let entry): enter(peer, request, welcome, entry)
            case .authenticate(let request): authenticate(request, for: peer)
            case .verify(let request, let refresh): verify(refresh, request, for: peer)
            case .submit(let command, let session, let request):
                let ticket = CommandTicket(origin: peer.socket.id, request: request)
                if let request, statistics.ackSampler.isIdle, case .signal = command {
                    statistics.ackSampler.submitted(origin: ticket.origin, request: request, now: now)
                }
                engine.submit(command, to: session, ticket: ticket, now: now)
            case .moderate(let sender, let request, let session, let id):
                let command = SessionCommand.moderate(sender, request, Acceptance(date: environment.wallTime))
                engine.submit(
                    command, to: session, ticket: CommandTicket(origin: peer.socket.id, request: id), now: now)
            case .ping: ping(peer)
            case .pauseReading:
                statistics.pauses += 1
                updateReading(of: peer)
                if peer.state.isOverLineRate { noteLineRate(of: peer) }
            case .resumeReading: continueInput(of: peer)
            case .close(let reason, let unsent): close(peer, reason, unsent)
            }
        }
    }

    private func authenticate(_ request: ConnectRequest, for peer: Peer<Environment.Socket>) {
        // CON-14: on a server that stood still, all of this client may have arrived at once: its connect, and its end.
        // Where other nodes may have taken over, a join could not be carried out, and would be as late as Redis is.
        if peer.socket.hasHungUp || isIsolated { return handle(.mustClose(.goingAway), for: peer) }
        let now = environment.wallTime
        let result: Result<ConnectionState.Admission, SignalingError>
        do {
            try checkURL(of: peer, request)
            let (grant, untimeliness) = try grant(request, wallTime: now)
            let key = JoinControl.Key(project: grant.apiKey, token: TokenDigest(of: request.token))
            try checkLimits(of: key, for: peer, request, in: grant.sessionId)
            peer.joinKey = key
            peer.token = grant.origin
            let lineRateFullAt = lineRates.fullAt(key.token, now: environment.now)
            let secret = ResumeSecret(using: &randomness)
            result = .success(
                ConnectionState.Admission(
                    session: grant.sessionId, connectionId: ConnectionID(using: &randomness), role: grant.role,
                    data: grant.connectionData, user: grant.user, wallTime: now, untimeliness: untimeliness,
                    tokenExpiry: tokenExpiry(of: grant, wallTime: now),
                    socket: SocketID(using: &randomness), resumeSecret: secret,
                    secretHash: ResumeSecretHash(of: secret),
                    claimedSecretHash: request.resume.map { ResumeSecretHash(of: $0.secret) },
                    token: TokenFingerprint(key.token), lineRateFullAt: lineRateFullAt,
                    busyWait: .milliseconds(
                        Int64.random(in: 0...Limits.longestBusyWait.wholeMilliseconds, using: &randomness)),
                    historyAccess: limits.historyReading.access(of: grant.history)))
        } catch {
            noteRefused(error, of: peer, key: request.apiKey)
            result = .failure(error)
        }
        handle(.authenticated(result), for: peer)
    }

    /// WIRE-17: a proxy has chosen this server by the session in the URL. Another server may have the session of the
    /// request.
    private func checkURL(of peer: Peer<Environment.Socket>, _ request: ConnectRequest) throws(SignalingError) {
        let named = peer.socket.sessionParameter
        peer.socket.sessionParameter = nil
        guard named == nil || named == request.sessionId.rawValue else {
            throw SignalingError(
                .invalidSession,
                "the URL of the socket names another session than the request. Open a socket with this session's ID in "
                    + "its URL.")
        }
    }

    /// RES-7: the dates of a token that the server has accepted before do not count for a client that resumes. The clock
    /// may have been set back meanwhile.
    ///
    /// - Returns: the permissions, and why the token could not begin a connection.
    private func grant(
        _ request: ConnectRequest, wallTime now: WallTime
    ) throws(SignalingError) -> (AccessGrant, SignalingError?) {
        let untimeliness: SignalingError
        do {
            return (try verify(request, wallTime: now, checking: .all), nil)
        } catch  where request.resume != nil {
            untimeliness = error
        }
        let dates: TokenDates = limits.tokenExpiry.admitsExpiredToken ? [] : .end
        return (try verify(request, wallTime: now, checking: dates), untimeliness)
    }

    private func verify(
        _ request: ConnectRequest, wallTime: WallTime, checking dates: TokenDates
    ) throws(SignalingError) -> AccessGrant {
        try verifier.verify(
            token: request.token, sessionId: request.sessionId, apiKey: request.apiKey, now: wallTime, checking: dates)
    }

    private func verify(_ refresh: TokenRefresh, _ request: RequestID, for peer: Peer<Environment.Socket>) {
        let result = Result { () throws(SignalingError) in
            let grant = try verifier.verify(
                token: refresh.token, sessionId: refresh.session, apiKey: refresh.apiKey, now: environment.wallTime)
            peer.refreshes.add(grant.origin, request)
            return TokenClaims(
                role: grant.role, data: grant.connectionData, user: grant.user,
                expiry: tokenExpiry(of: grant, wallTime: environment.wallTime),
                token: TokenFingerprint(TokenDigest(of: refresh.token)))
        }
        handle(.verified(request, result), for: peer)
    }

    private func tokenExpiry(of grant: AccessGrant, wallTime: WallTime) -> TokenExpiry {
        TokenExpiry(limits.tokenExpiry, validUntil: grant.validUntil, wallTime: wallTime, now: environment.now)
    }

    private func checkLimits(
        of key: JoinControl.Key, for peer: Peer<Environment.Socket>, _ request: ConnectRequest, in session: SessionID
    ) throws(SignalingError) {
        let replacesSocket = request.resume.map { rooms[session]?.subscription(of: $0.connectionId) != nil } ?? false
        guard let limit = joinControl.refusal(of: key, replacesSocket: replacesSocket) else { return }
        let refusal = Refusal(limit)
        note(refusal, of: peer)
        throw SignalingError(.connectionLimitExceeded, refusal.text)
    }

    func noteRefused(_ error: SignalingError, of peer: Peer<Environment.Socket>, key: APIKey?) {
        statistics.noteConnectRefused(error)
        refusalLog.note(
            error, route: "connect", address: peer.socket.remoteAddress, key: key, now: environment.now)
    }

    private func note(_ refusal: Refusal, of peer: Peer<Environment.Socket>) {
        refusals?.note(refusal, address: peer.socket.remoteAddress, now: environment.now)
    }

    private func enter(
        _ peer: Peer<Environment.Socket>, _ request: RequestID, _ welcome: Welcome, _ entry: ClientEntry
    ) {
        guard let (session, binding) = peer.state.connected else { return }
        peer.socket.messageByteLimit = peer.state.messageByteLimit
        // They were signalled before this client came. It may have got them on the node where it was before (G6).
        if let room = rooms[session], !room.pendingOnlineOnly.isEmpty { flush(room, environment.now) }
        // Only now: the flush may have closed the last client in the room, and the room has ended with it.
        let room = room(of: session, end: welcome.seq)
        let outbox = Outbox(welcome, answering: request, entry)
        let subscription = Subscription(peer: peer, room: room, socket: binding.socket, outbox: outbox)
        peer.subscription = subscription
        room.add(subscription)
        joinedCount += 1
        markDirty(peer)
        peer.socket.markJoined()
        if let key = peer.joinKey, let refusal = joinControl.join(key, isResumed: welcome.outcome == .resumed) {
            note(Refusal(refusal), of: peer)
            return handle(.mustClose(.connectRefused), for: peer)
        }
        statistics.noteConnected(welcome.outcome)
        logger.debug(
            "connected",
            metadata: [
                "connection": "\(welcome.connection.connectionId)", "role": "\(welcome.role.rawValue)",
                "outcome": "\(welcome.outcome.rawValue)",
            ])
    }

    private func room(of session: SessionID, end: Seq) -> Room<Environment.Socket> {
        if let room = rooms[session] { return room }
        let position = engine.withLog(of: session) { ($0.lastSeq, $0.absences.version) } ?? (end, 0)
        let room = Room<Environment.Socket>(
            session: session, flushedThrough: position.0, flushedAbsences: position.1,
            flushScheduler: FlushScheduler(pace: limits.flushPace))
        rooms[session] = room
        return room
    }

    func ping(_ peer: Peer<Environment.Socket>) {
        if let end = peer.subscription?.room.end(in: engine) { send(.ping(end.log.lastSeq), to: peer) }
    }

    private func send(_ message: ServerMessage, to peer: Peer<Environment.Socket>) {
        if let subscription = peer.subscription {
            if let (hosted, log) = subscription.room.end(in: engine) {
                subscription.outbox.append(message, after: log.lastSeq, in: hosted)
            } else {
                subscription.outbox.append(EncodedLine(message), after: subscription.outbox.cursor)
            }
        } else {
            EncodedLine.append(EncodedLine(message).bytes, to: &peer.unjoinedLines, separatedFrom: 0)
        }
        markDirty(peer)
    }

    private func send(_ line: EncodedLine, to peer: Peer<Environment.Socket>) {
        guard let subscription = peer.subscription else { return }
        subscription.outbox.append(line, after: subscription.outbox.cursor)
        markDirty(peer)
    }

    private func read(
        _ request: HistoryRequest, _ id: RequestID, of session: SessionID, upTo last: Seq?,
        for peer: Peer<Environment.Socket>
    ) {
        history.read(request, of: session, upTo: last, now: now) { [weak self] result in
            // The client may have gone meanwhile.
            guard let self, peers[peer.socket.id] === peer else { return }
            let line = result.map { page in
                page.line(answering: id, mine: ownReactions(to: page.source, session, peer))
            }
            handle(.pageRead(id, line), for: peer)
        }
    }

    private func ownReactions(
        to page: ArchivePage, _ session: SessionID, _ peer: Peer<Environment.Socket>
    ) -> [OwnReactions] {
        guard let connection = peer.state.connected?.binding.connectionId else { return [] }
        return engine.hosted(session)?.ownReactions(of: connection, to: page.messages.map(\.seq)) ?? []
    }

    private func close(
        _ peer: Peer<Environment.Socket>, _ reason: CloseReason, _ unsent: ConnectionState.Unsent
    ) {
        statistics.noteClosed(reason)
        _ = writer.serve(peer)
        let farewell = unsent == .deliver && peer.isBacklogged ? writer.unsent(of: peer) : nil
        leaveRoom(peer)
        peer.socket.close(code: reason.rawValue, reason: reason.text, farewell: farewell)
        logger.debug(
            "closing",
            metadata: ["code": .stringConvertible(reason.rawValue), "socket": .stringConvertible(peer.socket.id)])
    }

    private func noteLineRate(of peer: Peer<Environment.Socket>) {
        guard let token = peer.joinKey?.token else { return }
        lineRates.note(token, fullAt: peer.state.lineRateFullAt, now: environment.now)
    }

    func leaveRoom(_ peer: Peer<Environment.Socket>) {
        let key = peer.joinKey
        // Once: no line of this client is handled any more.
        noteLineRate(of: peer)
        peer.joinKey = nil
        guard let subscription = peer.subscription else { return }
        peer.subscription = nil
        if let key { joinControl.leave(key) }
        subscription.room.remove(subscription)
        joinedCount -= 1
        if subscription.room.isEmpty { rooms[subscription.room.session] = nil }
    }
}
