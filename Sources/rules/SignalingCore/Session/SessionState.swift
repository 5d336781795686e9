import DequeModule
import SignalingProtocol

/// One session: its connections, its log, and the rules for what each of them may do.
///
/// Deterministic: the same commands at the same moments in the same order give the same outcomes and effects, on any
/// machine. The caller passes the time, identifiers and secrets. Each command returns one outcome for its sender;
/// events for the members go to the log, and everything else becomes an effect.
public struct SessionState: Sendable {
    public let id: SessionID
    public internal(set) var epoch: Epoch
    /// The rules by which the next command is carried out.
    var rules: RulesVersion
    public internal(set) var bounds: Bounds
    // The properties below are internal for SessionState+Coding.swift, which must keep each of them.
    public internal(set) var log: SessionLog
    var roster: Roster
    /// The tickets of expired connections, whose clients may recover what they missed (RES-2).
    var expiredTickets: RetainedTickets
    /// The tickets of connections that were force-disconnected. A client that has not received `disconnected` learns of
    /// it when it comes back (RES-10).
    var forceDisconnectedTickets: RetainedTickets
    /// The connections without a socket, in the order of their deadlines.
    var detachments = Detachments()
    /// The moments at which connections without a socket become away, in their order. An entry counts if the connection
    /// has not had a socket since.
    var awayDeadlines: Deque<AwayDeadline> = []
    /// What the connections with each access token may still send together (SIG-11).
    var signalAllowances = TokenAllowances()
    var lastCreationTime: WallTime
    /// The presence of which observers outside of the session have not been told.
    var untoldPresence: UntoldPresence
    /// Whether the session sleeps (HIS-3): its last command was an `end`. Every other command wakes it.
    var isAsleep = false
    /// What the session's archive has not confirmed (HIS-3).
    var unarchived: Unarchived
    /// What its messages' authors may change, and have changed.
    var changeables: Changeables
    /// Who has reacted to them.
    var reactions = SessionReactions()
    /// How far users have read.
    var markers = SessionMarkers()
    /// The users who may not be connected (FEED-6).
    var absentees = Absentees()
    /// Of this node alone, and not kept.
    var waitingMarkers = WaitingMarkers()
    /// Which connections wait to be let go.
    var departures = Departures()
    /// What moderators and REST have taken from users, and done.
    var restrictions = Restrictions()
    /// What the connections announce.
    var streams = SessionStreams()
    /// The node that acts for the session: it carries out what is due, and tells observers outside of it. `nil` if that
    /// node has stopped; the next command's submitter is then the keeper.
    public internal(set) var keeper: RunID?
    /// The node that submitted the command that is carried out next, or at present.
    var submitter = RunID(0)

    struct AwayDeadline: Sendable {
        let connectionId: ConnectionID
        let lostAt: MonotonicInstant
        let moment: MonotonicInstant
    }

    /// - Parameter seq: the events begin above it.
    public init(
        id: SessionID, epoch: Epoch, after seq: Seq = .zero, bounds: Bounds = .init(), rules: RulesVersion = .current
    ) {
        self.id = id
        self.rules = rules
        self.epoch = epoch
        self.bounds = bounds
        log = SessionLog(bounds: bounds.log, lastSeq: seq, entries: [])
        unarchived = Unarchived(lastKept: seq)
        changeables = Changeables(after: seq)
        roster = Roster(listBlockByteCount: bounds.listBlockByteCount)
        expiredTickets = RetainedTickets(limit: bounds.recoverableCount, window: bounds.recoveryWindow)
        // Kept for as long as their clients try to come back (RES-13).
        forceDisconnectedTickets = RetainedTickets(
            limit: bounds.recoverableCount, window: max(bounds.resumeWindow, bounds.recoveryWindow))
        lastCreationTime = WallTime(milliseconds: .min)
        untoldPresence = UntoldPresence(limit: bounds.untoldEventCount)
    }

    /// All connections, those without a socket included, by creation time.
    public var connections: [Connection] { roster.connections }
    /// The number of connections, those without a socket included.
    public var connectionCount: Int { roster.count }
    /// Whether the session has no connection. It may still be needed.
    public var isEmpty: Bool { roster.isEmpty }
    public func contains(_ connection: ConnectionID) -> Bool { roster.contains(connection) }

    /// Whether the session has a connection, a client may come back to it, observers outside have not been told of its
    /// presence, the archive lacks a message, reactions or unread messages are to be told, or an access token has used its allowance of signals: a session that begins
    /// anew would renew that.
    public var isNeeded: Bool {
        isOccupied || !unarchived.isEmpty || reactions.tellsAt != nil || absentees.waitingSince != nil
    }

    /// Whether the session is needed for its clients, or for observers outside of it.
    var isOccupied: Bool {
        !roster.isEmpty || expiredTickets.neededUntil != nil || forceDisconnectedTickets.neededUntil != nil
            || !untold.isEmpty || signalAllowances.fullAt != nil
    }

