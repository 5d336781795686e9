import SignalingCore
import SignalingProtocol

/// What holds at the end of each turn. A later event would hide a lapse, so it is found at once.
extension Hub {
    /// The first invariant that does not hold; `nil` if all do. Takes time in proportion to the sockets.
    var violation: String? {
        if let fault = turnViolation { return fault }
        let lists = Lists(
            rooms: Set(dirtyRooms.map(ObjectIdentifier.init)), peers: Set(dirtyPeers.map(ObjectIdentifier.init)),
            input: Set(peersWithInput.map(ObjectIdentifier.init)))
        for peer in peers.values {
            if let fault = violation(of: peer, lists) { return "\(fault) (socket \(peer.socket.id))" }
        }
        var count = 0
        for room in rooms.values {
            if rooms[room.session] !== room || room.isEmpty { return "G5: a room without a client is kept" }
            if let fault = room.violation(in: engine) { return "\(fault) (session \(room.session))" }
            count += room.subscriptions.count
        }
        if count != joinedCount { return "CON-3: \(joinedCount) clients count, and \(count) are in rooms" }
        return nil
    }

    /// Checks at the end of a turn what it can check in constant time, and everything now and then.
    func checkInvariants() {
        #if DEBUG
            // One socket or room in four turns, on average: more would be a large part of the cost of a signal.
            let isDue = checks.isDue(itemCount: 4 * (peers.count + rooms.count), countPerTurn: 1)
            if let fault = isDue ? violation : turnViolation { Invariants.report(fault) }
        #endif
    }

    /// What is in the lists of the hub.
    private struct Lists {
        let rooms: Set<ObjectIdentifier>
        let peers: Set<ObjectIdentifier>
        let input: Set<ObjectIdentifier>
    }

    private var turnViolation: String? {
        if lineTime != nil || linePeer != nil { return "WIRE-8: a line is being handled" }
        if hasEnded { return nil }
        if !dirtyRooms.isEmpty || !dirtyPeers.isEmpty, timers?.flush.deadline == nil {
            return "G5: a flush is due, and no timer is set"
        }
        if !peersWithInput.isEmpty, !engine.isSaturated, timers?.input.deadline == nil {
            return "WIRE-13: lines are queued, and no timer is set"
        }
        if let deadline = engine.nextDeadline, !isSet(timers?.session, for: deadline) {
            return "RES-12: a session has a deadline, and no timer is set"
        }
        return nil
    }

    private func violation(of peer: Peer<Environment.Socket>, _ lists: Lists) -> String? {
        if peer.isDirty != lists.peers.contains(ObjectIdentifier(peer)) {
            return "WIRE-8: the socket is \(peer.isDirty ? "not " : "")in the list of those with something to send"
        }
        if peer.state.isClosing { return peer.subscription == nil ? nil : "LEAVE-4: a closing socket is in a room" }
        if peer.input.isListed != lists.input.contains(ObjectIdentifier(peer)) {
            return "WIRE-13: the socket is \(peer.input.isListed ? "not " : "")in the list of those with input"
        }
        return inputViolation(of: peer) ?? alarmViolation(of: peer) ?? unsentViolation(of: peer, lists)
    }

    private func inputViolation(of peer: Peer<Environment.Socket>) -> String? {
        // Bytes that wait for a flush do not count yet: the client may read them at once.
        let awaitsFlush = peer.subscription?.room.isDirty == true
        if peer.waitingByteCount > limits.backPressure.byteCount, !peer.state.isReadingPaused, !awaitsFlush {
            return "G5, WIRE-13: \(peer.waitingByteCount) bytes wait for a client that is read from"
        }
        if peer.socket.isReading != (peer.input.isEmpty && !peer.state.isReadingPaused) {
            return "WIRE-13: the socket is \(peer.socket.isReading ? "" : "not ")read from"
        }
        if !peer.input.isEmpty, !peer.state.isReadingPaused, !peer.input.isListed {
            return "WIRE-13: queued lines are not handled"
        }
        return nil
    }

    private func alarmViolation(of peer: Peer<Environment.Socket>) -> String? {
        if let deadline = peer.state.nextDeadline, peer.alarm.map({ $0 > deadline }) ?? true {
            return "HB-1: a deadline has no alarm"
        }
        if let alarm = peer.alarm, !hasEnded, !isSet(timers?.alarm, for: alarm) { return "HB-1: an alarm has no timer" }
        return nil
    }

    /// A socket that accepts writes has everything, unless a flush is to come.
    private func unsentViolation(of peer: Peer<Environment.Socket>, _ lists: Lists) -> String? {
        if peer.socket.isBacklogged, !peer.isBacklogged { return "G5: the hub does not know of a backlog" }
        guard let subscription = peer.subscription else {
            return peer.unjoinedLines.isEmpty || peer.isDirty || peer.isBacklogged
                ? nil : "WIRE-8: an answer is not sent"
        }
        let room = subscription.room
        if rooms[room.session] !== room { return "G1: the socket is in a room that the hub does not know" }
        if room.isDirty != lists.rooms.contains(ObjectIdentifier(room)) {
            return "G5: the room is \(room.isDirty ? "not " : "")in the list of those with something to send"
        }
        if peer.isBacklogged || peer.isDirty { return nil }
        if subscription.outbox.hasPrivateLines { return "WIRE-8: an answer is not sent" }
        let isBehind = engine.withLog(of: room.session) { subscription.outbox.isBehind($0) } ?? false
        return isBehind && !room.isDirty ? "G3: events are not sent" : nil
    }

    private func isSet(_ timer: Environment.Timer?, for deadline: MonotonicInstant) -> Bool {
        guard let timer, let moment = timer.deadline else { return false }
        return moment <= max(deadline, environment.now).advanced(by: .milliseconds(1))
    }
}
