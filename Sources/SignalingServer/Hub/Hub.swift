import JSONText
import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Carries out what the rules say, for all sockets of one loop: bytes in, effects out. It decides nothing itself.
///
/// Confined to the loop's thread: a plain class, since each message would pay for an actor's crossing
/// (docs/decisions/002-confinement.md).
final class Hub {
    private let loop: LoopThread
    private let engine: any SessionEngine
    private let verifier: TokenVerifier
    private let heartbeat: Duration
    private let logger: Logger
    private let delivery: Delivery
    /// Is told of each presence event; nil when nobody wants to know.
    var onPresence: ((PresenceEvent, SessionID) -> Void)?

    private var peers: [UInt64: Peer] = [:]
    private var rooms: [SessionID: Room] = [:]
    private var dirtyRooms: [Room] = []
    private var dirtyPeers: [Peer] = []
    /// Those who have lines for the next turn.
    private var peersWithInput: [Peer] = []
    private var turn: UInt64 = 0
    private var parser = JSONParser(
        limits: JSONLimits(depth: Limits.jsonDepth, byteCount: Limits.messageByteCount))
    private var alarms = TimingWheel<UInt64>()
    private var alarmTimer: LoopTimer?
    private var flushTimer: LoopTimer?
    private var inputTimer: LoopTimer?
    private var sessionTimer: LoopTimer?
    private var randomness = SystemRandomNumberGenerator()
    private var outsideAnswers: [UInt64: (SessionOutcome) -> Void] = [:]
    private var lastOutsideOrigin = Hub.outsideOrigins

    /// The way out, once it has begun.
    private struct Drain {
        var plan: DrainPlan
        let order: [UInt64]
        /// The place of who goes next.
        var next = 0
        /// Once all were sent away: until then their closing handshakes are waited for.
        var leaveBy: MonotonicInstant?
        static let goodbyeTime = Duration.seconds(2)
        /// Nil once it was called.
        var whenDone: (() -> Void)?
    }
    private var drain: Drain?
    private var drainTimer: LoopTimer?
    private var hasEnded = false

    /// As soon as the loop has looked at everybody else: a timer's moment is rounded up otherwise.
    private static let atOnce = MonotonicInstant(nanoseconds: 0)

    /// Tickets from here on are not sockets but calls by REST.
    private static let outsideOrigins: UInt64 = 1 << 63

    /// To be made on the loop.
    init(loop: LoopThread, engine: any SessionEngine, verifier: TokenVerifier, heartbeat: Duration, logger: Logger) {
        self.loop = loop
        self.engine = engine
        self.verifier = verifier
        self.heartbeat = heartbeat
        self.logger = logger
        delivery = Delivery(engine: engine)
        alarmTimer = LoopTimer(loop: loop) { [weak self] in self?.alarmsDue() }
        // Only to end the loop's wait: the work itself is done at the end of the turn.
        flushTimer = LoopTimer(loop: loop) {}
        sessionTimer = LoopTimer(loop: loop) {}
        inputTimer = LoopTimer(loop: loop) { [weak self] in self?.handleQueuedInput() }
        engine.observer = self
    }

    var connectionCount: Int { peers.count }
    var sessionCount: Int { rooms.count }

    /// Sends everybody away, spread over this time at most (LEAVE-5), and takes in nobody any more.
    ///
    /// Once.
    ///
    /// - Parameter whenDone: called on the loop when nobody is left, in the same turn.
    func drain(over longest: Duration, whenDone: @escaping () -> Void) {
        let order = peers.values.filter { !$0.state.isClosing }.map(\.socket.id)
        let plan = DrainPlan(count: order.count, longest: longest, startedAt: loop.now)
        drain = Drain(plan: plan, order: order, whenDone: whenDone)
        drainTimer = LoopTimer(loop: loop) { [weak self] in self?.sendAway() }
        sendAway()
    }

    /// Cuts short what ``drain(over:whenDone:)`` began.
    func hurry() {
        drain?.plan.hurry()
        if drain != nil { sendAway() }
    }

