import DequeModule
import SignalingProtocol

/// One session: who is connected, the log, and the rules of who may do what.
///
/// The same commands at the same moments in the same order give the same effects, on any machine, at any speed. Commands
/// go in, one outcome for who asked comes back, and what everybody has to know is appended to the log or reported as an
/// effect.
public struct SessionState: Sendable {
    /// What a session permits.
    public struct Bounds: Sendable {
        /// Most connections at a time. OpenTok's present documentation says 15,000.
        public var connectionCount: Int
        public var log: SessionLog.Bounds
        /// How long a connection goes on without a socket; zero: not at all.
        public var resumeWindow: Duration
        /// How long after the loss of its socket a client can fetch what it missed.
        public var recoveryWindow: Duration
        /// Most expired connections whose clients may still recover what they missed.
        public var recoverableCount: Int
        /// How often one connection may signal (SIG-11); nil: as often as it likes. Online-only signals do not count.
        public var signalRate: RateLimit?
        /// How many of a connection's online-only signals are relayed (SIG-12); nil: all.
        public var onlineOnlyRate: RateLimit?
        /// In a session of more connections online-only signals to everybody are not relayed (SIG-12).
        public var onlineOnlyConnectionCount: Int

        /// The log is kept for as long as somebody may ask for it.
        public init(
            connectionCount: Int = 15_000, logEventCount: Int = 2048, logByteCount: Int = 1_048_576,
            resumeWindow: Duration = Limits.resumeWindow, recoveryWindow: Duration = Limits.recoveryWindow,
            recoverableCount: Int = 1024, signalRate: RateLimit? = nil,
            onlineOnlyRate: RateLimit? = RateLimit(perSecond: 1, burst: 5), onlineOnlyConnectionCount: Int = 100
        ) {
            self.connectionCount = connectionCount
            self.resumeWindow = resumeWindow
            self.recoveryWindow = recoveryWindow
            self.recoverableCount = recoverableCount
            self.signalRate = signalRate
            self.onlineOnlyRate = onlineOnlyRate
            self.onlineOnlyConnectionCount = onlineOnlyConnectionCount
            log = SessionLog.Bounds(
                eventCount: logEventCount, byteCount: logByteCount, age: max(resumeWindow, recoveryWindow))
        }
    }

    public let id: SessionID
    public let epoch: Epoch
    public let bounds: Bounds
    // Not private: see SessionState+Snapshot.swift, which has to know all that there is to keep.
    public internal(set) var log: SessionLog
    var members = Roster()
    var departed: DepartedTickets
    /// Of those who were forced out while they had no socket: they learn of it when they come back.
    var forceDisconnected: DepartedTickets
    /// Losses of sockets in their order, which is that of their deadlines. One that was made good meanwhile stays until then.
    var detachments: Deque<Detachment> = []
    var lastCreationTime: WallTime

    struct Detachment: Sendable {
        let connectionId: ConnectionID
        let until: MonotonicInstant
    }

    public init(id: SessionID, epoch: Epoch, bounds: Bounds = .init()) {
        self.id = id
        self.epoch = epoch
        self.bounds = bounds
        log = SessionLog(bounds: bounds.log)
        departed = DepartedTickets(limit: bounds.recoverableCount, window: bounds.recoveryWindow)
        // For as long as their clients try to come back.
        forceDisconnected = DepartedTickets(
            limit: bounds.recoverableCount, window: max(bounds.resumeWindow, bounds.recoveryWindow))
        lastCreationTime = WallTime(milliseconds: .min)
    }

