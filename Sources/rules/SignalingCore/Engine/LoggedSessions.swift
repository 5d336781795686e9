import SignalingProtocol

/// The sessions of an engine over a command log: what ``LocalEngine`` and ``ClusterEngine`` have in common.
///
/// A command is first appended to the log, and changes the session when the log has confirmed it (LOG-1). The commands
/// of a turn are appended in one step, by ``flush(now:)``. Two commands change nothing that lasts and are not in the
/// log: online-only signals, and the check of a newer token. They wait for the earlier commands to their session.
final class LoggedSessions<Node> {
    typealias Session = LoggedSession<Node>

    @exclusivity(unchecked) weak var observer: (any SessionEngineObserver)?
    /// Its deadlines are in the log's time.
    @exclusivity(unchecked) var table: SessionTable<Session>
    private let detached = DetachedTally()
    let reports = ReportingQueue()
    private(set) var run: RunID
    private(set) var bounds: SessionState.Bounds
    private(set) var history: EngineHistory
    /// When to tell the archive what has waited for long, in the log's time.
    @exclusivity(unchecked) var archiveChecks = SessionDeadlines()
    /// When to keep snapshots that replace erased content (HIS-9), in the log's time.
    private var erasureChecks = SessionDeadlines()
    /// The greatest seqs of lost orders, while the archive is being told what was left of them.
    var salvaged: [SessionID: Seq] = [:]
    /// When to append the read markers that clients have set here (READ-2), in the log's time.
    private var markerChecks = SessionDeadlines()
    /// When a session that was woken may sleep again, in the log's time.
    private var sleepChecks = SessionDeadlines()
    /// How long a session stays awake. Falling asleep and waking cost what the session has, so a client that comes and
    /// goes must not cause both each time.
    static var wakefulTime: Duration { .seconds(10) }
    /// Whether the process stops. Nothing is appended any more then.
    @exclusivity(unchecked) private(set) var isStopping = false
    private let log: any CommandLog
    @exclusivity(unchecked) var stopwatch: LogStopwatch?
    private let makeEpoch: () -> Epoch
    /// The commands of this turn.
    @exclusivity(unchecked) private(set) var batch: [CommandAppend] = []
    /// How far the log's clock is ahead of the process's.
    @exclusivity(unchecked) private var clockOffset: Duration
    /// The log's time at the last ``noteTime(_:)``.
    @exclusivity(unchecked) private(set) var lastTime: MonotonicInstant

    init(
        log: any CommandLog, run: RunID, bounds: SessionState.Bounds, history: EngineHistory, now: MonotonicInstant,
        projectOf: @escaping ProjectOfSession, makeEpoch: @escaping () -> Epoch
    ) {
        table = SessionTable(projectOf: projectOf)
        self.log = log
        self.run = run
        self.bounds = bounds
        self.history = history
        self.makeEpoch = makeEpoch
        lastTime = log.time(at: now)
        clockOffset = lastTime.duration(since: now)
    }

    subscript(session: SessionID) -> Session? { table[session] }

    func host(_ session: SessionID, node: Node) -> Session {
        let hosted = Session(id: session, node: node, detached: detached)
        table.add(hosted, as: session)
        return hosted
    }

    /// The limits of one session.
    func bounds(of session: SessionID) -> SessionState.Bounds {
        var bounds = bounds
        // Without an archive, what is kept would only wait for one.
        let project = table.project(of: session)
        bounds.history = history.archive == nil ? nil : history.policy.types(of: project)
        bounds.changes = history.policy.changes(of: project)
        bounds.readMarkers = history.policy.readMarkers(of: project)
        bounds.announces = history.archive != nil && history.policy.hasFeed(project)
        bounds.unreadDelay = bounds.announces ? history.policy.unreadDelay : .zero
        return bounds
    }

    // MARK: - Appending