    /// After this nothing changes any more, and nothing is acknowledged.
    func end() { hasEnded = true }

    private func sendAway() {
        guard let drain, let whenDone = drain.whenDone else { return }
        let now = loop.now
        let due = drain.plan.dueCount(at: now)
        let last = min(due, drain.next + DrainPlan.sliceCount)
        for id in drain.order[drain.next..<last] {
            if let peer = peers[id] { sendAway(peer, drain.plan, now) }
        }
        self.drain?.next = last
        if last < drain.order.count {
            drainTimer?.schedule(at: last < due ? now : drain.plan.moment(of: last))
            return
        }
        // A socket that is cut before its client has read the goodbye may lose it.
        let leaveBy = drain.leaveBy ?? now.advanced(by: Drain.goodbyeTime)
        guard peers.isEmpty || now >= leaveBy else {
            self.drain?.leaveBy = leaveBy
            drainTimer?.schedule(at: leaveBy)
            return
        }
        self.drain?.whenDone = nil
        turnEnded()
        whenDone()
    }

    private func sendAway(_ peer: Peer, _ plan: DrainPlan, _ now: MonotonicInstant) {
        let random = Double.random(in: 0...1, using: &randomness)
        handle(.serverStops(returnAfter: plan.returnWait(at: now, random: random)), for: peer)
    }

    /// Who is connected to a session.
    func connections(of session: SessionID) -> [Connection] { engine.connections(of: session) }

    /// Gives a command on behalf of the project's own server; the answer comes on the loop.
    func submit(_ command: SessionCommand, to session: SessionID, answer: @escaping (SessionOutcome) -> Void) {
        if hasEnded { return answer(.refused(SignalingError(.notConnected, "the server is stopping"))) }
        lastOutsideOrigin += 1
        outsideAnswers[lastOutsideOrigin] = answer
        engine.submit(
            command, to: session, ticket: CommandTicket(origin: lastOutsideOrigin, request: nil), now: loop.now)
    }

    // MARK: - Effects

    private func handle(_ input: ConnectionState.Input, for peer: Peer) {
        perform(peer.state.handle(input, now: loop.now), for: peer)
        setAlarm(for: peer)
    }

    private func perform(_ effects: [ConnectionState.Effect], for peer: Peer) {
        for effect in effects {
            switch effect {
            case .send(let message):
                send(EncodedLine(message), to: peer, signalByteCount: signalByteCount(answeredBy: message, for: peer))
            case .enter(let request, let welcome, let suppressesPresence):
                enter(peer, request, welcome, suppressesPresence: suppressesPresence)
            case .authenticate(let request): authenticate(request, for: peer)
            case .submit(let command, let session, let request):
                engine.submit(
                    command, to: session, ticket: CommandTicket(origin: peer.socket.id, request: request),
                    now: loop.now)
            case .ping: ping(peer)
            case .pauseReading: updateReading(of: peer)
            case .resumeReading:
                holdOn(peer)
                updateReading(of: peer)
            case .close(let reason): close(peer, reason)
            }
        }
    }

    private func authenticate(_ request: ConnectRequest, for peer: Peer) {
        let now = WallTime.current
        let result: Result<ConnectionState.Admission, SignalingError>
        do {
            let grant = try verifier.verify(
                token: request.token, sessionID: request.sessionId, apiKey: request.apiKey, now: now,
                allowsExpired: request.resume != nil)
            let secret = ResumeSecret(using: &randomness)
            result = .success(
                ConnectionState.Admission(
                    session: grant.sessionID, connectionId: ConnectionID(using: &randomness), role: grant.role,
                    data: grant.connectionData, wallTime: now, isExpired: grant.isExpired(now: now),
                    socket: SocketID(using: &randomness), resumeSecret: secret,
                    secretHash: ResumeSecretHash(of: secret),
                    claimedSecretHash: request.resume.map { ResumeSecretHash(of: $0.secret) }))
        } catch {
            result = .failure(error)
        }
        handle(.authenticated(result), for: peer)
    }

