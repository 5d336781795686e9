import SignalingCore
import SignalingProtocol

@testable import SignalingServer

/// The invariants at the end of each turn of a hub. The history checker uses only the clients' records; these find at
/// once a lapse of the hub that a later event would hide.
enum HubInvariants {
    static func violation(in hub: SimulatedServer.VirtualHub) -> String? {
        for peer in hub.peers.values {
            if let fault = violation(of: peer, in: hub) { return "\(fault) (socket \(peer.socket.id))" }
        }
        for room in hub.rooms.values where !room.isDirty && !room.pendingOnlineOnly.isEmpty {
            return "G6: online-only signals wait, and no flush is to come"
        }
        if hub.hasEnded { return nil }
        if !hub.dirtyRooms.isEmpty || !hub.dirtyPeers.isEmpty, hub.flushTimer?.isScheduled != true {
            return "G5: a flush is due, and no timer is set"
        }
        if !hub.peersWithInput.isEmpty, hub.inputTimer?.isScheduled != true {
            return "WIRE-13: lines are queued, and no timer is set"
        }
        if let deadline = hub.engine.nextDeadline, !isSet(hub.sessionTimer, for: deadline, hub) {
            return "RES-10: a session has a deadline, and no timer is set"
        }
        return nil
    }

    private static func violation(
        of peer: Peer<ServerEnd>, in hub: SimulatedServer.VirtualHub
    ) -> String? {
        if peer.state.isClosing { return peer.subscription == nil ? nil : "LEAVE-4: a closing socket is in a room" }
        let bounds = hub.limits.backPressure
        // Bytes that wait for a flush do not count yet: the client may read them at once.
        let awaitsFlush = peer.subscription?.room.isDirty == true
        if peer.waitingByteCount > bounds.byteCount, !peer.state.isReadingPaused, !awaitsFlush {
            return "G5, WIRE-13: \(peer.waitingByteCount) bytes wait for a client that is read from"
        }
        if peer.socket.isReading != (peer.input.isEmpty && !peer.state.isReadingPaused) {
            return "WIRE-13: the socket is \(peer.socket.isReading ? "" : "not ")read from"
        }
        if !peer.input.isEmpty, !peer.state.isReadingPaused, !hub.peersWithInput.contains(where: { $0 === peer }) {
            return "WIRE-13: queued lines are not handled"
        }
        if let deadline = peer.state.nextDeadline, peer.alarm.map({ $0 > deadline }) ?? true {
            return "HB-1: a deadline has no alarm"
        }
        if let alarm = peer.alarm, !isSet(hub.alarmTimer, for: alarm, hub) { return "HB-1: an alarm has no timer" }
        return unsentViolation(of: peer, in: hub)
    }

    /// A socket that accepts writes has everything, unless a flush is to come.
    private static func unsentViolation(
        of peer: Peer<ServerEnd>, in hub: SimulatedServer.VirtualHub
    ) -> String? {
        if peer.isBacklogged != peer.socket.isBacklogged { return "G5: the hub is wrong about a backlog" }
        let isListed = hub.dirtyPeers.contains { $0 === peer }
        guard let subscription = peer.subscription else {
            return peer.unjoinedLines.isEmpty || isListed || peer.isBacklogged ? nil : "WIRE-8: an answer is not sent"
        }
        let room = subscription.room
        if room.isDirty, !hub.dirtyRooms.contains(where: { $0 === room }) { return "G5: a dirty room is not listed" }
        if peer.isBacklogged { return nil }
        if subscription.outbox.hasPrivateLines, !isListed { return "WIRE-8: an answer is not sent" }
        let isBehind = hub.engine.withLog(of: room.session) { subscription.outbox.isBehind($0) } ?? false
        return isBehind && !room.isDirty && !isListed ? "G3: events are not sent" : nil
    }

    private static func isSet(
        _ timer: VirtualTimer?, for deadline: MonotonicInstant, _ hub: SimulatedServer.VirtualHub
    ) -> Bool {
        guard let timer, let moment = timer.deadline else { return false }
        return moment <= max(deadline, hub.environment.now).advanced(by: .milliseconds(1))
    }
}
