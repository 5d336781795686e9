import DequeModule
import SignalingProtocol

/// Which sessions of the log this node hosts.
extension ClusterEngine {
    /// How long a node hosts a session after its last use of it. Requests by REST often come in groups.
    static let letGoDelay = Duration.seconds(30)

    @discardableResult
    func beginOpening(_ session: SessionID) -> Hosted {
        let hosted = sessions.host(session, node: NodeSession(isOpening: true, lastInterest: now))
        letGoChecks.schedule(session, at: now.advanced(by: Self.letGoDelay))
        log.open(session)
        return hosted
    }

    public func log(opened kept: KeptCommands.Session) {
        guard let hosted = sessions[kept.id], hosted.node.isOpening else { return }
        report { finishOpening(hosted, kept) }
    }

    private func finishOpening(_ hosted: Hosted, _ kept: KeptCommands.Session) {
        do throws(CodingFault) { try hosted.restore(kept) } catch {
            return giveUp(hosted, ownCounter: kept.ownCounter, error)
        }
        hosted.node.isOpening = false
        if let snapshot = kept.snapshot { hosted.snapshots.noteKept(byteCount: snapshot.bytes.count) }
        if let state = hosted.state {
            schedule(hosted)
            if !state.isNeeded { sessions.table.noteUnneeded(hosted.id) }
            if isKeeper(of: hosted), sessions.bounds.untoldEventCount > 0 { sessions.reportUntold(of: hosted) }
            reportLostNodes(to: hosted, state)
        }
        hosted.node.mustDetach = false
        answerReaders(of: hosted)
        let waiting = hosted.node.waiting
        hosted.node.waiting = []
        for submission in waiting { submit(submission) }
        guard hosted.state == nil, hosted.steps.isEmpty else { return }
        // A node that died has left the end of the session in the log.
        sessions.removeFromLog(hosted.id, through: hosted.position)
        release(hosted)
    }

    private func giveUp(_ hosted: Hosted, ownCounter: UInt64, _ fault: CodingFault) {
        if hosted.node.mustDetach { reportOwnLoss(to: hosted.id, counter: ownCounter + 1) }
        let readers = hosted.node.readers
        hosted.node.readers = []
        release(hosted)
        onUnreadable(hosted.id, fault)
        for submission in hosted.node.waiting {
            observer?.engine(answered: submission.ticket, .unavailable(mayBeCarriedOut: false))
        }
        for reader in readers { reader(nil) }
    }

    /// The session may name connections whose sockets this node has closed, and this node cannot follow it any more: the
    /// nodes that can are told. Every version knows this command, and it does nothing if the session names none.
    private func reportOwnLoss(to session: SessionID, counter: UInt64) {
        if isStopping { return }
        let loss = LoggedCommand.nodeLost(run, at: .atEntry)
        let id = CommandID(run: run, counter: counter)
        log.append([CommandAppend(loss, session: session, id: id)], now: now)
    }

    /// Lets the sessions go that nobody on this node has used for a while. The keeper never lets a session go.
    func letGo() {
        while let session = letGoChecks.popDue(by: now) {
            guard let hosted = sessions[session] else { continue }
            let end = hosted.node.lastInterest.advanced(by: Self.letGoDelay)
            if end <= now, isDispensable(hosted) {
                release(hosted)
            } else {
                letGoChecks.schedule(session, at: max(end, now.advanced(by: Self.letGoDelay / 2)))
            }
        }
    }

    private func isDispensable(_ hosted: Hosted) -> Bool {
        guard let state = hosted.state, let keeper = state.keeper, keeper != run else { return false }
        return hosted.steps.isEmpty && hosted.node.readers.isEmpty && !state.hasConnection(on: run)
    }

    /// Stops hosting a session.
    func release(_ hosted: Hosted) {
        forgetLocally(hosted)
        log.close(hosted.id)
        answerReaders(of: hosted)
    }

    /// Forgets a session that the log delivers no more.
    func forgetLocally(_ hosted: Hosted) {
        sessions.table.remove(hosted.id)
        letGoChecks.remove(hosted.id)
    }

    // MARK: - Reading

    /// Answers when this node has everything that the log has now (LOG-35).
    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        if isStopping { return answer(connections(of: session)) }
        let hosted = sessions[session] ?? beginOpening(session)
        hosted.node.lastInterest = now
        hosted.node.readers.append(answer)
        if !hosted.node.isOpening { log.catchUp(session) }
    }

    public func log(caughtUp session: SessionID) {
        guard let hosted = sessions[session], !hosted.node.isOpening else { return }
        hosted.node.readers.popFirst()?(connections(of: session))
    }

    private func answerReaders(of hosted: Hosted) {
        while let reader = hosted.node.readers.popFirst() { reader(hosted.state?.connections ?? []) }
    }
}
