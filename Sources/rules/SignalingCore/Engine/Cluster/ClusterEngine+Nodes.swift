import SignalingProtocol

/// The node that acts for a session, which is its keeper, and the nodes that are lost.
///
/// The keeper is part of the replicated state (``SessionState/keeper``), so all nodes agree on it without a message. It
/// appends what is due and the end of the session, keeps snapshots, changes limits, and reports presence.
extension ClusterEngine: SharedCommandLogObserver {
    /// How long the other nodes wait for the keeper to append what is due, in case it hangs.
    static let keeperPatience = Duration.seconds(1)
    /// The time between two attempts to append what is due: the log's clock may be behind this node's estimate.
    private static let advanceInterval = Duration.milliseconds(100)

    func isKeeper(of hosted: Hosted) -> Bool { hosted.state?.keeper == run }

    func schedule(_ hosted: Hosted) { sessions.table.schedule(hosted.id, at: dueTime(of: hosted)) }

    /// When this node appends what is due.
    private func dueTime(of hosted: Hosted) -> MonotonicInstant? {
        guard let deadline = hosted.state?.nextDeadline else { return nil }
        let due = isKeeper(of: hosted) ? deadline : deadline.advanced(by: Self.keeperPatience)
        return max(due, hosted.node.nextAdvance ?? due)
    }

    /// Appends what is due in a session, or schedules the next check.
    func appendDue(_ hosted: Hosted, _ time: MonotonicInstant) {
        guard !hosted.isAdvancing, let due = dueTime(of: hosted) else { return }
        guard due <= time else { return sessions.table.schedule(hosted.id, at: due) }
        hosted.node.nextAdvance = time.advanced(by: Self.advanceInterval)
        sessions.appendAdvance(to: hosted)
    }

    // MARK: - Lost nodes

    /// Every node that hosts the session reports the loss: the second report changes nothing.
    public func log(lost lostRun: RunID, at time: MonotonicInstant, orphans: [SessionID]) {
        if isStopping { return }
        for (_, hosted) in sessions.table.ordered {
            guard let state = hosted.state, !state.isAsleep, state.keeper == nil || state.names(lostRun) else {
                continue
            }
            sessions.append(.nodeLost(lostRun, at: time), to: hosted)
        }
        for session in orphans where sessions[session] == nil { beginOpening(session) }
    }

    /// Appends the losses of which a session that was just opened does not know. One of the
    /// other nodes must become the keeper.
    func reportLostNodes(to hosted: Hosted, _ state: SessionState) {
        let hasLostSockets = hosted.node.mustDetach && state.names(run)
        if hasLostSockets { sessions.append(.nodeLost(run, at: .atEntry), to: hosted) }
        var needsKeeper = state.keeper == nil || hasLostSockets && state.keeper == run
        for node in state.nodes.sorted(by: { $0.rawValue < $1.rawValue }) where node != run {
            guard let time = log.lossTime(of: node) else { continue }
            sessions.append(.nodeLost(node, at: time), to: hosted)
            needsKeeper = false
        }
        if needsKeeper { sessions.append(.advance, to: hosted) }
    }

    public func snapshot(of session: SessionID) -> CommandSnapshot? { sessions[session]?.snapshot }
}