    /// Appends a command to its session, or puts it behind those that it waits for.
    ///
    /// - Returns: false if the command has nothing to wait for and changes nothing that lasts: carry it out at once.
    func enqueue(_ submission: Submission, in hosted: Session) -> Bool {
        let (command, ticket) = (submission.command, submission.ticket)
        if case .join = command {
            appendJoin(command, to: hosted, ticket)
            return true
        }
        // Only a join begins a log (LOG-10).
        if hosted.steps.isEmpty, !hosted.isOpen || !command.isLogged { return false }
        if command.endsSocket { appendMarkers(of: hosted) }
        if command.isLogged {
            append(.session(command.accepted(at: logTime(submission.now))), to: hosted, ticket)
        } else {
            hosted.append(.unlogged(command, ticket))
        }
        return true
    }

    /// Appends the read markers that wait (READ-2): before the session can end, too.
    private func appendMarkers(of hosted: Session) {
        guard let markers = hosted.takeMarkers() else { return }
        append(.marked(markers), to: hosted)
    }

    /// Appends the read markers that have waited for their time.
    func appendMarkers(at time: MonotonicInstant) {
        while let session = markerChecks.popDue(by: time) {
            if let hosted = self[session] { appendMarkers(of: hosted) }
        }
    }

    /// Appends all that wait, before the process stops.
    func appendAllMarkers() {
        for (_, hosted) in table.ordered { appendMarkers(of: hosted) }
    }

    func appendJoin(_ join: SessionCommand, to hosted: Session, _ ticket: CommandTicket) {
        if !hosted.isOpen {
            hosted.isOpen = true
            append(.begin(makeEpoch(), bounds(of: hosted.id), after: hosted.beginsAfter), to: hosted)
        }
        append(.session(join), to: hosted, ticket)
    }

    func append(_ command: LoggedCommand, to hosted: Session, _ ticket: CommandTicket? = nil) {
        // In a cluster, a later command would make this node the keeper again.
        if isStopping { return }
        table.noteTouched(hosted)
        let id = hosted.nextID(of: run)
        hosted.append(.logged(command, id, ticket))
        batch.append(CommandAppend(command, session: hosted.id, id: id))
    }

    /// A session that slept is needed again.
    func wake(_ hosted: Session) {
        hosted.staysAwakeUntil = lastTime.advanced(by: LoggedSessions<Void>.wakefulTime)
        // The limits may be others since it fell asleep, but not those of a node that was started earlier (CHG-4).
        if let state = hosted.state, state.bounds.asOf > bounds.asOf { return }
        append(.changeLimits(bounds(of: hosted.id)), to: hosted)
    }

    /// The session has the limits of a node that was started, or has read its settings, earlier than this one (CHG-4,
    /// HIS-1). Its windows and the bounds of its log stay.
    func adoptLimits(of hosted: Session) {
        guard let state = hosted.state, state.bounds.asOf < bounds.asOf, !hosted.isAdoptingLimits else { return }
        hosted.isAdoptingLimits = true
        var limits = state.bounds
        limits.changeRunning(to: bounds(of: hosted.id))
        append(.changeLimits(limits), to: hosted)
    }

    /// Appends what is due in a session, unless that is on its way.
    func appendAdvance(to hosted: Session) {
        if hosted.isAdvancing { return }
        hosted.isAdvancing = true
        append(.advance, to: hosted)
    }

    /// Appends the ends of the sessions that are no longer needed.
    func appendEnds(where mayEnd: (Session) -> Bool = { _ in true }) {
        while let session = sleepChecks.popDue(by: lastTime) { table.noteUnneeded(session) }
        for session in table.takeUnneeded().sorted() {
            // A session with commands on their way is checked after them.
            guard let hosted = self[session], hosted.steps.isEmpty, hosted.state?.isNeeded == false, mayEnd(hosted)
            else { continue }
            if let moment = hosted.staysAwakeUntil, lastTime < moment, hosted.state?.mustSleep(at: lastTime) == true {
                sleepChecks.schedule(session, at: moment)
                continue
            }
            // A client may have set one with its last breath.
            appendMarkers(of: hosted)
            hosted.isOpen = false
            if let snapshot = hosted.takeLastSnapshot(at: lastTime) { keep(snapshot) }
            append(.end, to: hosted)
        }
    }

