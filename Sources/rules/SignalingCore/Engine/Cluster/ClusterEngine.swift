import SignalingProtocol

/// The engine of one node over a ``SharedCommandLog``: several nodes host the same sessions.
///
/// A command changes its session when the log has confirmed it (LOG-1). The engine collects the commands of a turn and
/// appends them in ``advance(to:)``. It hosts a session for as long as it has a use for it, and carries out the commands
/// of all nodes (docs/decisions/011-many-nodes.md). The parts of the engine:
///
/// - `ClusterEngine+Hosting.swift`: opening sessions and letting them go,
/// - `ClusterEngine+Entries.swift`: carrying out the entries of all nodes,
/// - `ClusterEngine+Nodes.swift`: the keeper, and lost nodes,
/// - `ClusterEngine+Drops.swift`: sessions whose order or gap the log cannot mend,
/// - `ClusterEngine+Relays.swift`: online-only signals between nodes.
public final class ClusterEngine: SessionEngine {
    typealias Hosted = LoggedSession<NodeSession>

    // Internal for the parts of the engine in other files.
    let sessions: LoggedSessions<NodeSession>
    let log: any SharedCommandLog
    let sleepers: (any SleepingSessionList)?
    let onUnreadable: (SessionID, CodingFault) -> Void
    /// When to check whether this node still has a use for a session. In the process's time.
    var letGoChecks = SessionDeadlines()
    /// The last moment of a call, in the process's time.
    var now: MonotonicInstant

    /// - Parameters:
    ///   - log: the engine becomes its observer.
    ///   - run: a random name for this life of the process.
    ///   - bounds: the limits of each session.
    ///   - history: what is kept, and where.
    ///   - sleepers: where sleeping sessions are listed, for operators. The engine keeps it.
    ///   - now: the present moment of the process.
    ///   - onUnreadable: called for a session that this version cannot read. Its commands get
    ///     ``SessionOutcome/unavailable(mayBeCarriedOut:)`` on this node.
    ///   - projectOf: reads the project of a session.
    ///   - makeEpoch: returns a new random epoch at each call.
    public init(
        log: any SharedCommandLog, run: RunID, bounds: SessionState.Bounds, history: EngineHistory = .none,
        sleepers: (any SleepingSessionList)? = nil, now: MonotonicInstant,
        onUnreadable: @escaping (SessionID, CodingFault) -> Void = { _, _ in },
        projectOf: @escaping ProjectOfSession = { _ in nil }, makeEpoch: @escaping () -> Epoch
    ) {
        sessions = LoggedSessions(
            log: log, run: run, bounds: bounds, history: history, now: now, projectOf: projectOf,
            makeEpoch: makeEpoch)
        self.log = log
        self.sleepers = sleepers
        self.now = now
        self.onUnreadable = onUnreadable
        log.observer = self
        log.nodeObserver = self
    }

    /// A weak reference.
    public var observer: (any SessionEngineObserver)? {
        get { sessions.observer }
        set { sessions.observer = newValue }
    }

    public var sessionCount: Int { sessions.table.count }
    public var isSaturated: Bool { sessions.isSaturated }
    /// The life of the process. Changes if the other nodes have declared this node lost.
    var run: RunID { sessions.run }
    var isStopping: Bool { sessions.isStopping }

    // MARK: - Commands

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        submit(Submission(command: command, session: session, ticket: ticket, now: now))
    }

    /// A command to a session that this node does not host waits until the session is open.
    func submit(_ submission: Submission) {
        now = max(now, submission.now)
        // All clients have been disconnected, so no client waits for an answer.
        if isStopping { return }
        let hosted = sessions[submission.session] ?? beginOpening(submission.session)
        hosted.node.lastInterest = submission.now
        if hosted.node.isOpening { return hosted.node.waiting.append(submission) }
        if sessions.enqueue(submission, in: hosted) { return }
        sessions.reports.submit(submission, carryOutUnlogged)
    }

    func report(_ body: () -> Void) { sessions.reports.report(body, then: carryOutUnlogged) }

    private func carryOutUnlogged(_ submission: Submission) {
        carryOutUnlogged(
            submission.command, submission.session, submission.ticket, at: sessions.logTime(submission.now))
    }

    func carryOutUnlogged(
        _ command: SessionCommand, _ session: SessionID, _ ticket: CommandTicket, at time: MonotonicInstant
    ) {
        relay(sessions.carryOutUnlogged(command, session, ticket, at: time), of: session)
    }

    // MARK: - Time

    public var nextDeadline: MonotonicInstant? {
        guard let check = letGoChecks.next else { return sessions.nextDeadline }
        return min(sessions.nextDeadline ?? check, check)
    }

    /// Appends the commands of this turn, of what is due, and of the sessions that are no longer needed, in one step.
    public func advance(to now: MonotonicInstant) {
        let time = sessions.noteTime(now)
        self.now = now
        letGo()
        if !isStopping {
            while let session = sessions.table.popDue(by: time) {
                if let hosted = sessions[session] { appendDue(hosted, time) }
            }
            sessions.appendMarkers(at: time)
            sessions.tellArchive(at: time, where: isKeeper)
            sessions.keepDueSnapshots(at: time, where: isKeeper)
            sessions.appendEnds(where: isKeeper)
        }
        sessions.flush(now: now)
        sessions.checkInvariants(\.nodeViolation)
    }

    /// The sessions continue on other nodes, which are told of the lost sockets (LOG-13).
    public func endSessions() {
        sessions.appendAllMarkers()
        for (_, hosted) in sessions.table.ordered where hosted.state?.names(run) == true {
            sessions.append(.nodeLost(run, at: .atEntry), to: hosted)
        }
        sessions.keepLastSnapshots(where: isKeeper)
        sessions.stop()
    }

    // MARK: - Presence and limits

    public func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { sessions.noteTold(event, of: session) }

    public func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        sessions.changeLimits(to: new, history, where: isKeeper)
    }

    // MARK: - History

    public func keepsHistory(_ session: SessionID) -> Bool { sessions.keepsHistory(session) }

    public func sweepHistory(now: WallTime) { sessions.history.archive?.sweep(now: now) { _ in } }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions.connections(of: session) }

    public var detachedCount: Int { sessions.detachedCount }

    public func sessionIDs(of project: APIKey?) -> [SessionID] { sessions.table.ids(of: project) }

    public func state(of session: SessionID) -> SessionState? { sessions[session]?.state }

    public func hosted(_ session: SessionID) -> HostedSession? { sessions[session] }
}

extension MonotonicInstant {
    /// Stands for the time of the entry itself, as the moment at which a node was lost.
    static let atEntry = MonotonicInstant(nanoseconds: .max)
}
