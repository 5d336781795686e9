import DequeModule
import SignalingProtocol

extension LoggedSession {
    /// The first invariant that does not hold at the end of a turn; `nil` if all do.
    var violation: String? {
        if hasState, position == nil { return "LOG-2: the session has a state, and no entry" }
        return stepViolation ?? state?.violation
    }

    private var stepViolation: String? {
        if case .unlogged? = steps.first { return "LOG-1: a command waits, and none before it is on its way" }
        var last: CommandID?
        var hasAdvance = false
        for case .logged(let command, let id, _) in steps {
            if let last, id.run != last.run || id.counter <= last.counter {
                return "LOG-3: the command \(id.counter) is on its way behind \(last.counter)"
            }
            last = id
            if case .advance = command { hasAdvance = true }
        }
        if let last, last.counter > counter { return "LOG-3: the command \(last.counter) comes after \(counter)" }
        if isAdvancing, !hasAdvance { return "RES-12: what is due is not on its way" }
        if steps.isEmpty, isOpen != hasState {
            return "LOG-10: the session \(isOpen ? "is open without a state" : "has a state, and is not open")"
        }
        return nil
    }
}

extension LoggedSession<NodeSession> {
    /// The same of what a node knows of the session.
    var nodeViolation: String? {
        if node.isOpening, hasState { return "LOG-10: the session has a state before it is open" }
        if !node.isOpening, !node.waiting.isEmpty {
            return "LOG-10: \(node.waiting.count) commands wait for a session that is open"
        }
        return node.heldSignals.violation(behind: position?.number ?? 0)
    }
}

extension HeldSignals {
    /// - Parameter number: of the last entry that the node has carried out.
    fileprivate func violation(behind number: UInt64) -> String? {
        if signals.count > Self.limit { return "G5: \(signals.count) relayed signals wait" }
        if let held = signals.first(where: { $0.signal.number <= number }) {
            return "SIG-10: a relayed signal waits for entry \(held.signal.number), and the node has \(number)"
        }
        return nil
    }
}

extension LoggedSessions {
    /// Checks the sessions that have changed in this turn.
    ///
    /// - Parameter nodeViolation: of what the engine itself knows of the session.
    func checkInvariants(_ nodeViolation: (Session) -> String? = { _ in nil }) {
        #if DEBUG
            for hosted in table.takeTouched() where hosted.isHosted {
                let itemCount = hosted.steps.count + (hosted.state?.itemCount ?? 0)
                guard hosted.checks.isDue(itemCount: itemCount, countPerTurn: HostedSession.checkedItemCount) else {
                    continue
                }
                if let fault = hosted.violation ?? nodeViolation(hosted) ?? deadlineViolation(of: hosted) {
                    Invariants.report("\(fault) (session \(hosted.id))")
                }
            }
        #endif
    }

    /// Nodes wait for different times. So this says only that something is scheduled.
    private func deadlineViolation(of hosted: Session) -> String? {
        guard hosted.steps.isEmpty, !hosted.isAsleep, hosted.isNeeded, hosted.state?.nextDeadline != nil,
            table.scheduledTime(of: hosted.id) == nil
        else { return nil }
        return "RES-12: something will be due, and is not scheduled"
    }
}
