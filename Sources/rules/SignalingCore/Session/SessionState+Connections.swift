import SignalingProtocol

extension SessionState {
    /// Begins or resumes a connection (RES-2 to RES-11), unless its user, or its guest's token, is banned (MOD-3).
    mutating func join(
        _ request: JoinRequest, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if let ban = restrictions.ban(of: request.user, request.token.map { [$0] } ?? [], at: now) {
            return .refused(SignalingError(.userBanned, because: ban, now))
        }
        guard let claim = request.resumption else { return begin(request, .new, now, effects: &effects) }
        // The client's order of events was lost.
        guard claim.epoch == epoch else { return begin(request, .lost, now, effects: &effects) }
        // It may wait for its turn to go.
        if case .detached(_, let until)? = roster[claim.connectionId]?.attachment, until <= now {
            expire(claim.connectionId, now, effects: &effects)
        }
        if let member = roster[claim.connectionId], member.ticket.admits(claim, of: request) {
            let after = max(claim.after, member.ticket.begin)
            // Before the old connection is removed, which adds an event.
            let isKept = log.hasAll(after: after)
            let isOfThisOrder = after <= min(member.ticket.reach ?? log.lastSeq, log.lastSeq)
            // Without a resume window nothing is resumed, even before the server notices the loss: the session keeps no
            // answers then, and would carry out repeated requests twice (G3). A recovered connection that lost its
            // socket before the end of its replay recovers once more instead (RES-4).
            if bounds.resumeWindow > .zero, isKept, isOfThisOrder, after >= member.ticket.joined {
                return resume(member, request, claim, after, now, effects: &effects)
            }
            if request.isUntimely { return .refused(.untimely) }
            // The connection cannot be resumed, and its client has abandoned it by asking.
            if case .attached(let socket, _) = member.attachment { effects.append(.superseded(socket)) }
            remove(claim.connectionId, .networkDisconnected, now, effects: &effects)
            // A claim beyond the last event is not of this order: nothing is known of what the client has (RES-3).
            guard bounds.recoveryWindow > .zero, isOfThisOrder else {
                return begin(request, .lost, now, effects: &effects)
            }
            return begin(request, .recovered, after: after, now, effects: &effects)
        }
        if rules >= .history, isSuperseded(claim, of: request) { return .superseded }
        // RES-10: a force-disconnected client does not come back by itself.
        if forceDisconnectedTickets.first(admitting: claim, of: request, now: now) != nil {
            return .wasForceDisconnected
        }
        guard !request.isUntimely else { return .refused(.untimely) }
        guard let ticket = expiredTickets.first(admitting: claim, of: request, now: now) else {
            return begin(request, .lost, now, effects: &effects)
        }
        let after = max(claim.after, ticket.begin)
        let isOfThisOrder = after <= min(ticket.reach ?? log.lastSeq, log.lastSeq)
        let answer = begin(
            request, isOfThisOrder ? .recovered : .lost, after: isOfThisOrder ? after : nil, now, effects: &effects)
        // A refused connect changes nothing (ERR-2): once the session has room, the client recovers.
        if case .joined = answer { expiredTickets.remove(ticket.connectionId) }
        return answer
    }

    /// Whether the claim has a secret that its client no longer uses. It is answered so once.
    private mutating func isSuperseded(_ claim: Resumption, of request: JoinRequest) -> Bool {
        guard let member = roster[claim.connectionId], member.role == request.role,
            member.connection.data == request.data, member.connection.user == request.user,
            member.ticket.secrets.superseded.contains(claim.secretHash)
        else { return false }
        roster.update(claim.connectionId) { _ = $0.ticket.secrets.takeSuperseded(claim.secretHash) }
        return true
    }

    private mutating func resume(
        _ member: Roster.Member, _ request: JoinRequest, _ claim: Resumption, _ after: Seq,
        _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if case .attached(let socket, _) = member.attachment { effects.append(.superseded(socket)) }
        log.absences.remove(claim.connectionId)
        let node = submitter
        roster.update(claim.connectionId) { member in
            member.attachment = .attached(request.socket, node: node)
            member.ticket.secrets.issue(request.secretHash, claimed: claim.secretHash)
            member.ticket.reach = nil
            member.answers.socketChanged()
        }
        if rules >= .newerTokens { roster.note(request.token, of: claim.connectionId) }
        detachments.remove(claim.connectionId)
        if let user = member.connection.user { absentees.remove(user) }
        var result = joinResult(
            of: member.connection, member.role, suppressesPresence: member.suppressesPresence, after: after, .resumed,
            replayThrough: log.lastSeq, now)
        if member.isToldAbsences { result.absences = log.absences }
        return .joined(result)
    }

