import SignalingProtocol

/// From `connect` to the session: the token, then the join.
extension ConnectionState {
    mutating func authenticated(_ result: Result<Admission, SignalingError>) -> [Effect] {
        guard case .authenticating(let id, let request, let until) = phase else { return [] }
        switch result {
        case .success(let admission):
            // The session is the token's, whatever the request said (G8).
            var join = JoinRequest(
                connectionId: admission.connectionId, socket: admission.socket, role: admission.role,
                data: admission.data, suppressesPresence: request.connectionEventsSuppressed,
                wallTime: admission.wallTime, secretHash: admission.secretHash, isExpired: admission.isExpired,
                token: admission.token)
            if let resume = request.resume, let claimed = admission.claimedSecretHash {
                join.resumption = Resumption(
                    connectionId: resume.connectionId, secretHash: claimed, epoch: resume.epoch, after: resume.after)
            }
            phase = .joining(
                id,
                Joining(
                    session: admission.session, request: join, resumeSecret: admission.resumeSecret,
                    tokenExpiry: admission.tokenExpiry),
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
            phase = .connected(
                Connected(
                    session: joining.session,
                    binding: SocketBinding(result.connection.connectionId, joining.request.socket),
                    tokenExpiry: joining.tokenExpiry, isUnconfirmed: result.outcome == .resumed, lastHeard: now,
                    nextPing: now.advanced(by: heartbeat)))
            let welcome = Welcome(
                connection: result.connection, connections: result.connections, role: result.role,
                epoch: result.epoch, seq: result.seq, outcome: result.outcome, replayThrough: result.replayThrough,
                resume: ResumeOffer(
                    secret: joining.resumeSecret, resumeWindow: result.resumeWindow,
                    recoveryWindow: result.recoveryWindow),
                heartbeat: heartbeat)
            let answers = pending.resolve(id, with: nil) ?? []
            return [.enter(id, welcome, suppressesPresence: joining.request.suppressesPresence)]
                + answers.flatMap { send($0) }
        case .refused(let error):
            return refuseConnect(id, error)
        case .wasForceDisconnected:
            phase = .closing
            return [.send(.disconnected(.forceDisconnected, .never)), .close(.forceDisconnected, .drop)]
        case .done, .signalled, .forceDisconnected:
            return []
        }
    }

    private mutating func refuseConnect(_ id: RequestID, _ error: SignalingError) -> [Effect] {
        phase = .closing
        return [.send(.error(id, error)), .close(.connectRefused, .drop)]
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
