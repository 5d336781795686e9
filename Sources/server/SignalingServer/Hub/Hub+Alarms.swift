import SignalingCore
import SignalingProtocol
import SignalingTransport

/// The deadlines of the sockets: one timing wheel and one timer for all of them.
extension Hub {
    /// Sets an alarm for the peer's next deadline. Each message from the client moves the deadline later. The wheel
    /// keeps the old alarm; when it fires, the hub sets a new one.
    func setAlarm(for peer: Peer<Environment.Socket>) {
        guard let deadline = peer.state.nextDeadline else {
            if peer.alarm != nil {
                alarms.cancel(peer.socket.id)
                peer.alarm = nil
            }
            return
        }
        if let alarm = peer.alarm, alarm <= deadline { return }
        peer.alarm = deadline
        alarms.schedule(peer.socket.id, at: deadline)
        armAlarmTimer()
    }

    private func armAlarmTimer() {
        if let next = alarms.nextDeadline { timers?.alarm.schedule(at: next) } else { timers?.alarm.cancel() }
    }

    func handleDueAlarms() {
        let now = environment.now
        for id in alarms.expire(upTo: now) {
            guard let peer = peers[id] else { continue }
            peer.alarm = nil
            noteBacklog(of: peer)
            if !peer.input.isEmpty, engine.isSaturated { handle(.inputWaits, for: peer) }
            perform(peer.state.advance(to: now), for: peer)
            setAlarm(for: peer)
        }
        armAlarmTimer()
    }
}