    private func enter(_ peer: Peer, _ request: RequestID, _ welcome: Welcome, suppressesPresence: Bool) {
        guard let (session, binding) = peer.state.connected else { return }
        let room =
            rooms[session]
            ?? Room(session: session, flushedThrough: engine.withLog(of: session) { $0.lastSeq } ?? welcome.seq)
        rooms[session] = room
        let recoversThrough = welcome.outcome == .recovered ? welcome.replayThrough : nil
        var outbox = Outbox(
            owner: welcome.connection.connectionId, suppressesPresence: suppressesPresence, cursor: welcome.seq,
            recoversThrough: recoversThrough ?? .zero)
        // Before everything that it missed (RES-4).
        outbox.append(EncodedLine(.connected(request, welcome)), after: welcome.seq)
        let member = Member(peer: peer, room: room, socket: binding.socket, outbox: outbox)
        peer.member = member
        room.add(member)
        markDirty(peer)
        logger.debug(
            "connected",
            metadata: [
                "connection": "\(welcome.connection.connectionId)", "role": "\(welcome.role.rawValue)",
                "outcome": "\(welcome.outcome.rawValue)",
            ])
    }

    private func ping(_ peer: Peer) {
        guard let session = peer.member?.room.session, let seq = engine.withLog(of: session, { $0.lastSeq }) else {
            return
        }
        send(EncodedLine(.ping(seq)), to: peer)
    }

    /// An ack comes behind its own signal, which waits as long.
    private func signalByteCount(answeredBy message: ServerMessage, for peer: Peer) -> Int {
        guard case .ack(_, let seq?) = message, let session = peer.member?.room.session else { return 0 }
        return engine.withLog(of: session) { $0.entry(seq)?.line.byteCount ?? 0 } ?? 0
    }

    private func send(_ line: EncodedLine, to peer: Peer, signalByteCount: Int = 0) {
        if let member = peer.member {
            let place = engine.withLog(of: member.room.session) { $0.lastSeq } ?? member.outbox.cursor
            member.outbox.append(line, after: place, signalByteCount: signalByteCount)
        } else {
            EncodedLine.append(line.bytes, to: &peer.loneLines, separatedFrom: 0)
        }
        markDirty(peer)
    }

    private func markDirty(_ peer: Peer) {
        if peer.isDirty { return }
        peer.isDirty = true
        dirtyPeers.append(peer)
    }

    private func close(_ peer: Peer, _ reason: CloseReason) {
        _ = delivery.serve(peer)
        // LEAVE-1: who leaves has its answers first, even if its socket takes nothing at the moment. Whoever is sent away may have
        // taken nothing for long, and would take memory from the others.
        let farewell = reason == .normal && peer.isBacklogged ? delivery.farewell(to: peer) : nil
        leaveRoom(peer)
        peer.socket.close(code: reason.rawValue, reason: reason.text, farewell: farewell)
        logger.debug("closing", metadata: ["code": "\(reason.rawValue)", "socket": "\(peer.socket.id)"])
    }

    private func leaveRoom(_ peer: Peer) {
        guard let member = peer.member else { return }
        peer.member = nil
        member.room.remove(member)
        if member.room.members.isEmpty { rooms[member.room.session] = nil }
    }

    // MARK: - The end of a turn

    /// Once per turn of the loop, after its batch of input: whoever lacks something gets it, in one write.
    func turnEnded() {
        turn &+= 1
        let now = loop.now
        let next = dirtyRooms.isEmpty ? nil : flushDirtyRooms(now)
        if !dirtyPeers.isEmpty { serveDirtyPeers() }
        if hasEnded { return }
        engine.advance(to: now)
        if let deadline = engine.nextDeadline { sessionTimer?.schedule(at: deadline) } else { sessionTimer?.cancel() }
        // Closing a slow client, or giving one up, makes new work for its room: that is the next turn's, which has to come.
        if !dirtyRooms.isEmpty || !dirtyPeers.isEmpty { flushTimer?.schedule(at: next ?? now) }
        // From here alone: libuv runs a timer that its own handler sets for now once more before anything else.
        if !peersWithInput.isEmpty { inputTimer?.schedule(at: Self.atOnce) }
    }

