import SignalingProtocol

extension SessionState {
    /// A node that had sockets was lost: each connection with a socket of it loses the socket at one moment (LOG-13,
    /// LOG-32). If the node was the keeper, the submitter of this command is the next one.
    ///
    /// Call `advance` afterwards: resume windows include the time without a server (RES-15), so some may be over. The
    /// time until a connection is away begins anew (PRES-4). A connection without a socket keeps its resume window.
    ///
    /// These losses do not count for the connections' tokens (RES-12): their clients did not cause them, and come back
    /// together.
    ///
    /// - Parameters:
    ///   - run: the lost node; `nil` for all of them.
    ///   - moment: when the node was last alive; at most `now`.
    ///   - now: the time of the command.
    mutating func nodeLost(_ run: RunID?, at moment: MonotonicInstant, now: MonotonicInstant) {
        if run == nil || run == keeper { keeper = run == submitter ? nil : submitter }
        let lostAt = min(moment, now)
        let until = lostAt.advanced(by: bounds.resumeWindow)
        let reach = reach
        var lost: [Detachments.Loss] = []
        for id in connections.map(\.connectionId) {
            roster.update(id) { member in
                guard case .attached(_, let node) = member.attachment, run == nil || run == node else { return }
                member.attachment = .detached(at: lostAt, until: until)
                member.ticket.reach = reach
                lost.append(Detachments.Loss(connectionId: id, until: until, token: nil))
            }
        }
        for loss in lost { noteAbsence(of: roster[loss.connectionId]?.connection.user, since: lostAt, now) }
        if lost.isEmpty, run != nil { return }
        var losses = detachments.losses
        // A connection may have lost its socket after the last sign of life.
        losses.insert(contentsOf: lost, at: losses.firstIndex { $0.until > until } ?? losses.endIndex)
        detachments = Detachments(losses)
        if run == nil {
            // No client could reconnect while the server was away, so every absence begins now.
            awayDeadlines.removeAll()
            for loss in losses { awaitAbsence(of: loss.connectionId, now) }
        } else {
            for loss in lost { awaitAbsence(of: loss.connectionId, now) }
        }
    }

    private mutating func awaitAbsence(of id: ConnectionID, _ now: MonotonicInstant) {
        guard !log.absences.contains(id), case .detached(let lostAt, _)? = roster[id]?.attachment else { return }
        awayDeadlines.append(
            AwayDeadline(connectionId: id, lostAt: lostAt, moment: now.advanced(by: bounds.awayDelay)))
    }
}
