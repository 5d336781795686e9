import SignalingCore

extension Room {
    /// The first invariant that does not hold at the end of a turn; `nil` if all do.
    func violation(in engine: any SessionEngine) -> String? {
        if !pendingOnlineOnly.isEmpty, !isDirty { return "G6: online-only signals wait, and no flush is to come" }
        if let fault = pendingOnlineOnly.violation { return fault }
        let (end, absences) = engine.withLog(of: session) { ($0.end, $0.absences.version) } ?? (nil, 0)
        if let end, flushedThrough > end.lastSeq || flushedAbsences > absences {
            return "G1: \(flushedThrough) was flushed, and the log ends at \(end.lastSeq)"
        }
        for (index, subscription) in subscriptions.enumerated() {
            if subscription.index != index || subscription.room !== self
                || self.subscription(of: subscription.socket) !== subscription
            {
                return "G3: the room does not find its client \(subscription.outbox.owner)"
            }
            if !subscription.isReplaced, self.subscription(of: subscription.outbox.owner) !== subscription {
                return "RES-8: \(subscription.outbox.owner) has two newest sockets"
            }
            if let fault = subscription.outbox.violation(in: end, absences: absences) {
                return "\(fault) (connection \(subscription.outbox.owner))"
            }
        }
        return nil
    }
}