    /// Appends the commands of this turn to the log, in one step.
    func flush(now: MonotonicInstant) {
        if batch.isEmpty { return }
        stopwatch?.noteAppend(of: batch.count, at: now)
        log.append(batch, now: now)
        batch.removeAll(keepingCapacity: true)
    }

    /// Removes the commands of this turn to a session, which the log has not got.
    func removeUnsent(of session: SessionID) -> Set<CommandID> {
        let unsent = batch.filter { $0.session == session }.map(\.id)
        if !unsent.isEmpty { batch.removeAll { $0.session == session } }
        return Set(unsent)
    }

    /// Continues as another run, which has appended nothing.
    ///
    /// - Returns: the commands of this turn, which the log has not got.
    func goOn(as newRun: RunID) -> Set<CommandID> {
        run = newRun
        defer { batch.removeAll() }
        return Set(batch.map(\.id))
    }

    /// Lets nothing be appended from now on, except what this turn has appended already.
    func stop() { isStopping = true }

    // MARK: - Carrying out

    /// Carries out a command that changes nothing that lasts: it is of this kind, or its session does not exist.
    ///
    /// - Returns: the effects, which the observer has got.
    @discardableResult
    func carryOutUnlogged(
        _ command: SessionCommand, _ session: SessionID, _ ticket: CommandTicket, at time: MonotonicInstant
    ) -> [SessionEffect] {
        var effects: [SessionEffect] = []
        let outcome =
            self[session]?.carryOutUnlogged(command, at: time, effects: &effects) ?? refusal(of: command, session, time)
        observer?.engine(answered: ticket, outcome)
        for effect in effects { observer?.engine(session, caused: effect) }
        if case .read = command, let due = self[session]?.state?.markersDueAt {
            markerChecks.schedule(session, at: due)
        }
        return effects
    }

    /// Answers the command of an entry.
    ///
    /// - Parameter outcome: `nil` if the entry has found no session.
    func answer(
        _ ticket: CommandTicket, _ outcome: SessionOutcome?, to command: LoggedCommand, _ entry: CommandEntry
    ) {
        guard case .session(let command) = command else { return }
        observer?.engine(answered: ticket, outcome ?? refusal(of: command, entry.session, entry.time))
    }

    /// The answer of a session that does not exist: that of an empty one.
    private func refusal(
        of command: SessionCommand, _ session: SessionID, _ time: MonotonicInstant
    ) -> SessionOutcome {
        var state = SessionState(id: session, epoch: Epoch(""), bounds: bounds)
        var effects: [SessionEffect] = []
        return state.handle(command, now: time, effects: &effects)
    }

    /// Tells the observer what an entry has caused. If the state keeps untold events, the observer gets those in the
    /// place of presence effects.
    func report(_ change: Session.Change, of hosted: Session, _ presence: PresenceReport) {
        table.noteTouched(hosted)
        let hasUntold = bounds.untoldEventCount > 0
        let kept: [KeptPresenceEvent]? =
            switch presence {
            case .none: nil
            case .ofEntry: hasUntold ? hosted.state?.keptPresence(of: hosted.position?.number) : nil
            case .untold: hasUntold ? hosted.state?.keptPresence() : nil
            }
        for effect in change.effects {
            if case .presence = effect, hasUntold || presence == .none { continue }
            observer?.engine(hosted.id, caused: effect)
        }
        for event in kept ?? [] { observer?.engine(hosted.id, caused: .keptPresence(event)) }
        if change.hasChangedLog { observer?.engine(sessionChanged: hosted.id) }
    }

    // MARK: - Snapshots

    private func keep(_ snapshot: CommandSnapshot) {
        stopwatch?.noteSnapshot(of: snapshot.session)
        log.keep(snapshot)
    }

