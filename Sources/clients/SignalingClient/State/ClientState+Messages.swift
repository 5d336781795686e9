import SignalingProtocol

/// Messages of the server.
extension ClientState {
    mutating func received(_ message: ServerMessage, _ now: MonotonicInstant) -> [Effect] {
        noteSignOfLife(now)
        switch message {
        case .connected(let id, let welcome):
            guard let arriving = ArrivingWelcome(id, welcome) else { return welcomed(id, welcome, now) }
            self.arriving = arriving
            return []
        case .connections(let connections, let rest):
            arriving?.append(connections)
            guard rest == 0, let (id, welcome) = arriving?.complete else { return [] }
            arriving = nil
            return welcomed(id, welcome, now)
        case .error(let id, let error): return refused(id, error, now)
        case .disconnected(let reason, let reconnect, let ban): return dismissed(reason, reconnect, ban: ban, now)
        case .ack, .signal, .history, .change, .reactions, .reacted, .reactors, .read, .erased, .connectionCreated,
            .connectionDestroyed, .connectionAway, .connectionBack, .moderated, .restricted, .unrestricted,
            .restrictions, .ping:
            break
        }
        switch phase {
        case .disconnected, .opening, .connecting, .reconnecting: return []
        case .connected, .disconnecting: return receivedInSession(message) + tellAbsences()
        }
    }

    /// The server has accepted a newer token: later connects show it (CON-12).
    private mutating func use(_ token: String) {
        guard case .connected(var terms, let silentUntil) = phase else { return }
        terms.request.token = token
        phase = .connected(terms, silentUntil: silentUntil)
    }

    /// HB-3: any text message is a sign of life.
    mutating func receivedUnknown(_ now: MonotonicInstant) -> [Effect] {
        noteSignOfLife(now)
        return []
    }

    /// The client cannot interpret such a line, and must not miss an event silently (G4).
    mutating func receivedMalformed(_ error: SignalingError) -> [Effect] {
        switch phase {
        case .disconnected: []
        case .opening, .connecting: [.closeSocket(.normal)] + failConnect(error)
        case .connected: [.closeSocket(.normal)] + end(.networkDisconnected)
        case .reconnecting(_, let reconnection):
            reconnection.isTrying ? reconnection.leaveAttempt(.normal) + end(.networkDisconnected) : []
        case .disconnecting: [.closeSocket(.normal)] + end(.clientDisconnected)
        }
    }

    private mutating func noteSignOfLife(_ now: MonotonicInstant) {
        guard case .connected(let terms, _) = phase else { return }
        phase = .connected(terms, silentUntil: terms.silentUntil(from: now))
    }

    private mutating func receivedInSession(_ message: ServerMessage) -> [Effect] {
        switch message {
        case .ack(let id, let seq):
            // The server has sent everything before this seq that is meant for this client (SIG-6).
            if let seq { view?.advance(to: seq) }
            guard let request = pending.removeAnswered(id) else { return [] }
            switch request.content {
            case .refreshToken(let token): use(token)
            case .history, .reactors, .restrictions:
                return [.callFailed(request.call, Self.answerOfAnotherKind)] + sendPending()
            case .signal, .forceDisconnect, .change, .react, .read, .erase, .moderate: break
            }
            return [.callSucceeded(request.call, seq)] + sendPending()
        case .signal(let event):
            guard let view, self.view?.accept(event.seq) == true else { return [] }
            return [.emit(.signal(view.signal(event)))]
        case .connectionCreated(let seq, let connection):
            guard view?.accept(seq) == true else { return [] }
            return (view?.add(connection) ?? []).map { .emit($0) }
        case .connectionDestroyed(let seq, let id, let reason):
            guard view?.accept(seq) == true, let events = view?.remove(id, reason), !events.isEmpty else { return [] }
            absences.forget(id)
            return events.map { .emit($0) }
        case .connectionAway(let id):
            absences.add(id)
            return []
        case .connectionBack(let id):
            absences.remove(id)
            return []
        case .history(let id, let answer): return pageArrived(id, answer)
        case .change(let event):
            guard let view, self.view?.accept(event.seq) == true else { return [] }
            return [.emit(.changed(view.change(event)))]
        case .reactions(let event):
            return view?.accept(event.seq) == true ? [.emit(.reactions(event))] : []
        case .reacted(let seq, let own):
            return view?.accept(seq) == true ? [.emit(.reacted(seq, own))] : []
        case .reactors(let id, _, let reactors): return reactorsArrived(id, reactors)
        case .read(let marker): return [.emit(.read(marker))]
        case .erased(let seq, let erasure):
            return view?.accept(seq) == true ? [.emit(.erased(erasure, seq: seq))] : []
        case .moderated(let seq, let event):
            return view?.accept(seq) == true ? [.emit(.moderated(event, seq: seq))] : []
        case .restricted(let seq, let restriction):
            return view?.accept(seq) == true ? [.emit(.restricted(restriction))] : []
        case .unrestricted(let seq, let kind):
            return view?.accept(seq) == true ? [.emit(.unrestricted(kind))] : []
        case .restrictions(let id, let records): return restrictionsArrived(id, records)
        case .ping(let seq):
            // HB-2: the same holds for a ping.
            view?.advance(to: seq)
            return [.send(.pong)]
        case .connected, .connections, .error, .disconnected: return []
        }
    }

