import SignalingProtocol

extension SessionState {
    /// The process that had the sockets was lost: every connection with a socket loses it at one moment (LOG-13).
    ///
    /// Call `advance` afterwards: resume windows include the time without a server (RES-15), so some may be over. The
    /// time until a connection is away begins anew (PRES-4). A connection without a socket keeps its resume window.
    ///
    /// These losses do not count for the connections' tokens (RES-12): their clients did not cause them, and come back
    /// together.
    ///
    /// - Parameters:
    ///   - moment: when the process was last alive; at most `now`.
    ///   - now: when a new process continues the session.
    public mutating func nodeLost(at moment: MonotonicInstant, now: MonotonicInstant) {
        let lostAt = min(moment, now)
        let until = lostAt.advanced(by: bounds.resumeWindow)
        var lost: [Detachments.Loss] = []
        for id in connections.map(\.connectionId) {
            roster.update(id) { member in
                guard case .attached = member.attachment else { return }
                member.attachment = .detached(at: lostAt, until: until)
                lost.append(Detachments.Loss(connectionId: id, until: until, token: nil))
            }
        }
        var losses = detachments.losses
        // A connection may have lost its socket after the last sign of life.
        losses.insert(contentsOf: lost, at: losses.firstIndex { $0.until > until } ?? losses.endIndex)
        detachments = Detachments(losses)
        awayDeadlines.removeAll()
        for loss in losses where !log.absences.contains(loss.connectionId) {
            guard case .detached(let lostAt, _)? = roster[loss.connectionId]?.attachment else { continue }
            awayDeadlines.append(
                AwayDeadline(
                    connectionId: loss.connectionId, lostAt: lostAt, moment: now.advanced(by: bounds.awayDelay)))
        }
    }
}
