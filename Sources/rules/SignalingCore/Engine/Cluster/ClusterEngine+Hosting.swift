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
        report { opened(hosted, kept) }
    }

    private func opened(_ hosted: Hosted, _ kept: KeptCommands.Session) {
        do throws(CodingFault) { try hosted.restore(kept, at: sessions.lastTime) } catch {
            return giveUp(hosted, ownCounter: kept.ownCounter, error)
        }
        salvageDropped(of: hosted)
        if hosted.state != nil || !hosted.node.waiting.contains(where: \.isJoin) { return finishOpening(hosted, kept) }
        findEnd(of: hosted) { [self] in finishOpening(hosted, kept) }
    }

    /// A session that begins must not give out the seqs of messages that the archive has (HIS-3). Every node that may
    /// begin it asks, since only the first `begin` has an effect.
    private func findEnd(of hosted: Hosted, then begin: @escaping () -> Void) {
        guard sessions.mayHaveHistory(hosted.id) else { return begin() }
        let count = hosted.node.openingCount
        var isWithinReport = true
        sessions.findStart(of: hosted.id) { [self] result in
            // The session may have begun elsewhere meanwhile, and is opened again.
            guard sessions[hosted.id] === hosted, hosted.node.isOpening, hosted.node.openingCount == count else {
                return
            }
            let proceed = { [self] in
                switch result {
                case .success(let start):
                    hosted.beginsAfter = start
                    begin()
                case .failure: refuseWaiting(of: hosted)
                }
            }
            if isWithinReport { proceed() } else { report(proceed) }
        }
        isWithinReport = false
    }

    /// The log has something new of a session that this node is still opening.
    func openAgain(_ hosted: Hosted) {
        hosted.node.openingCount += 1
        log.open(hosted.id)
    }

    private func finishOpening(_ hosted: Hosted, _ kept: KeptCommands.Session) {
        hosted.node.isOpening = false
        if let snapshot = kept.snapshot { hosted.snapshots.noteKept(byteCount: snapshot.bytes.count) }
        if let state = hosted.state, state.isAsleep {
            if hosted.node.waiting.contains(where: \.command.wakesSession) { sessions.wake(hosted) }
        } else if let state = hosted.state {
            schedule(hosted)
            if !state.isNeeded { sessions.table.noteUnneeded(hosted.id) }
            if isKeeper(of: hosted), sessions.bounds.untoldEventCount > 0 { sessions.reportUntold(of: hosted) }
            if isKeeper(of: hosted) { sessions.tellArchiveIfDue(of: hosted, at: sessions.lastTime) }
            reportLostNodes(to: hosted, state)
        }
        hosted.node.mustDetach = false
        answerReaders(of: hosted)
        let waiting = hosted.node.waiting
        hosted.node.waiting = []
        for submission in waiting { submit(submission) }
        guard hosted.steps.isEmpty else { return }
        guard let state = hosted.state else {
            // A node that died has left the end of the session in the log.
            sessions.removeFromLog(hosted.id, through: hosted.position)
            return release(hosted)
        }
        // The node that ended it may have died before it stored the last state.
        if state.isAsleep { letSleep(hosted, isSubmitter: !kept.entries.isEmpty) }
    }

    private func giveUp(_ hosted: Hosted, ownCounter: UInt64, _ fault: CodingFault) {
        if hosted.node.mustDetach { reportOwnLoss(to: hosted.id, counter: ownCounter + 1) }
        onUnreadable(hosted.id, fault)
        refuseWaiting(of: hosted)
    }

    private func refuseWaiting(of hosted: Hosted) {
        let readers = hosted.node.readers.takeAll()
        release(hosted)
        for submission in hosted.node.waiting {
            observer?.engine(answered: submission.ticket, .unavailable(mayBeCarriedOut: false))
        }
        for reader in readers { reader(.unreadable) }
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

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        read(session) { reading in
            switch reading {
            case .state(let state): answer(state?.connections ?? [])
            case .unreadable: answer(nil)
            }
        }
    }

    public func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        read(session) { reading in
            switch reading {
            case .state(let state): answer(state?.streamAnnouncements ?? [])
            case .unreadable: answer(nil)
            }
        }
    }

    public func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        let time = sessions.logTime(now)
        read(session) { reading in
            switch reading {
            case .state(let state): answer(ModerationReading(state, at: time))
            case .unreadable: answer(.unavailable)
            }
        }
    }

    /// The state has what no archive has yet, so it is read first (HIS-4).
    public func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        read(session) { [sessions] reading in
            switch reading {
            case .state:
                if isAnswered(sessions.historyMark(of: session)) { return }
                sessions.readHistory(request, of: session, answer: answer)
            case .unreadable: answer(.failure(ArchiveFault("the session cannot be read")))
            }
        }
    }

    /// Answers when this node has everything that the log has now (LOG-35).
    private func read(_ session: SessionID, answer: @escaping (NodeSession.Reading) -> Void) {
        if isStopping { return answer(.state(state(of: session))) }
        let hosted = sessions[session] ?? beginOpening(session)
        hosted.node.lastInterest = now
        hosted.node.readers.add(answer)
        if !hosted.node.isOpening, hosted.node.readers.beginAsking() { log.catchUp(session) }
    }

    public func log(caughtUp session: SessionID) {
        guard let hosted = sessions[session], !hosted.node.isOpening else { return }
        for reader in hosted.node.readers.takeAsked() { reader(.state(hosted.state)) }
        if let hosted = sessions[session], !hosted.node.isOpening, hosted.node.readers.beginAsking() {
            log.catchUp(session)
        }
    }

    private func answerReaders(of hosted: Hosted) {
        for reader in hosted.node.readers.takeAll() { reader(.state(hosted.state)) }
    }
}
