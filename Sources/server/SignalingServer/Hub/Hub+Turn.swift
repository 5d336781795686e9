import SignalingCore
import SignalingProtocol

/// The end of a turn of the loop: each peer with pending output gets all of it in one write.
extension Hub {
    /// Called once per turn of the loop, after its input and timers.
    func turnEnded() {
        defer { checkInvariants() }
        turn &+= 1
        let now = environment.now
        let nextFlush = dirtyRooms.isEmpty ? nil : flushDirtyRooms(now)
        if !dirtyPeers.isEmpty { serveDirtyPeers() }
        noteAcknowledgement()
        if hasEnded { return }
        engine.advance(to: now)
        reportEnds()
        armSessionTimer()
        // Closing a slow client or expiring a connection makes new work for its room, so schedule another turn.
        if !dirtyRooms.isEmpty || !dirtyPeers.isEmpty { timers?.flush.schedule(at: nextFlush ?? now) }
        // Only here: if the timer's own handler scheduled it for now, libuv would run it again before anything else.
        // Not with `now`, which a timer rounds up.
        if !peersWithInput.isEmpty, !engine.isSaturated { timers?.input.schedule(at: MonotonicInstant(nanoseconds: 0)) }
    }

    /// Ends the measurement of an acknowledgement that this turn has written.
    private func noteAcknowledgement() {
        guard let origin = statistics.ackSampler.answeredOrigin else { return }
        guard let peer = peers[origin] else { return statistics.ackSampler.closed(origin: origin) }
        if peer.isDirty || peer.isBacklogged { return }
        if let latency = statistics.ackSampler.written(now: environment.now) { statistics.ackLatency.observe(latency) }
    }

    func markDirty(_ peer: Peer<Environment.Socket>) {
        if peer.isDirty { return }
        peer.isDirty = true
        dirtyPeers.append(peer)
    }

    func markDirty(_ room: Room<Environment.Socket>) {
        if room.isDirty { return }
        room.isDirty = true
        room.dirtySince = now
        dirtyRooms.append(room)
    }

    /// - Returns: the earliest time at which one of the rooms that were not flushed is due.
    private func flushDirtyRooms(_ now: MonotonicInstant) -> MonotonicInstant? {
        let candidates = dirtyRooms
        dirtyRooms = []
        var next: MonotonicInstant?
        let isLoopBusy = environment.isLoopBusy
        for room in candidates where !room.isEmpty {
            let due: MonotonicInstant
            let decision = room.flushScheduler.decide(
                now: now, memberCount: room.subscriptions.count, isLoopBusy: isLoopBusy)
            switch decision {
            case .flush:
                room.isDirty = false
                flush(room, now)
                continue
            // In the past, since a timer rounds up.
            case .nextTurn: due = MonotonicInstant(nanoseconds: 0)
            case .wait(let moment): due = moment
            }
            dirtyRooms.append(room)
            next = min(next ?? due, due)
        }
        return next
    }

    func flush(_ room: Room<Environment.Socket>, _ now: MonotonicInstant) {
        statistics.flushSize.observe(Int64(room.flushScheduler.waitingByteCount))
        if let since = room.dirtySince { statistics.flushDelay.observe(max(.zero, now.duration(since: since))) }
        room.dirtySince = nil
        let (flushedThrough, byteCount) = (room.flushedThrough, room.flushScheduler.waitingByteCount)
        for peer in writer.flush(room, now: now) { handle(.mustClose(.slowConsumer), for: peer) }
        room.sincePings.eventCount += Int(room.flushedThrough.rawValue - flushedThrough.rawValue)
        room.sincePings.byteCount += byteCount
        tellPositions(in: room)
    }

    /// HB-1: a client that gets no line of what happens, such as one without presence among many that join, would still
    /// have the position of its last ping, and lose its connection to an overrun log that held nothing for it.
    private func tellPositions(in room: Room<Environment.Socket>) {
        guard let end = room.end(in: engine), room.sincePings.isHalf(of: end.log.bounds) else { return }
        room.sincePings = LogShare()
        for subscription in room.subscriptions where !subscription.peer.isBacklogged { ping(subscription.peer) }
    }

    private func serveDirtyPeers() {
        let candidates = dirtyPeers
        dirtyPeers = []
        for peer in candidates {
            if let room = peer.subscription?.room, room.isDirty, room.flushScheduler.hasSignals {
                // The room's flush is due soon and serves this peer in the same write. A flush of presence alone may
                // take longer.
                dirtyPeers.append(peer)
                continue
            }
            peer.isDirty = false
            // The flush of its room has served most of them.
            if peer.isServed { noteBacklog(of: peer) } else { serve(peer) }
        }
    }

    func serve(_ peer: Peer<Environment.Socket>) {
        if writer.serve(peer) { noteBacklog(of: peer) } else { handle(.mustClose(.slowConsumer), for: peer) }
    }

    /// Reports the peer's backlog to its state. Only backlogged sockets report; others skip this.
    func noteBacklog(of peer: Peer<Environment.Socket>) {
        let waiting = peer.waitingByteCount
        guard peer.state.mustHear(ofBacklog: waiting) else { return }
        let acknowledged = peer.socket.acknowledgedByteCount
        handle(.backlog(waitingByteCount: waiting, acknowledgedByteCount: acknowledged), for: peer)
    }
}
