import SignalingProtocol

/// The entries of the log: this node's own commands, and those of the other nodes.
extension ClusterEngine: CommandLogObserver {
    public func log(confirmed entries: [CommandEntry]) {
        for entry in entries { report { carryOut(entry) } }
    }

    public func log(needsSnapshotsOf wanted: [SessionID]) {
        for session in wanted {
            if let hosted = sessions[session] { sessions.keepSnapshotIfDue(of: hosted, isWanted: true) }
        }
    }

    public func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        guard let hosted = sessions[session] else { return }
        hosted.snapshots.noteKept(byteCount: byteCount)
        if isKeeper(of: hosted) { sessions.keepSnapshotIfDue(of: hosted) }
    }

    /// A shared log may hold anything, so an entry that is not the next one, or cannot be read, costs this node the
    /// session, and not its life.
    private func carryOut(_ entry: CommandEntry) {
        guard let hosted = sessions[entry.session], !hosted.node.isOpening, hosted.advance(to: entry.position),
            let (command, ticket) = step(of: entry, hosted)
        else { return noteUnexpected(entry) }
        let previousKeeper = hosted.state?.keeper
        let change = hosted.carryOut(command, as: entry)
        if let ticket { answer(ticket, change.outcome, to: command, entry, hosted) }
        sessions.report(change, of: hosted, presence(of: hosted, previousKeeper))
        if command.movesDeadlines || hosted.tellsUnread || hosted.state?.keeper != previousKeeper { schedule(hosted) }
        noteCarriedOut(entry, command, change.outcome, hosted)
        if isOwnLoss(command, by: entry.position.id.run) {
            log.close(entry.session)
            return drop(hosted, isOwnLoss: true)
        }
        deliverHeldSignals(of: hosted)
        while let (command, ticket) = hosted.popUnlogged() {
            carryOutUnlogged(command, hosted.id, ticket, at: entry.time)
        }
        guard let state = hosted.state else {
            if hosted.steps.isEmpty { forget(hosted, endedBy: entry.position.id.run) }
            return
        }
        if state.isAsleep, hosted.steps.isEmpty { return letSleep(hosted, isSubmitter: entry.position.id.run == run) }
        if !state.unarchived.isEmpty, isKeeper(of: hosted) { sessions.tellArchiveIfDue(of: hosted, at: entry.time) }
        if !state.isNeeded { sessions.table.noteUnneeded(hosted.id) }
        if isKeeper(of: hosted) { sessions.adoptLimits(of: hosted) }
        if isKeeper(of: hosted) { sessions.keepSnapshotIfDue(of: hosted) }
    }

    /// Whether another node has appended that this one is lost (LOG-32). A node that stood still may learn it here first.
    /// No client of it gets an event that follows: the log holds that the client cannot have one (RES-3).
    private func isOwnLoss(_ command: LoggedCommand, by submitter: RunID) -> Bool {
        guard case .nodeLost(run, _) = command else { return false }
        return submitter != run
    }

    /// The command of an entry, with its ticket if it was submitted here; `nil` if the entry cannot be carried out.
    private func step(of entry: CommandEntry, _ hosted: Hosted) -> (LoggedCommand, CommandTicket?)? {
        if entry.position.id.run == run { return hosted.popStep(of: entry.position.id) }
        return (try? LoggedCommand(decoding: entry.bytes)).map { ($0, nil) }
    }

    /// A join that found no session has no answer yet.
    private func answer(
        _ ticket: CommandTicket, _ outcome: SessionOutcome?, to command: LoggedCommand, _ entry: CommandEntry,
        _ hosted: Hosted
    ) {
        if outcome == nil, case .session(.join(let request)) = command {
            repeatJoin(request, ticket, hosted)
        } else {
            sessions.answer(ticket, outcome, to: command, entry)
        }
    }

    /// A join found no session: another node has ended it. Every node has ignored the join, so it is appended again,
    /// behind a new beginning.
    private func repeatJoin(_ request: JoinRequest, _ ticket: CommandTicket, _ hosted: Hosted) {
        // Without its client, a repeated join would add a connection that nobody ends.
        if isStopping || hosted.awaitsEnd(of: request.socket) {
            observer?.engine(answered: ticket, .unavailable(mayBeCarriedOut: false))
            return
        }
        hosted.isOpen = hosted.isBeginning
        sessions.appendJoin(.join(request), to: hosted, ticket)
    }

    /// Only the keeper reports presence. A new keeper reports all untold events.
    private func presence(of hosted: Hosted, _ previousKeeper: RunID?) -> PresenceReport {
        guard isKeeper(of: hosted) else { return .none }
        return previousKeeper == run ? .ofEntry : .untold
    }

    /// Notes what an entry means beyond its effects.
    private func noteCarriedOut(
        _ entry: CommandEntry, _ command: LoggedCommand, _ outcome: SessionOutcome?, _ hosted: Hosted
    ) {
        hosted.isOpen = hosted.state != nil || hosted.isBeginning
        let submitter = entry.position.id.run
        if submitter == run {
            hosted.noteCarriedOut(command)
            if case .joined = outcome { hosted.node.lastJoin = entry.position.number }
        } else if !isStopping, let time = log.lossTime(of: submitter), hosted.state?.names(submitter) == true {
            // A lost node may have joined a client before it was lost, in an entry that arrives after the news.
            sessions.append(.nodeLost(submitter, at: time), to: hosted)
        }
    }

    /// The node that has ended the session removes it.
    private func forget(_ hosted: Hosted, endedBy submitter: RunID) {
        if submitter == run { sessions.removeFromLog(hosted.id, through: hosted.position) }
        release(hosted)
    }

    /// No node hosts a session that sleeps (HIS-3).
    ///
    /// - Parameter isSubmitter: whether this node stores the session's last state.
    func letSleep(_ hosted: Hosted, isSubmitter: Bool) {
        if isSubmitter, let snapshot = hosted.snapshot { log.sleep(snapshot, for: hosted.sleepReason) }
        release(hosted)
    }
}