    /// Begins a new connection.
    ///
    /// - Parameters:
    ///   - outcome: what became of the client's earlier connection. A recovered one is lost if the log was overrun; its
    ///     client then gets what the log still has (RES-16).
    ///   - after: for a recovered connection, the last seq that its client has.
    private mutating func begin(
        _ request: JoinRequest, _ outcome: Welcome.Outcome, after: Seq? = nil, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        guard !request.isUntimely else { return .refused(.untimely) }
        makeRoom(for: request.token, now, effects: &effects)
        guard roster.count < bounds.connectionCount else {
            return .refused(
                SignalingError(.connectionLimitExceeded, "the session is full: it has \(roster.count) connections"))
        }
        guard !roster.contains(request.connectionId) else {
            // The caller's randomness repeated an ID. Two clients must never share one.
            return .refused(SignalingError(.connectFailed, "the connection ID is in use; connect again"))
        }
        // Strictly increasing (CON-5), even when two clients join within a millisecond or the server's clock steps
        // back.
        lastCreationTime = max(request.wallTime, WallTime(milliseconds: lastCreationTime.milliseconds &+ 1))
        let connection = Connection(
            connectionId: request.connectionId, creationTime: lastCreationTime, data: request.data,
            user: request.user)
        let missed = log.lastSeq
        let entry = log.append(audience: .everyone, kind: .presence(of: connection.connectionId), now: now) { seq in
            EncodedLine(.connectionCreated(seq, connection))
        }
        announce(.connectionCreated(entry.seq, connection), now)
        if let user = connection.user { absentees.remove(user) }
        // Compared now: the new event may have pushed a missed event out of the log.
        let replay = after.map { Replay(after: $0, through: missed, reachesBackTo: log.reachesBackTo) }
        if roster.isEmpty { report(.sessionCreated, now, effects: &effects) }
        report(.connectionCreated(connection), now, effects: &effects)
        let start = replay?.start ?? entry.seq
        let others = roster.list
        roster.append(
            Roster.Member(
                connection: connection, role: request.role, encodedConnection: EncodedLine.encode(connection),
                suppressesPresence: request.suppressesPresence, isToldAbsences: request.isToldAbsences,
                attachment: .attached(request.socket, node: submitter), token: request.token,
                ticket: ResumeTicket(
                    connectionId: connection.connectionId, role: request.role, data: request.data,
                    user: request.user, begin: start, joined: entry.seq, secrets: ValidSecrets(request.secretHash))))
        var result = joinResult(
            of: connection, request.role, suppressesPresence: request.suppressesPresence, after: start,
            replay?.missing == nil ? outcome : .lost, replayThrough: replay?.through, now)
        result.missing = replay?.missing
        if request.isToldAbsences { result.absences = log.absences }
        if !request.suppressesPresence { list(others, in: &result, inPages: request.getsPages) }
        return .joined(result)
    }

    /// Adds the other connections to the answer to a join, in one of the forms of CON-11.
    private func list(_ others: ConnectionList, in result: inout JoinResult, inPages: Bool) {
        if others.count == 0 { return }
        if inPages {
            result.connectionCount = roster.count
            result.others = .inPages(UnsentConnections(others))
        } else {
            let own = roster.list.byteCount - others.byteCount
            let listed = UnsentConnections(others, byteLimit: Limits.connectionListByteCount - own)
            if listed.count < others.count { result.connectionCount = roster.count }
            result.others = .withinConnected(listed)
        }
    }

    /// The answer to a join, without the other connections.
    private func joinResult(
        of connection: Connection, _ role: Role, suppressesPresence: Bool, after: Seq, _ outcome: Welcome.Outcome,
        replayThrough: Seq?, _ now: MonotonicInstant
    ) -> JoinResult {
        JoinResult(
            connection: connection, role: role, suppressesPresence: suppressesPresence, epoch: epoch, seq: after,
            outcome: outcome, replayThrough: replayThrough, streams: streams.announcements,
            hasHistory: bounds.history != nil, changes: permittedChanges, read: readState(for: connection.user),
            restrictions: restrictions.told(to: connection.user, at: now),
            resumeWindow: bounds.resumeWindow, recoveryWindow: bounds.recoveryWindow)
    }