    /// - Parameter isWanted: whether the log asks for a snapshot of any size.
    func keepSnapshotIfDue(of hosted: Session, isWanted: Bool = false) {
        if let snapshot = hosted.takeDueSnapshot(isWanted: isWanted, at: lastTime) { keep(snapshot) }
        if let due = hosted.erasedContent.dueAt { erasureChecks.schedule(hosted.id, at: due) }
    }

    /// Lets the log forget what was erased some time ago.
    ///
    /// - Parameter isOwn: whether this process keeps the snapshots of the session.
    func keepDueSnapshots(at time: MonotonicInstant, where isOwn: (Session) -> Bool = { _ in true }) {
        while let session = erasureChecks.popDue(by: time) {
            guard let hosted = self[session], isOwn(hosted),
                let snapshot = hosted.takeDueSnapshot(isWanted: false, at: time)
            else { continue }
            keep(snapshot)
        }
    }

    /// Lets the log forget what was erased, before the process stops.
    func keepLastSnapshots(where isOwn: (Session) -> Bool = { _ in true }) {
        for (_, hosted) in table.ordered where isOwn(hosted) {
            if let snapshot = hosted.takeLastSnapshot(at: lastTime) { keep(snapshot) }
        }
    }

    /// Begins a new epoch for a session whose order has lost its end (HIS-3). Its clients come back.
    func renew(_ hosted: Session, at time: MonotonicInstant) {
        observer?.engine(lost: hosted.id)
        let change = hosted.renew(makeEpoch(), at: time)
        // Before the commands that follow, in the order of the log.
        if let snapshot = hosted.renewedSnapshot { keep(snapshot) }
        report(change, of: hosted, .untold)
        table.schedule(hosted.id, at: hosted.state?.nextDeadline)
    }

    /// Removes from the log a session that has ended, or cannot be read.
    ///
    /// - Parameter position: of its last command; `nil` if it has none.
    func removeFromLog(_ session: SessionID, through position: LogPosition?) {
        stopwatch?.forget(session)
        if let position { log.remove(session, through: position) }
    }

    // MARK: - Time

    /// - Returns: the log's time.
    func noteTime(_ now: MonotonicInstant) -> MonotonicInstant {
        let time = log.time(at: now)
        clockOffset = time.duration(since: now)
        lastTime = time
        return time
    }

    func logTime(_ now: MonotonicInstant) -> MonotonicInstant { now.advanced(by: clockOffset) }

    /// In the process's time.
    var nextDeadline: MonotonicInstant? {
        let checks = MonotonicInstant.earlier(
            archiveChecks.next,
            MonotonicInstant.earlier(erasureChecks.next, MonotonicInstant.earlier(sleepChecks.next, markerChecks.next)))
        return MonotonicInstant.earlier(table.nextDeadline, checks)?.advanced(by: .zero - clockOffset)
    }

    // MARK: - Presence

    func reportUntold(of hosted: Session) {
        for event in hosted.state?.keptPresence() ?? [] { observer?.engine(hosted.id, caused: .keptPresence(event)) }
    }

    func noteTold(_ event: KeptPresenceEvent, of session: SessionID) {
        guard event.completesCommand, let hosted = self[session], hosted.state?.epoch == event.epoch else { return }
        append(.told(through: event.untold.commandNumber), to: hosted)
    }

    // MARK: - Limits

    /// - Parameter isChanged: whether this process tells the session.
    func changeLimits(
        to new: SessionState.Bounds, _ policy: HistoryPolicy, where isChanged: (Session) -> Bool = { _ in true }
    ) {
        bounds.changeRunning(to: new)
        history.policy = policy
        for (id, hosted) in table.ordered where hosted.isOpen && isChanged(hosted) {
            append(.changeLimits(bounds(of: id)), to: hosted)
        }
    }

    var isSaturated: Bool { log.inFlightByteCount > CommandLogLimits.inFlightByteCount }

    // MARK: - Reading

    func connections(of session: SessionID) -> [Connection] { self[session]?.state?.connections ?? [] }

    var detachedCount: Int { detached.count }
}
