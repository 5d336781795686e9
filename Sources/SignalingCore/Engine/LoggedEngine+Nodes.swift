import SignalingProtocol

/// The commands of other nodes, and the node that acts for a session: its keeper.
///
/// The keeper is part of the replicated state (``SessionState/keeper``), so all nodes agree on it without a message. It
/// appends what is due and the end of the session, keeps snapshots, changes limits, and reports presence.
extension LoggedEngine: SharedCommandLogObserver {
    /// How long the other nodes wait for the keeper to append what is due, in case it hangs.
    static let keeperPatience = Duration.seconds(1)
    /// The time between two attempts to append what is due: the log's clock may be behind this node's estimate.
    private static let advanceInterval = Duration.milliseconds(100)

    /// Whether this node acts for a session. A log of its own has no other node.
    func isKeeper(of hosted: LoggedSession) -> Bool { shared == nil || hosted.state?.keeper == run }

    /// When this node appends what is due.
    func dueTime(of hosted: LoggedSession) -> MonotonicInstant? {
        guard let deadline = hosted.state?.nextDeadline else { return nil }
        let due = isKeeper(of: hosted) ? deadline : deadline.advanced(by: Self.keeperPatience)
        return max(due, hosted.node.nextAdvance ?? due)
    }

    /// Whether to append what is due now. Otherwise schedules the next check.
    func mayAdvance(_ hosted: LoggedSession, _ time: MonotonicInstant) -> Bool {
        guard let due = dueTime(of: hosted) else { return false }
        guard due <= time else {
            deadlines.schedule(hosted.id, at: due)
            return false
        }
        hosted.node.nextAdvance = time.advanced(by: Self.advanceInterval)
        return true
    }

    /// Notes what an entry means beyond its effects.
    func noteCarriedOut(
        _ entry: CommandEntry, _ outcome: SessionOutcome?, _ hosted: LoggedSession, previousKeeper: RunID?
    ) {
        let submitter = entry.position.id.run
        if submitter == run, case .joined = outcome { hosted.node.lastJoin = entry.position.number }
        hosted.isOpen = hosted.state != nil || hosted.isBeginning
        if hosted.state?.keeper != previousKeeper { schedule(hosted) }
        // A lost node may have joined a client before it was lost, in an entry that arrives after the news.
        if submitter != run, !isStopping, let time = shared?.lossTime(of: submitter),
            hosted.state?.names(submitter) == true
        {
            append(.nodeLost(submitter, at: time), to: hosted)
        }
        deliverHeldSignals(of: hosted)
    }

    /// A join found no session: another node has ended it. Every node has ignored the join, so it is appended again,
    /// behind a new beginning.
    func repeatJoin(_ request: JoinRequest, _ ticket: CommandTicket, _ hosted: LoggedSession) {
        // Without its client, a repeated join would add a connection that nobody ends.
        if isStopping || hosted.awaitsEnd(of: request.socket) {
            observer?.engine(answered: ticket, .unavailable(mayBeCarriedOut: false))
            return
        }
        hosted.isOpen = hosted.isBeginning
        appendJoin(.join(request), to: hosted, ticket)
    }

    // MARK: - Lost nodes

    /// Every node that hosts the session reports the loss: the second report changes nothing.
    public func log(lost lostRun: RunID, at time: MonotonicInstant, orphans: [SessionID]) {
        if isStopping { return }
        for hosted in orderedSessions {
            guard let state = hosted.state, state.keeper == nil || state.names(lostRun) else { continue }
            append(.nodeLost(lostRun, at: time), to: hosted)
        }
        for session in orphans where sessions[session] == nil { beginOpening(session) }
    }

    /// Appends the losses of which a session that was just opened does not know. One of the
    /// other nodes must become the keeper.
    func reportLostNodes(to hosted: LoggedSession, _ state: SessionState) {
        let hasLostSockets = hosted.node.mustDetach && state.names(run)
        // At the time of the entry.
        if hasLostSockets { append(.nodeLost(run, at: MonotonicInstant(nanoseconds: .max)), to: hosted) }
        var needsKeeper = state.keeper == nil || hasLostSockets && state.keeper == run
        for node in state.nodes.sorted(by: { $0.rawValue < $1.rawValue }) where node != run {
            guard let time = shared?.lossTime(of: node) else { continue }
            append(.nodeLost(node, at: time), to: hosted)
            needsKeeper = false
        }
        if needsKeeper { append(.advance, to: hosted) }
    }

    public func snapshot(of session: SessionID) -> CommandSnapshot? {
        guard let hosted = sessions[session], let state = hosted.state, let position = hosted.position else {
            return nil
        }
        return CommandSnapshot(session: session, position: position) { state.encoded() }
    }
}