    /// The newest event that a client can have that loses its socket now.
    var reach: Seq? { rules >= .history ? log.lastSeq : nil }

    /// Ends a connection, unless it has left or uses another socket.
    mutating func leave(
        _ binding: SocketBinding, _ reason: DisconnectReason, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if isAttached(binding) { remove(binding.connectionId, reason, now, effects: &effects) }
        return .done
    }

    /// Starts the resume window of a connection, unless it has left or uses another socket (RES-2).
    mutating func detach(
        _ binding: SocketBinding, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        guard isAttached(binding) else { return .done }
        let until = now.advanced(by: bounds.resumeWindow)
        let reach = reach
        let token = roster.update(binding.connectionId) { member in
            member.attachment = .detached(at: now, until: until)
            member.ticket.reach = reach
            return member.token
        }
        detachments.add(Detachments.Loss(connectionId: binding.connectionId, until: until, token: token ?? nil))
        awayDeadlines.append(
            AwayDeadline(
                connectionId: binding.connectionId, lostAt: now, moment: now.advanced(by: bounds.awayDelay)))
        if let token = token ?? nil, detachments.count(of: token) > bounds.detachedCountPerToken,
            let oldest = detachments.oldest(of: token)
        {
            expire(oldest.connectionId, now, effects: &effects)
        }
        noteAbsence(of: roster[binding.connectionId]?.connection.user, now)
        // Expires the connection at once when the resume window is zero.
        advance(to: now, effects: &effects)
        return .done
    }

    /// Makes room in a full session: connections without a socket give way before a client is refused (RES-12), those
    /// of the same token first. Otherwise one token could fill the session with connections that nobody uses.
    private mutating func makeRoom(
        for token: TokenFingerprint?, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) {
        guard roster.count >= bounds.connectionCount else { return }
        guard let loss = token.flatMap({ detachments.oldest(of: $0) }) ?? detachments.oldest else { return }
        expire(loss.connectionId, now, effects: &effects)
    }

    /// Ends a connection without a socket, at the end of its resume window or earlier (RES-12). Its client may still
    /// recover what it missed.
    mutating func expire(_ id: ConnectionID, _ now: MonotonicInstant, effects: inout [SessionEffect]) {
        guard let member = roster[id], case .detached(let lostAt, _) = member.attachment else { return }
        remove(id, .networkDisconnected, now, effects: &effects)
        expiredTickets.append(member.ticket, since: lostAt)
    }

    /// Removes a connection and notifies the others. Each connection leaves once (G7).
    ///
    /// - Returns: whether the connection was in the session.
    @discardableResult
    mutating func remove(
        _ connection: ConnectionID, _ reason: DisconnectReason, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> Bool {
        guard let member = roster.remove(connection) else { return false }
        log.absences.remove(connection)
        detachments.remove(connection)
        endStreams(of: member.connection, reason, now)
        let entry = log.append(audience: .everyone, kind: .presence(of: connection), now: now) { seq in
            EncodedLine(.connectionDestroyed(seq, connection, reason))
        }
        announce(.connectionDestroyed(entry.seq, member.connection, reason), now)
        // Without a socket it was away before.
        if !member.isDetached { noteAbsence(of: member.connection.user, now) }
        report(.connectionDestroyed(member.connection, reason), now, effects: &effects)
        if roster.isEmpty { report(.sessionDestroyed, now, effects: &effects) }
        return true
    }
}

extension JoinRequest {
    /// PRES-4: a client without presence is told of no absences either.
    fileprivate var isToldAbsences: Bool { getsAbsences && !suppressesPresence }
}

/// The events that a new connection gets in the place of an earlier one.
private struct Replay {
    /// The replay begins after this seq.
    let start: Seq
    let through: Seq
    /// The events that the log no longer has; `nil` if it has all of them.
    let missing: MissingEvents?

    init(after: Seq, through: Seq, reachesBackTo: Seq) {
        start = max(after, reachesBackTo)
        self.through = through
        missing = after < start ? MissingEvents(first: after.next, last: start) : nil
    }
}
