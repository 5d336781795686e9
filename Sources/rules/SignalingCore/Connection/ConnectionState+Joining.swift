import SignalingProtocol

/// From `connect` to the session: the token, then the join.
extension ConnectionState {
    mutating func authenticated(_ result: Result<Admission, SignalingError>) -> [Effect] {
        guard case .authenticating(let id, let request, let until) = phase else { return [] }
        switch result {
        case .success(let admission):
            if let moment = admission.lineRateFullAt { inputRate.begin(fullAt: moment) }
            // The session is the token's, whatever the request said (G8).
            var join = JoinRequest(
                connectionId: admission.connectionId, socket: admission.socket, role: admission.role,
                data: admission.data, user: admission.user, suppressesPresence: request.connectionEventsSuppressed,
                getsPages: request.connectionPages, getsAbsences: request.connectionAwayEvents,
                wallTime: admission.wallTime, secretHash: admission.secretHash,
                isUntimely: admission.untimeliness != nil,
                token: admission.token)
            if let resume = request.resume, let claimed = admission.claimedSecretHash {
                join.resumption = Resumption(
                    connectionId: resume.connectionId, secretHash: claimed, epoch: resume.epoch, after: resume.after)
            }
            phase = .joining(
                id,
                Joining(
                    session: admission.session, apiKey: request.apiKey, request: join,
                    resumeSecret: admission.resumeSecret, untimeliness: admission.untimeliness,
                    tokenExpiry: admission.tokenExpiry,
                    busyWait: admission.busyWait, historyAccess: admission.historyAccess,
                    history: request.history, getsStreams: request.streamEvents),
                until: until)
            return [.submit(.join(join), admission.session, id)]
        case .failure(let error):
            return refuseConnect(id, error)
        }
    }

    /// The session answered the join.
    mutating func joined(
        _ id: RequestID, _ joining: Joining, _ outcome: SessionOutcome, now: MonotonicInstant
    ) -> [Effect] {
        switch outcome {
        case .joined(let result):
            phase = .connected(Connected(joining, result, nextPing: now.advanced(by: heartbeat), now: now))
            let welcome = Welcome(
                connection: result.connection, connections: [result.connection],
                connectionCount: result.connectionCount, role: result.role, epoch: result.epoch, seq: result.seq,
                outcome: result.outcome, replayThrough: result.replayThrough,
                missing: result.missing, away: result.absences?.ids,
                hasHistory: result.hasHistory && joining.historyAccess == .granted, changes: result.changes,
                read: result.read,
                streams: joining.getsStreams && result.outcome != .resumed ? result.streams : nil,
                restrictions: result.restrictions,
                resume: ResumeOffer(
                    secret: joining.resumeSecret, resumeWindow: result.resumeWindow,
                    recoveryWindow: result.recoveryWindow),
                heartbeat: heartbeat)
            let answers = pending.resolve(id, with: nil) ?? []
            let entry = ClientEntry(
                suppressesPresence: result.suppressesPresence, others: result.others, absences: result.absences,
                getsStreams: joining.getsStreams)
            // A recovered connection is never sent its own `connectionCreated`. Without the position of this ping its
            // client could not resume before a later event (RES-4).
            let position: [Effect] = result.outcome != .resumed && result.replayThrough != nil ? [.ping] : []
            if welcome.hasHistory, let history = joining.history, result.outcome != .resumed {
                historyReads.append(HistoryReads.Read(id: id, request: history, upTo: result.seq))
            }
            return [.enter(id, welcome, entry)] + position + answers.flatMap { send($0) }
        case .refused(.untimely):
            return refuseConnect(id, joining.untimeliness ?? .untimely)
        case .refused(let error):
            return refuseConnect(id, error)
        case .wasForceDisconnected:
            phase = .closing
            return [.send(.disconnected(.forceDisconnected, .never)), .close(.forceDisconnected, .drop)]
        case .superseded: return endSuperseded()
        case .unavailable(let mayBeCarriedOut):
            return postpone(joining, returnAfter: joining.busyWait, cancels: mayBeCarriedOut)
        case .done, .signalled, .changed, .reacted, .marked, .reactors, .forceDisconnected, .erased, .moderated,
            .announced, .restrictions,
            .refreshed:
            return []
        }
    }

    /// CON-12: a refused token changes nothing. Every reason is the same error for the client, because its session ID
    /// and API key were accepted before.
    mutating func verified(
        _ id: RequestID, _ result: Result<TokenClaims, SignalingError>, now: MonotonicInstant
    ) -> [Effect] {
        guard case .connected(let connected) = phase else { return [] }
        switch result {
        case .success(let claims):
            return [.submit(.refreshToken(connected.binding, claims), connected.session, id)]
        case .failure(let error):
            return answered(id, .refused(SignalingError(.authenticationError, error.message)), now: now)
        }
    }

    /// A token that ends earlier than the present one, shown by a delayed request, changes nothing.
    mutating func tokenRefreshed(_ expiry: TokenExpiry) {
        guard case .connected(var connected) = phase else { return }
        connected.tokenExpiry = connected.tokenExpiry.later(expiry)
        phase = .connected(connected)
    }

    private mutating func refuseConnect(_ id: RequestID, _ error: SignalingError) -> [Effect] {
        phase = .closing
        let reason: CloseReason = error.code == .connectionLimitExceeded ? .sessionFull : .connectRefused
        return [.send(.error(id, error)), .close(reason, .drop)]
    }

    /// Undoes a join that has no answer yet. The session executes commands in order, so this one follows the join,
    /// whose answer no longer has a receiver. The join may have begun a connection or resumed one: a new one ends,
    /// since its client never learned of it; a resumed one can be resumed again.
    func cancelJoin(_ joining: Joining, _ reason: DisconnectReason) -> [Effect] {
        let request = joining.request
        var commands = [SessionCommand.leave(SocketBinding(request.connectionId, request.socket), reason)]
        if let resumption = request.resumption {
            commands.append(.detach(SocketBinding(resumption.connectionId, request.socket)))
        }
        return commands.map { .submit($0, joining.session, nil) }
    }
}