    /// All that are connected, those without a socket included, in order of their creation time.
    public var connections: [Connection] { members.connections }
    public var connectionCount: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }
    public func contains(_ connection: ConnectionID) -> Bool { members.contains(connection) }

    /// Whether somebody is here, or may come back.
    public var isNeeded: Bool {
        !members.isEmpty || departed.neededUntil != nil || forceDisconnected.neededUntil != nil
    }

    /// When `advance` has to be called at the latest; nil when nothing is due.
    public var nextDeadline: MonotonicInstant? {
        [detachments.first?.until, departed.neededUntil, forceDisconnected.neededUntil].compactMap { $0 }.min()
    }

    /// Gives up the connections whose time to come back is over.
    public mutating func advance(to now: MonotonicInstant, effects: inout [SessionEffect]) {
        while let first = detachments.first, first.until <= now {
            detachments.removeFirst()
            // Not that of an earlier loss: whoever comes late has to give them up in their order all the same.
            guard let member = members[first.connectionId], case .detached(let lostAt, let until) = member.presence,
                until == first.until
            else { continue }
            remove(first.connectionId, .networkDisconnected, now, effects: &effects)
            departed.append(member.ticket, since: lostAt)
        }
        departed.expire(upTo: now)
        forceDisconnected.expire(upTo: now)
    }

    public mutating func handle(
        _ command: SessionCommand, now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        // What is over is over, however late the caller's timer comes.
        advance(to: now, effects: &effects)
        switch command {
        case .join(let request): return join(request, now, effects: &effects)
        case .leave(let binding, let reason): return leave(binding, reason, now, effects: &effects)
        case .detach(let binding): return detach(binding, now, effects: &effects)
        case .heard(let binding):
            if isAttached(binding) { members.update(binding.connectionId) { $0.ticket.confirm() } }
            return .done
        case .signal(let sender, let request):
            return answering(sender, isRepeatable: !request.isOnlineOnly) {
                $0.signal(request, from: sender, now, effects: &effects)
            }
        case .forceDisconnect(let sender, let target):
            return answering(sender, isRepeatable: true) {
                $0.forceDisconnect(target, by: sender, now, effects: &effects)
            }
        }
    }

    private func isAttached(_ binding: SocketBinding) -> Bool {
        members[binding.connectionId]?.isAttached(to: binding.socket) ?? false
    }

    // MARK: - Coming and going

    private mutating func join(
        _ request: JoinRequest, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        guard let claim = request.resumption else { return begin(request, .new, now, effects: &effects) }
        // An order that was lost, or a place in it that there never was.
        guard claim.epoch == epoch, claim.after <= log.lastSeq else {
            return begin(request, .lost, now, effects: &effects)
        }
        if let member = members[claim.connectionId], member.ticket.admits(claim, of: request) {
            let after = max(claim.after, member.ticket.begin)
            // Where there is no window nothing is resumed, not even what the server has not yet seen the loss of: no answers
            // are kept then, and what is sent again would be carried out again (G3).
            // Nor is a recovered connection that lost its socket before all of its replay had come: it recovers once more.
            if bounds.resumeWindow > .zero, after >= log.reachesBackTo, after >= member.ticket.joined {
                return resume(member, request, claim, after, effects: &effects)
            }
            if request.isExpired { return .refused(.expired) }
            // It cannot go on as what it was. Its client has given up the old connection by asking.
            if case .attached(let socket) = member.presence { effects.append(.superseded(socket)) }
            remove(claim.connectionId, .networkDisconnected, now, effects: &effects)
            let isRecoverable = bounds.recoveryWindow > .zero && after >= log.reachesBackTo
            return begin(request, isRecoverable ? .recovered : .lost, after: after, now, effects: &effects)
        }
        // RES-10: whoever was sent away does not come back by itself.
        if forceDisconnected.redeem(claim, of: request, now: now) != nil { return .wasForceDisconnected }
        guard !request.isExpired else { return .refused(.expired) }
        guard let ticket = departed.redeem(claim, of: request, now: now) else {
            return begin(request, .lost, now, effects: &effects)
        }
        let after = max(claim.after, ticket.begin)
        return begin(request, after >= log.reachesBackTo ? .recovered : .lost, after: after, now, effects: &effects)
    }

    private mutating func resume(
        _ member: Roster.Member, _ request: JoinRequest, _ claim: Resumption, _ after: Seq,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if case .attached(let socket) = member.presence { effects.append(.superseded(socket)) }
        members.update(claim.connectionId) { member in
            member.presence = .attached(request.socket)
            member.ticket.rotate(to: request.secretHash, claimed: claim.secretHash)
            member.answers.socketChanged()
        }
        return .joined(
            joinResult(
                of: member.connection, member.role, connections: [member.connection], after: after, .resumed,
                replayThrough: log.lastSeq))
    }

    /// A new connection, with what became of the one before, if there was one.
    private mutating func begin(
        _ request: JoinRequest, _ outcome: Welcome.Outcome, after: Seq? = nil, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        guard !request.isExpired else { return .refused(.expired) }
        guard members.count < bounds.connectionCount else {
            return .refused(SignalingError(.connectionLimitExceeded, "the session is full"))
        }
        guard !members.contains(request.connectionId) else {
            // The caller's randomness gave an id twice; refusing is better than two clients with one name.
            return .refused(SignalingError(.connectFailed, "the connection id is taken"))
        }
        // Strictly increasing, so that applications can put peers in order even when two join within a millisecond,
        // or the server's clock steps back.
        lastCreationTime = max(request.wallTime, WallTime(milliseconds: lastCreationTime.milliseconds &+ 1))
        let connection = Connection(
            connectionId: request.connectionId, creationTime: lastCreationTime, data: request.data)
        let missed = log.lastSeq
        let entry = log.append(audience: .everyone, kind: .presence(of: connection.connectionId), now: now) { seq in
            EncodedLine(.connectionCreated(seq, connection))
        }
        // This very event may have pushed out what was missed.
        let outcome = outcome == .recovered && (after ?? entry.seq) < log.reachesBackTo ? .lost : outcome
        if members.isEmpty { effects.append(.presence(.sessionCreated)) }
        effects.append(.presence(.connectionCreated(connection)))
        members.append(
            Roster.Member(
                connection: connection, role: request.role, encodedConnection: EncodedLine.encode(connection),
                presence: .attached(request.socket),
                ticket: ResumeTicket(
                    connectionId: connection.connectionId, role: request.role, data: request.data,
                    begin: outcome == .recovered ? after ?? entry.seq : entry.seq, joined: entry.seq,
                    secretHash: request.secretHash)))
        return .joined(
            joinResult(
                of: connection, request.role, connections: request.suppressesPresence ? [connection] : connections,
                after: outcome == .recovered ? after ?? entry.seq : entry.seq, outcome,
                replayThrough: outcome == .recovered ? missed : nil))
    }

    private func joinResult(
        of connection: Connection, _ role: Role, connections: [Connection], after: Seq, _ outcome: Welcome.Outcome,
        replayThrough: Seq?
    ) -> JoinResult {
        JoinResult(
            connection: connection, role: role, connections: connections, epoch: epoch, seq: after, outcome: outcome,
            replayThrough: replayThrough, resumeWindow: bounds.resumeWindow, recoveryWindow: bounds.recoveryWindow)
    }

    private mutating func leave(
        _ binding: SocketBinding, _ reason: DisconnectReason, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if isAttached(binding) { remove(binding.connectionId, reason, now, effects: &effects) }
        return .done
    }

    private mutating func detach(
        _ binding: SocketBinding, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        guard isAttached(binding) else { return .done }
        let until = now.advanced(by: bounds.resumeWindow)
        members.update(binding.connectionId) { $0.presence = .detached(at: now, until: until) }
        detachments.append(Detachment(connectionId: binding.connectionId, until: until))
        // At once where there is no time to come back.
        advance(to: now, effects: &effects)
        return .done
    }

    /// Whether it was there. Who is not there any more is not told of a second time (G7).
    @discardableResult
    private mutating func remove(
        _ connection: ConnectionID, _ reason: DisconnectReason, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> Bool {
        guard let member = members.remove(connection) else { return false }
        log.append(audience: .everyone, kind: .presence(of: connection), now: now) { seq in
            EncodedLine(.connectionDestroyed(seq, connection, reason))
        }
        effects.append(.presence(.connectionDestroyed(member.connection, reason)))
        if members.isEmpty { effects.append(.presence(.sessionDestroyed)) }
        return true
    }

    // MARK: - Requests

    /// Carries out a request of a connection unless it was carried out before (RES-9), and remembers the answer.
    private mutating func answering(
        _ sender: CommandSender, isRepeatable: Bool, _ carryOut: (inout SessionState) -> SessionOutcome
    ) -> SessionOutcome {
        guard case .connection(let binding, let request?) = sender, isRepeatable, bounds.resumeWindow > .zero,
            let known = members.update(
                binding.connectionId,
                { $0.isAttached(to: binding.socket) ? $0.answers.recall(request) : nil }) ?? nil
        else { return carryOut(&self) }
        switch known {
        case .new: break
        case .answered(let answer): return answer.outcome
        case .forgotten: return .refused(.answerForgotten)
        }
        let outcome = carryOut(&self)
        if let answer = AnswerBook.Answer(outcome) {
            members.update(binding.connectionId) { $0.answers.note(request, answer) }
        }
        return outcome
    }

    /// Checks in the order of SIG-5: rate, role, data, to, type, presence of the target.
    private mutating func signal(
        _ request: SignalRequest, from sender: CommandSender, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        let from: (id: ConnectionID, encoded: [UInt8])?
        switch sender {
        case .server: from = nil
        case .connection(let binding, _):
            let standing = members.update(binding.connectionId) { member in
                member.standing(for: request, on: binding.socket, bounds.signalRate, now)
            }
            switch standing {
            case .refused(let error)?: return .refused(error)
            case .mayTry(let encodedConnection)?: from = (binding.connectionId, encodedConnection)
            case nil: return .refused(.notInSession)
            }
        }
        do { try request.validate() } catch { return .refused(error) }
        if let to = request.to {
            guard members.contains(to) else {
                return .refused(SignalingError(.notFound, "the target connection is not in the session"))
            }
        } else if members.isEmpty {
            return .refused(SignalingError(.notFound, "nobody is connected to the session"))
        }

        let audience = request.to.map(Audience.only) ?? .everyone
        func line(_ seq: Seq?) -> EncodedLine {
            EncodedLine(
                SignalEvent(
                    seq: seq, from: from?.id, type: request.type, data: request.data, isJSON: request.isJSON,
                    to: request.to),
                encodedSender: from?.encoded)
        }
        if request.isOnlineOnly {
            let isInTime = from.map { from in
                members.update(from.id) { $0.onlineOnlyAllowance.consume(bounds.onlineOnlyRate, now: now) } ?? true
            }
            guard isInTime ?? true else {
                effects.append(.onlineOnlyDropped(.tooOften))
                return .signalled(nil)
            }
            if audience == .everyone, members.count > bounds.onlineOnlyConnectionCount {
                effects.append(.onlineOnlyDropped(.tooManyConnections))
                return .signalled(nil)
            }
            effects.append(
                .onlineOnly(
                    OnlineOnlySignal(
                        after: log.lastSeq, from: from?.id, type: request.type,
                        audience: audience, line: line(nil))))
            return .signalled(nil)
        }
        return .signalled(log.append(audience: audience, kind: .signal, now: now, line: line).seq)
    }

    private mutating func forceDisconnect(
        _ target: ConnectionID, by sender: CommandSender, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        switch sender {
        case .server: break
        case .connection(let binding, _):
            guard let member = members[binding.connectionId], member.isAttached(to: binding.socket) else {
                return .refused(SignalingError(.notConnectedToModerate, "not connected to the session"))
            }
            guard member.role.mayForceDisconnect else {
                return .refused(
                    SignalingError(.unableToForceDisconnect, "only a moderator may force others to disconnect"))
            }
        }
        let victim = members[target]
        guard let victim, remove(target, .forceDisconnected, now, effects: &effects) else {
            return .refused(SignalingError(.badTarget, "the connection is not in the session"))
        }
        if case .detached = victim.presence { forceDisconnected.append(victim.ticket, since: now) }
        effects.append(.ended(target, .forceDisconnected))
        return .forceDisconnected
    }
}

