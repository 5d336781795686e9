import SignalingProtocol

extension SessionState {
    /// Ends another connection at once, for a moderator or for REST (LEAVE-2).
    mutating func forceDisconnect(
        _ target: ConnectionID, by sender: CommandSender, _ now: MonotonicInstant, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        switch sender {
        case .server: break
        case .connection(let binding, _):
            guard let member = roster[binding.connectionId], member.isAttached(to: binding.socket) else {
                return .refused(SignalingError(.notConnectedToModerate, "not connected to the session; connect first"))
            }
            guard member.role.mayForceDisconnect else {
                return .refused(
                    SignalingError(
                        .unableToForceDisconnect,
                        "only a moderator may end other connections; use a token with the role moderator"))
            }
        }
        guard forceOut(target, now, effects: &effects) else {
            return .refused(SignalingError(.badTarget, "the connection is not in the session; it may have left"))
        }
        return .forceDisconnected
    }

    /// Ends a connection that did not choose to leave.
    ///
    /// - Returns: whether it was in the session.
    @discardableResult
    mutating func forceOut(
        _ target: ConnectionID, because ban: Restriction? = nil, _ now: MonotonicInstant,
        effects: inout [SessionEffect]
    ) -> Bool {
        let victim = roster[target]
        guard let victim, remove(target, .forceDisconnected, now, effects: &effects) else { return false }
        // Also with a socket: it may be lost already, and then its client has not received `disconnected` (RES-10).
        forceDisconnectedTickets.append(victim.ticket, since: now)
        effects.append(.ended(target, .forceDisconnected, ban: ban))
        return true
    }
}
