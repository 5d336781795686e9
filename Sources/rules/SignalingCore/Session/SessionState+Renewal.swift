import DequeModule
import SignalingProtocol

/// What is left of a session whose process continues an older copy of it: a snapshot of the volume was put back, or the copy
/// of a folder after the original went on. The seqs after the copy then name two messages, unless the session begins a new
/// epoch far above (HIS-3).
extension SessionState {
    /// Whether the session's epoch, and a connection's secret and token, are those of the claim.
    func admits(_ claim: Resumption, of request: JoinRequest, now: MonotonicInstant) -> Bool {
        guard claim.epoch == epoch else { return false }
        if let member = roster[claim.connectionId] { return member.ticket.admits(claim, of: request) }
        return expiredTickets.first(admitting: claim, of: request, now: now) != nil
    }

    /// The connections that exist, and those whose clients may recover.
    var claimable: Set<ConnectionID> {
        Set(connections.map(\.connectionId)).union(expiredTickets.tickets.map(\.ticket.connectionId))
    }

    /// Begins an epoch above all seqs that the lost end of the order can have given out. Its connections end: their clients
    /// may have missed something (G4). Restrictions, and what waits for the archive, stay.
    mutating func renew(_ new: Epoch, now: MonotonicInstant, effects: inout [SessionEffect]) {
        for id in connections.map(\.connectionId) { remove(id, .networkDisconnected, now, effects: &effects) }
        epoch = new
        log = SessionLog(bounds: bounds.log, lastSeq: log.lastSeq.advanced(by: Self.seqStep), entries: [])
        changeables.forget(through: log.lastSeq)
        expiredTickets.restore([])
        forceDisconnectedTickets.restore([])
        detachments = Detachments()
        awayDeadlines.removeAll()
    }
}