    /// - Returns: when the first of those rooms is due that are not due yet.
    private func flushDirtyRooms(_ now: MonotonicInstant) -> MonotonicInstant? {
        let candidates = dirtyRooms
        dirtyRooms = []
        var next: MonotonicInstant?
        for room in candidates where !room.members.isEmpty {
            let due = room.flushScheduler.due(now: now, memberCount: room.members.count)
            if due <= now {
                room.isDirty = false
                for peer in delivery.flush(room, now: now) { handle(.mustClose(.slowConsumer), for: peer) }
            } else {
                dirtyRooms.append(room)
                next = min(next ?? due, due)
            }
        }
        return next
    }

    private func serveDirtyPeers() {
        let candidates = dirtyPeers
        dirtyPeers = []
        for peer in candidates {
            if let room = peer.member?.room, room.isDirty {
                // The flush of its room, which is due soon, serves it in the same write.
                dirtyPeers.append(peer)
                continue
            }
            peer.isDirty = false
            serve(peer)
        }
    }

    private func serve(_ peer: Peer) {
        if delivery.serve(peer) { noteBacklog(of: peer) } else { handle(.mustClose(.slowConsumer), for: peer) }
    }

    /// Whose answers go out has nothing to report, and costs nothing.
    private func noteBacklog(of peer: Peer) {
        let waiting = peer.waitingByteCount
        guard peer.state.isReadingPaused || waiting > BackPressure.pauseByteCount else { return }
        handle(.backlog(waitingByteCount: waiting, takenByteCount: peer.socket.takenByteCount), for: peer)
    }

    private func markDirty(_ room: Room) {
        if room.isDirty { return }
        room.isDirty = true
        dirtyRooms.append(room)
    }

    // MARK: - Deadlines

    /// Deadlines move later with each message heard; the wheel is not told of that, and asks again when it comes.
    private func setAlarm(for peer: Peer) {
        guard let deadline = peer.state.nextDeadline else {
            if peer.alarm != nil {
                alarms.cancel(peer.socket.id)
                peer.alarm = nil
            }
            return
        }
        if let alarm = peer.alarm, alarm <= deadline { return }
        peer.alarm = deadline
        alarms.schedule(peer.socket.id, at: deadline)
        armAlarmTimer()
    }

    private func armAlarmTimer() {
        if let next = alarms.nextDeadline { alarmTimer?.schedule(at: next) } else { alarmTimer?.cancel() }
    }

    private func alarmsDue() {
        let now = loop.now
        for id in alarms.expire(upTo: now) {
            guard let peer = peers[id] else { continue }
            peer.alarm = nil
            noteBacklog(of: peer)
            perform(peer.state.advance(to: now), for: peer)
            setAlarm(for: peer)
        }
        armAlarmTimer()
    }
}

extension Hub: SessionEngineObserver {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        if ticket.origin >= Self.outsideOrigins {
            outsideAnswers.removeValue(forKey: ticket.origin)?(outcome)
        } else if let peer = peers[ticket.origin] {
            handle(.answered(ticket.request, outcome), for: peer)
        }
    }

    func engine(sessionChanged session: SessionID) {
        guard let room = rooms[session] else { return }
        room.flushScheduler.noteWaiting(
            byteCount: engine.withLog(of: session) { $0.entries.last?.line.byteCount ?? 0 } ?? 0)
        markDirty(room)
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        switch effect {
        case .presence(let event): onPresence?(event, session)
        case .onlineOnly(let signal):
            guard let room = rooms[session] else { return }
            room.pendingOnlineOnly.append(signal)
            markDirty(room)
        case .onlineOnlyDropped: break
        case .ended(let connection, let reason):
            guard let member = rooms[session]?.members.first(where: { $0.outbox.owner == connection }) else { return }
            handle(.ended(reason), for: member.peer)
        case .superseded(let socket):
            if let older = rooms[session]?.member(on: socket) { handle(.superseded, for: older.peer) }
        }
    }
}