    /// The server ends this socket (LEAVE-4). This message overrides the close code that follows.
    private mutating func dismissed(
        _ reason: DisconnectReason, _ reconnect: Reconnect, ban: Restriction?, _ now: MonotonicInstant
    ) -> [Effect] {
        let wait: Duration?
        switch phase {
        case .disconnected: return []
        case .connecting(var request, _, let until) where request.resume != nil:
            // A moderator has ended the connection that this one replaces. The new one does not depend on it.
            request.resume = nil
            phase = .opening(request, until: until)
            return [.closeSocket(.normal), .openSocket]
        case .opening, .connecting:
            return [.closeSocket(.normal)]
                + failConnect(SignalingError(.connectFailed, "the server is stopping or busy; connect again"))
        case .disconnecting: return [.closeSocket(.normal)] + end(.clientDisconnected)
        case .reconnecting(_, let reconnection) where !reconnection.isTrying: return []
        case .connected, .reconnecting: break
        }
        switch reconnect {
        case .never: return [.closeSocket(.normal)] + end(reason, ban: ban)
        case .yes: wait = nil
        case .after(let time): wait = time
        }
        // Not 1000: that code would end the connection (RES-10).
        if case .connected = phase { return [.closeSocket(.heartbeatMissed)] + loseSocket(now, wait: wait) }
        let next = wait.map { attemptPostponed(now, wait: $0) } ?? attemptFailed(now)
        return [.closeSocket(.heartbeatMissed)] + next
    }

    private mutating func refused(_ id: RequestID?, _ error: SignalingError, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .disconnected, .opening: return []
        case .connecting(_, let connect, _):
            // Without an ID the server could not read the request: the error still answers it.
            guard id == nil || id == connect else { return [] }
            return [.closeSocket(.normal)] + failConnect(error)
        case .reconnecting(_, let reconnection):
            guard case .connecting(let connect, _) = reconnection.step, id == nil || id == connect else { return [] }
            return error.isRetryable
                ? [.closeSocket(.heartbeatMissed)] + attemptFailed(now)
                : [.closeSocket(.normal)] + end(.networkDisconnected, ban: error.restriction)
        case .connected, .disconnecting:
            guard let id else { return [] }
            if id == awaitedPage?.id { awaitedPage = nil }
            guard let request = pending.removeAnswered(id) else { return [] }
            return [.callFailed(request.call, error)] + sendPending()
        }
    }

    // MARK: - Entering the session

    private mutating func welcomed(_ id: RequestID, _ welcome: Welcome, _ now: MonotonicInstant) -> [Effect] {
        switch phase {
        case .connecting(let request, id, _):
            enter(welcome, request, now)
            awaitPage(of: request, answered: id, by: welcome)
            view = SessionView(welcome)
            absences = PeerAbsences()
            absences.enter(welcome.away ?? [], replayThrough: .zero)
            return [.connectSucceeded(welcome)] + tellAbsences()
        case .reconnecting(let terms, let reconnection):
            guard case .connecting(id, _) = reconnection.step, let before = view else { return [] }
            enter(welcome, terms.request, now)
            let isSameOrder = welcome.epoch == before.epoch
            if welcome.outcome == .resumed, isSameOrder,
                welcome.connection.connectionId == before.connection.connectionId
            {
                return resumed(welcome)
            }
            awaitPage(of: terms.request, answered: id, by: welcome)
            view = SessionView(welcome, after: before)
            // A server without resuming answers "new". Events may be missing then.
            let outcome: Welcome.Outcome = welcome.outcome == .recovered && isSameOrder ? .recovered : .lost
            return replaced(welcome, outcome, missing: isSameOrder ? welcome.missing : nil, before)
        case .disconnected, .opening, .connecting, .connected, .disconnecting: return []
        }
    }

    private mutating func enter(_ welcome: Welcome, _ request: ConnectRequest, _ now: MonotonicInstant) {
        let terms = Terms(request: request, offer: welcome.resume, heartbeat: welcome.heartbeat)
        phase = .connected(terms, silentUntil: terms.silentUntil(from: now))
    }

    /// The same connection. The peers stay, and the replayed events bring them up to date (RES-5).
    private mutating func resumed(_ welcome: Welcome) -> [Effect] {
        // The server may repeat events that this client has seen (G3).
        view?.advance(to: welcome.seq)
        absences.enter(welcome.away ?? [], replayThrough: welcome.replayThrough ?? .zero)
        let sends = pending.messagesToRepeat.map { Effect.send($0) } + askForAwaitedPage() + sendPending()
        // RES-6: a message on this socket ends the time in which an older attempt, or the older secret, could take the
        // connection over.
        return [.connectionResumed(welcome), .emit(.reconnected(.resumed))] + tellAbsences()
            + (sends.isEmpty ? [.send(.pong)] : sends)
    }

    /// Another connection. The fate of the requests that were sent on the old one is unknown (RES-9).
    private mutating func replaced(
        _ welcome: Welcome, _ outcome: Welcome.Outcome, missing: MissingEvents?, _ before: SessionView
    ) -> [Effect] {
        let changes = view?.changes(since: before) ?? []
        // Presence is not replayed: the list is that of now.
        absences.enter(welcome.away ?? [], replayThrough: .zero)
        let unknown = pending.removeSent()
        return [.connectionReplaced(welcome)] + changes.map { .emit($0) }
            + [.emit(.reconnected(outcome, missing: outcome == .lost ? missing : nil))] + tellAbsences()
            + unknown.map { Self.failure(of: $0, Self.lostBeforeAnswer) } + sendPending()
    }

    /// The changes in the absences of peers that the program does not know yet.
    private mutating func tellAbsences() -> [Effect] {
        guard let view else { return [] }
        return absences.changes(at: view.seq, among: view.peers).map { .emit($0) }
    }
}