/// Whether a signal of a member may go on to be looked at.
private enum Standing {
    /// With what those who suppress connection events are told of its sender.
    case mayTry(encodedConnection: [UInt8])
    case refused(SignalingError)
}

extension Roster.Member {
    fileprivate mutating func standing(
        for request: SignalRequest, on socket: SocketID, _ rate: RateLimit?, _ now: MonotonicInstant
    ) -> Standing {
        guard isAttached(to: socket) else { return .refused(.notInSession) }
        // First: refusing costs as much as relaying to one, and nothing may be had without a limit.
        guard request.isOnlineOnly || signalAllowance.consume(rate, now: now) else {
            return .refused(SignalingError(.rateLimited, "too many signals"))
        }
        guard role.maySignal else {
            return .refused(SignalingError(.permissionDenied, "the role \(role.rawValue) may not signal"))
        }
        return .mayTry(encodedConnection: encodedConnection)
    }
}

extension AnswerBook.Answer {
    /// Nil for what is not worth remembering: it may be asked again without harm.
    fileprivate init?(_ outcome: SessionOutcome) {
        switch outcome {
        case .signalled(let seq?): self = .signalled(seq)
        case .forceDisconnected: self = .forceDisconnected
        case .refused(let error): self = .refused(error)
        case .signalled(nil), .joined, .wasForceDisconnected, .done: return nil
        }
    }

    fileprivate var outcome: SessionOutcome {
        switch self {
        case .signalled(let seq): .signalled(seq)
        case .forceDisconnected: .forceDisconnected
        case .refused(let error): .refused(error)
        }
    }
}

extension SignalingError {
    /// A command of a connection that the session does not have (any more).
    static var notInSession: SignalingError { SignalingError(.notConnected, "not connected to the session") }

    fileprivate static var expired: SignalingError {
        SignalingError(.authenticationError, "the token is refused: it has expired")
    }

    fileprivate static var answerForgotten: SignalingError {
        SignalingError(.notConnected, "it is not known any more what became of this request")
    }
}
