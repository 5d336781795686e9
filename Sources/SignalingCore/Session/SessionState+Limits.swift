import SignalingProtocol

extension SessionState {
    /// Replaces the limits that may change while a session lasts: the number of connections, the rates, and the number
    /// of untold presence events. The session keeps its log's bounds and its windows, on which clients rely. A
    /// connection over a lower limit stays.
    mutating func changeLimits(to new: Bounds, now: MonotonicInstant) {
        bounds.connectionCount = new.connectionCount
        bounds.signalRate = new.signalRate
        bounds.onlineOnlyRate = new.onlineOnlyRate
        bounds.onlineOnlyConnectionCount = new.onlineOnlyConnectionCount
        bounds.untoldEventCount = new.untoldEventCount
        untoldPresence.limit = new.untoldEventCount
        // An allowance that was used up under a slow rate must not outlast an empty one of the new rate.
        for id in connections.map(\.connectionId) {
            roster.update(id) { member in
                member.signalAllowance.adapt(to: new.signalRate, usedAt: now)
                member.onlineOnlyAllowance.adapt(to: new.onlineOnlyRate, usedAt: now)
            }
        }
    }
}