/// The sockets' side; ``SignalingServer`` hands these calls on.
extension Hub {
    func socketOpened(_ socket: ServerSocket) {
        let peer = Peer(socket: socket, now: loop.now, heartbeat: heartbeat)
        socket.attachment = peer
        peers[socket.id] = peer
        if let drain {
            sendAway(peer, drain.plan, loop.now)
        } else {
            setAlarm(for: peer)
        }
    }

    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {
        guard let peer = socket.attachment as? Peer else { return }
        if !peer.held.isEmpty || peer.state.isReadingPaused {
            // What came in the same read as the line at which it was stopped.
            peer.held.append(message)
            return holdOn(peer)
        }
        var lines = MessageLines(message)
        handleLines(&lines, of: peer)
        guard !lines.rest.isEmpty, !peer.state.isClosing else { return }
        peer.held.append(lines.rest)
        holdOn(peer)
    }

    /// As many as may be handled in this turn.
    private func handleLines(_ lines: inout MessageLines, of peer: Peer) {
        if peer.lineAllowance.turn != turn { peer.lineAllowance = (turn, InputQueue.countPerTurn) }
        while peer.lineAllowance.count > 0, !peer.state.isReadingPaused, !peer.state.isClosing,
            let line = lines.next()
        {
            peer.lineAllowance.count -= 1
            handleLine(line, of: peer)
        }
    }

    private func handleLine(_ line: UnsafeRawBufferPointer, of peer: Peer) {
        do {
            handle(.received(try ClientMessage(line: line, parser: &parser)), for: peer)
        } catch {
            handle(.receivedMalformed(error), for: peer)
        }
    }

    /// Lines that wait are for the next turn, unless their client's backlog has to drain first.
    private func holdOn(_ peer: Peer) {
        updateReading(of: peer)
        guard !peer.held.isEmpty, !peer.held.isListed, !peer.state.isReadingPaused else { return }
        peer.held.isListed = true
        peersWithInput.append(peer)
    }

    private func handleQueuedInput() {
        let candidates = peersWithInput
        peersWithInput = []
        for peer in candidates {
            peer.held.isListed = false
            if peer.state.isClosing { continue }
            var held = peer.held
            peer.held = InputQueue()
            held.take { lines in handleLines(&lines, of: peer) }
            peer.held = held
            holdOn(peer)
        }
    }

    /// Its socket brings nothing more: what it has brought is handled now, since what comes next is later than that.
    private func handleAllQueuedInput(of peer: Peer) {
        var held = peer.held
        peer.held = InputQueue()
        held.take { lines in
            while !peer.state.isClosing, let line = lines.next() { handleLine(line, of: peer) }
        }
    }

    private func updateReading(of peer: Peer) {
        peer.socket.isReading = peer.held.isEmpty && !peer.state.isReadingPaused
    }

    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {
        guard let peer = socket.attachment as? Peer else { return }
        handleAllQueuedInput(of: peer)
        let reason: CloseReason =
            switch violation {
            case .binaryMessage: .unsupportedData
            case .messageTooBig, .tooManyFragments: .messageTooBig
            case .invalidUTF8: .invalidPayload
            }
        handle(.mustClose(reason), for: peer)
    }

    func socketDrained(_ socket: ServerSocket) {
        guard let peer = socket.attachment as? Peer else { return }
        peer.isBacklogged = false
        serve(peer)
    }

    func socketClosed(_ socket: ServerSocket, code: UInt16?) {
        guard let peer = socket.attachment as? Peer else { return }
        socket.attachment = nil
        handleAllQueuedInput(of: peer)
        handle(.socketClosed(code: code), for: peer)
        leaveRoom(peer)
        peers[socket.id] = nil
        if peers.isEmpty, drain?.leaveBy != nil { drainTimer?.schedule(at: loop.now) }
    }
}
