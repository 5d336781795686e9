import SignalingProtocol

extension SessionState.Bounds {
    /// Replaces the limits that may change while a session lasts: the number of connections, the rates, the number
    /// of untold presence events, and what the history keeps and permits. The log's bounds and the windows stay, since
    /// clients rely on them.
    public mutating func changeRunning(to new: SessionState.Bounds) {
        connectionCount = new.connectionCount
        signalRate = new.signalRate
        onlineOnlyRate = new.onlineOnlyRate
        onlineOnlyConnectionCount = new.onlineOnlyConnectionCount
        untoldEventCount = new.untoldEventCount
        history = new.history
        changes = new.changes
        readMarkers = new.readMarkers
        announces = new.announces
        unreadDelay = new.unreadDelay
        asOf = new.asOf
    }
}

extension SessionState {
    /// Replaces the limits: those of a running server, or all of them when another server continues the session. A
    /// connection over a lower limit stays. Events over the log's new bounds are dropped, and a client that needs one of
    /// them learns of the loss (G4).
    mutating func changeLimits(to new: Bounds, now: MonotonicInstant) {
        bounds = new
        log.changeBounds(to: new.log)
        expiredTickets.change(limit: new.recoverableCount, window: new.recoveryWindow)
        forceDisconnectedTickets.change(
            limit: new.recoverableCount, window: max(new.resumeWindow, new.recoveryWindow))
        untoldPresence.limit = new.untoldEventCount
        signalAllowances.adapt(to: new.signalRate, usedAt: now)
        // An allowance that was used up under a slow rate must not outlast an empty one of the new rate.
        for id in connections.map(\.connectionId) {
            roster.update(id) { member in
                member.signalAllowance.adapt(to: new.signalRate, usedAt: now)
                member.onlineOnlyAllowance.adapt(to: new.onlineOnlyRate, usedAt: now)
            }
        }
    }
}
