import SignalingCore
import SignalingProtocol

/// Reports from the session engine: the outcomes of commands, and the effects of sessions.
extension Hub: SessionEngineObserver {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        if RESTCalls.isOrigin(ticket.origin) {
            restCalls.remove(ticket.origin)?(outcome)
        } else if let peer = peer(of: ticket.origin) {
            note(outcome, of: ticket, for: peer)
            if !peer.refreshes.isEmpty { peer.noteRefresh(ticket.request, outcome) }
            // CON-14: the client has given up while the session had not answered.
            if case .joined = outcome, peer.socket.hasHungUp { handle(.mustClose(.goingAway), for: peer) }
            handle(.answered(ticket.request, outcome), for: peer)
        }
    }

    // Most reports answer the line that is being handled.

    private func peer(of origin: UInt64) -> Peer<Environment.Socket>? {
        if let linePeer, linePeer.socket.id == origin { return linePeer }
        return peers[origin]
    }

    private func room(of session: SessionID) -> Room<Environment.Socket>? {
        if let room = linePeer?.subscription?.room, room.session == session { return room }
        return rooms[session]
    }

    private func note(_ outcome: SessionOutcome, of ticket: CommandTicket, for peer: Peer<Environment.Socket>) {
        if !statistics.ackSampler.isIdle {
            statistics.ackSampler.answered(origin: ticket.origin, request: ticket.request)
        }
        if peer.subscription != nil {
            statistics.noteAnswer(outcome)
            if case .moderated = outcome, let session = peer.state.connected?.session {
                noteModeration(outcome, in: session)
            }
        } else if case .refused(let error) = outcome {
            noteRefused(error, of: peer, key: peer.joinKey?.project)
        }
    }

    func engine(sessionChanged session: SessionID) {
        guard let room = room(of: session) else { return }
        // A command that appends a signal appends it last.
        if let log = room.end(in: engine)?.log, let newest = log.newest {
            room.flushScheduler.noteWaiting(byteCount: newest.byteCount, isPresence: newest.isPresence)
            if room.mustFlush(before: log.lastSeq, in: log.bounds) { return flush(room, now) }
        }
        markDirty(room)
    }

    /// The clients return spread over a time that grows with their number, like those of a stopping server (LEAVE-5).
    func engine(lost session: SessionID) {
        guard let room = rooms[session] else { return }
        let peers = room.subscriptions.map(\.peer)
        for peer in peers {
            let wait = DrainPlan.returnWait(
                ofEach: peers.count, pace: limits.drain, random: .random(in: 0...1, using: &randomness))
            handle(.serverStops(returnAfter: wait), for: peer)
        }
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        switch effect {
        case .presence(let event): onPresence(event, session)
        case .keptPresence(let event): onKeptPresence(event, session)
        case .onlineOnly(let signal):
            guard let room = room(of: session) else { return }
            room.pendingOnlineOnly.append(signal)
            room.flushScheduler.noteWaiting(byteCount: 0)
            markDirty(room)
        case .onlineOnlyDropped(let drop): statistics.noteDropped(drop)
        case .ended(let connection, let reason, let ban):
            if let ended = rooms[session]?.subscription(of: connection) {
                handle(.ended(reason, ban: ban), for: ended.peer)
            }
        case .superseded(let socket):
            if let older = rooms[session]?.subscription(of: socket) { handle(.superseded, for: older.peer) }
        }
    }
}
