import SignalingProtocol

/// The engine over the ``CommandLog`` of one process: its sessions outlive the process.
///
/// A command changes its session when the log has confirmed it (LOG-1). The engine collects the commands of a turn and
/// appends them in ``advance(to:)``.
public final class LocalEngine: SessionEngine {
    typealias Hosted = LoggedSession<Void>

    private let sessions: LoggedSessions<Void>

    /// - Parameters:
    ///   - log: of this process only. The engine becomes its observer.
    ///   - run: a random name for this life of the process.
    ///   - bounds: the limits of each session.
    ///   - projectOf: reads the project of a session.
    ///   - makeEpoch: returns a new random epoch at each call.
    ///   - now: the present moment of the process.
    public init(
        log: any CommandLog, run: RunID, bounds: SessionState.Bounds, now: MonotonicInstant,
        projectOf: @escaping ProjectOfSession = { _ in nil }, makeEpoch: @escaping () -> Epoch
    ) {
        precondition(!(log is any SharedCommandLog), "a log of several nodes needs a ClusterEngine")
        sessions = LoggedSessions(
            log: log, run: run, bounds: bounds, now: now, projectOf: projectOf, makeEpoch: makeEpoch)
        log.observer = self
    }

    /// A weak reference.
    public var observer: (any SessionEngineObserver)? {
        get { sessions.observer }
        set { sessions.observer = newValue }
    }

    public var sessionCount: Int { sessions.table.count }
    public var isSaturated: Bool { sessions.isSaturated }

    /// Continues the sessions of an earlier process. Call it before the first command.
    ///
    /// Every connection lost its socket with that process (LOG-13), and the time to resume runs from then. The limits of
    /// this process replace those of the sessions.
    ///
    /// - Returns: the sessions that cannot be read, which a newer version may have written. Their clients begin anew.
    public func restore(_ kept: KeptCommands) -> [SessionID] {
        kept.sessions.filter { !restore($0, lostAt: kept.lostAt) }.map(\.id)
    }

    /// - Returns: whether the session can be read.
    private func restore(_ kept: KeptCommands.Session, lostAt: MonotonicInstant) -> Bool {
        let hosted = sessions.host(kept.id, node: ())
        do throws(CodingFault) { try hosted.restore(kept) } catch {
            sessions.table.remove(kept.id)
            sessions.removeFromLog(kept.id, through: kept.entries.last?.position ?? kept.snapshot?.position)
            return false
        }
        guard hosted.state != nil else {
            end(hosted)
            return true
        }
        sessions.append(.nodeLost(nil, at: lostAt), to: hosted)
        sessions.append(.changeLimits(sessions.bounds), to: hosted)
        return true
    }

    // MARK: - Commands

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        let submission = Submission(command: command, session: session, ticket: ticket, now: now)
        if let hosted = hosted(for: submission), sessions.enqueue(submission, in: hosted) { return }
        sessions.reports.submit(submission, carryOutUnlogged)
    }

    private func hosted(for submission: Submission) -> Hosted? {
        if let hosted = sessions[submission.session] { return hosted }
        // Only a join begins a session.
        guard case .join = submission.command else { return nil }
        return sessions.host(submission.session, node: ())
    }

    private func carryOutUnlogged(_ submission: Submission) {
        sessions.carryOutUnlogged(
            submission.command, submission.session, submission.ticket, at: sessions.logTime(submission.now))
    }

    /// The entries are this process's own commands, in their order: anything else is a defect of the log.
    private func carryOut(_ entry: CommandEntry) {
        guard let hosted = sessions[entry.session], hosted.advance(to: entry.position) else {
            preconditionFailure("the log confirmed \(entry.position.number) of a session, out of order")
        }
        guard let (command, ticket) = hosted.popStep(of: entry.position.id) else {
            preconditionFailure("the log confirmed a command of another process")
        }
        let change = hosted.carryOut(command, as: entry)
        if let ticket { sessions.answer(ticket, change.outcome, to: command, entry) }
        sessions.report(change, of: hosted, .ofEntry)
        if command.movesDeadlines { sessions.table.schedule(hosted.id, at: hosted.state?.nextDeadline) }
        if case .advance = command { hosted.isAdvancing = false }
        while let (command, ticket) = hosted.popUnlogged() {
            sessions.carryOutUnlogged(command, hosted.id, ticket, at: entry.time)
        }
        guard let state = hosted.state else {
            if hosted.steps.isEmpty { end(hosted) }
            return
        }
        if !state.isNeeded { sessions.table.noteUnneeded(hosted.id) }
        sessions.keepSnapshotIfDue(of: hosted)
    }

    private func end(_ hosted: Hosted) {
        sessions.removeFromLog(hosted.id, through: hosted.position)
        sessions.table.remove(hosted.id)
    }

    // MARK: - Time

    public var nextDeadline: MonotonicInstant? { sessions.nextDeadline }

    /// Appends the commands of this turn, of what is due, and of the sessions that are no longer needed, in one step.
    public func advance(to now: MonotonicInstant) {
        let time = sessions.noteTime(now)
        while let session = sessions.table.popDue(by: time) {
            if let hosted = sessions[session] { sessions.appendAdvance(to: hosted) }
        }
        sessions.appendEnds()
        sessions.flush(now: now)
    }

    /// Does nothing: the sessions continue in the next process.
    public func endSessions() {}

    // MARK: - Presence and limits

    /// Reports the untold events of restored sessions once more. Call it when the observer is ready.
    public func reportUntold() {
        for (_, hosted) in sessions.table.ordered { sessions.reportUntold(of: hosted) }
    }

    public func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { sessions.noteTold(event, of: session) }

    public func changeLimits(to new: SessionState.Bounds, now: MonotonicInstant) { sessions.changeLimits(to: new) }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions.connections(of: session) }

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        answer(connections(of: session))
    }

    public var detachedCount: Int { sessions.detachedCount }

    public func sessionIDs(of project: APIKey?) -> [SessionID] { sessions.table.ids(of: project) }

    public func state(of session: SessionID) -> SessionState? { sessions[session]?.state }

    public func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        sessions.withLog(of: session, body)
    }
}

extension LocalEngine: CommandLogObserver {
    public func log(confirmed entries: [CommandEntry]) {
        for entry in entries { sessions.reports.report({ carryOut(entry) }, then: carryOutUnlogged) }
    }

    public func log(needsSnapshotsOf wanted: [SessionID]) {
        for session in wanted {
            if let hosted = sessions[session] { sessions.keepSnapshotIfDue(of: hosted, isWanted: true) }
        }
    }

    public func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        sessions[session]?.snapshots.noteKept(byteCount: byteCount)
    }
}