    /// The latest moment for the next call of `advance`; `nil` when nothing is due.
    public var nextDeadline: MonotonicInstant? {
        MonotonicInstant.earlier(
            .earlier(awayDeadlines.first?.moment, departures.resumeAt ?? detachments.nextDeadline),
            .earlier(
                .earlier(
                    .earlier(expiredTickets.neededUntil, forceDisconnectedTickets.neededUntil),
                    .earlier(reactions.tellsAt, tellsUnreadAt)),
                // With connections the session is needed anyway, and need not act after each signal.
                roster.isEmpty ? signalAllowances.fullAt : nil))
    }

    /// Carries out everything that is due: notes absences (PRES-4), expires connections without a socket, then tickets
    /// (RES-12) and allowances, and tells reactions (CHG-12). Of very many connections only a part goes (LEAVE-6): then something is due again soon.
    public mutating func advance(to now: MonotonicInstant, effects: inout [SessionEffect]) {
        noteAbsences(upTo: now)
        letGo(now, effects: &effects)
        expiredTickets.expire(upTo: now)
        forceDisconnectedTickets.expire(upTo: now)
        signalAllowances.expire(upTo: now)
        if reactions.mustTell { tellReactions(now) }
        tellUnread(now)
    }

    private mutating func noteAbsences(upTo now: MonotonicInstant) {
        while let first = awayDeadlines.first, first.moment <= now {
            awayDeadlines.removeFirst()
            // A connection that expires at the same moment was never away.
            guard case .detached(first.lostAt, let until)? = roster[first.connectionId]?.attachment,
                first.moment < until
            else { continue }
            log.absences.insert(first.connectionId)
        }
    }

    /// Carries out one command.
    ///
    /// - Parameter effects: effects are appended in their order.
    /// - Returns: the answer for the command's sender.
    public mutating func handle(
        _ command: SessionCommand, now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        // Deadlines count even if the caller's timer is late.
        advance(to: now, effects: &effects)
        switch command {
        case .join(let request): return join(request, now, effects: &effects)
        case .leave(let binding, let reason): return leave(binding, reason, now, effects: &effects)
        case .detach(let binding): return detach(binding, now, effects: &effects)
        case .heard(let binding):
            let rules = rules
            if isAttached(binding) { roster.update(binding.connectionId) { $0.ticket.secrets.confirm(rules) } }
            return .done
        case .signal(let sender, let request):
            return answering(sender, isRepeatable: !request.isOnlineOnly, now) {
                $0.signal(request, from: sender, now, effects: &effects)
            }
        case .refreshToken(let binding, let claims): return refreshToken(binding, claims, now)
        case .restrictions(let binding): return readRestrictions(binding, now)
        case .moderate(let sender, let request, let time):
            return answering(sender, isRepeatable: true, now) {
                $0.moderate(request, by: sender, time, now, effects: &effects)
            }
        case .streams(let sender, let streams):
            return answering(sender, isRepeatable: true, now) { $0.announce(streams, from: sender, now) }
        case .change(let sender, let request):
            return answering(sender, isRepeatable: true, now) { $0.change(request, by: sender, now) }
        case .react(let sender, let request):
            // Whoever repeats it changes nothing.
            return answering(sender, isRepeatable: false, now) { $0.react(request, by: sender, now) }
        case .reactors(let binding, let request): return readReactors(request, for: binding)
        case .read(let binding, let seq): return read(through: seq, by: binding, now)
        case .erase(let sender, let erasure):
            return answering(sender, isRepeatable: true, now) { $0.erase(erasure, by: sender, now) }
        case .forceDisconnect(let sender, let target):
            return answering(sender, isRepeatable: true, now) {
                $0.forceDisconnect(target, by: sender, now, effects: &effects)
            }
        }
    }

    /// Carries out a command that changes nothing that lasts: an online-only signal, a reading, or a read marker,
    /// which waits for the log. Such a command is in no log, so what is due must wait for the next one that is.
    mutating func handleUnlogged(
        _ command: SessionCommand, now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome? {
        switch command {
        case .signal(let sender, let request) where request.isOnlineOnly:
            isBanned(sender, now) ? .refused(.notInSession) : signal(request, from: sender, now, effects: &effects)
        case .restrictions(let binding): readRestrictions(binding, now)
        case .reactors(let binding, let request): readReactors(request, for: binding)
        case .read(let binding, let seq): read(through: seq, by: binding, now)
        case .join, .leave, .detach, .heard, .signal, .forceDisconnect, .change, .react, .erase, .moderate, .streams,
            .refreshToken:
            nil
        }
    }

    /// Whether the connection is in the session and uses this socket.
    func isAttached(_ binding: SocketBinding) -> Bool {
        roster[binding.connectionId]?.isAttached(to: binding.socket) ?? false
    }
}
