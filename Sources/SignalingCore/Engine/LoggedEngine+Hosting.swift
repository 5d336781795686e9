import DequeModule
import SignalingProtocol

/// Which sessions of a shared log this node hosts.
extension LoggedEngine {
    /// How long a node hosts a session after its last use of it. Requests by REST often come in groups.
    static let letGoDelay = Duration.seconds(30)

    /// Notes a use of a session, and opens it if this node does not host it.
    ///
    /// - Returns: whether the command waits until the session is open.
    func mustWait(
        _ command: SessionCommand, _ session: SessionID, _ ticket: CommandTicket, _ now: MonotonicInstant
    ) -> Bool {
        self.now = max(self.now, now)
        // All clients have been disconnected, so no client waits for an answer.
        if isStopping { return true }
        let hosted = sessions[session] ?? beginOpening(session)
        hosted.node.lastInterest = now
        guard hosted.node.isOpening else { return false }
        hosted.node.waiting.append(NodeSession.Waiting(command: command, ticket: ticket, now: now))
        return true
    }

    @discardableResult
    func beginOpening(_ session: SessionID) -> LoggedSession {
        let hosted = host(LoggedSession(id: session))
        hosted.node.isOpening = true
        hosted.node.lastInterest = now
        letGoChecks.schedule(session, at: now.advanced(by: Self.letGoDelay))
        shared?.open(session)
        return hosted
    }

    public func log(opened kept: KeptCommands.Session) {
        guard let hosted = sessions[kept.id], hosted.node.isOpening else { return }
        report({ finishOpening(hosted, kept) }, now)
    }

    private func finishOpening(_ hosted: LoggedSession, _ kept: KeptCommands.Session) {
        do throws(CodingFault) { try hosted.restore(kept) } catch {
            return giveUp(hosted, ownCounter: kept.ownCounter, error)
        }
        hosted.node.isOpening = false
        if let snapshot = kept.snapshot { hosted.snapshots.noteKept(byteCount: snapshot.bytes.count) }
        if let state = hosted.state {
            schedule(hosted)
            if !state.isNeeded { unneeded.insert(hosted.id) }
            if isKeeper(of: hosted), bounds.untoldEventCount > 0 { reportUntold(of: hosted) }
            reportLostNodes(to: hosted, state)
        }
        hosted.node.mustDetach = false
        answerReaders(of: hosted)
        let waiting = hosted.node.waiting
        hosted.node.waiting = []
        for each in waiting { submit(each.command, to: hosted.id, ticket: each.ticket, now: each.now) }
        guard hosted.state == nil, hosted.steps.isEmpty else { return }
        // A node that died has left the end of the session in the log.
        if let position = hosted.position { log.remove(hosted.id, through: position) }
        release(hosted)
    }

    private func giveUp(_ hosted: LoggedSession, ownCounter: UInt64, _ fault: CodingFault) {
        if hosted.node.mustDetach { reportOwnLoss(to: hosted.id, counter: ownCounter + 1) }
        let readers = hosted.node.readers
        hosted.node.readers = []
        release(hosted)
        onUnreadable(hosted.id, fault)
        for each in hosted.node.waiting {
            observer?.engine(answered: each.ticket, .unavailable(mayBeCarriedOut: false))
        }
        for reader in readers { reader(nil) }
    }

    /// The session may name connections whose sockets this node has closed, and this node cannot follow it any more: the
    /// nodes that can are told. Every version knows this command, and it does nothing if the session names none.
    private func reportOwnLoss(to session: SessionID, counter: UInt64) {
        if isStopping { return }
        let loss = LoggedCommand.nodeLost(run, at: MonotonicInstant(nanoseconds: .max))
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

    private func isDispensable(_ hosted: LoggedSession) -> Bool {
        guard let state = hosted.state, let keeper = state.keeper, keeper != run else { return false }
        return hosted.steps.isEmpty && hosted.node.readers.isEmpty && !state.hasConnection(on: run)
    }

    /// Stops hosting a session.
    func release(_ hosted: LoggedSession) {
        forgetLocally(hosted)
        shared?.close(hosted.id)
        answerReaders(of: hosted)
    }

    /// Forgets a session that the log delivers no more.
    func forgetLocally(_ hosted: LoggedSession) {
        sessions[hosted.id] = nil
        deadlines.remove(hosted.id)
        letGoChecks.remove(hosted.id)
        unneeded.remove(hosted.id)
    }

    // MARK: - Reading

    /// Answers when this node has everything that the log has now (LOG-35).
    func listCurrentConnections(of session: SessionID, _ answer: @escaping ([Connection]?) -> Void) {
        if isStopping { return answer(connections(of: session)) }
        let hosted = sessions[session] ?? beginOpening(session)
        hosted.node.lastInterest = now
        hosted.node.readers.append(answer)
        if !hosted.node.isOpening { shared?.catchUp(session) }
    }

    public func log(caughtUp session: SessionID) {
        guard let hosted = sessions[session], !hosted.node.isOpening else { return }
        hosted.node.readers.popFirst()?(connections(of: session))
    }

    private func answerReaders(of hosted: LoggedSession) {
        while let reader = hosted.node.readers.popFirst() { reader(hosted.state?.connections ?? []) }
    }
}
