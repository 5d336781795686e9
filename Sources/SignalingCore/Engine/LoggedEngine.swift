import DequeModule
import SignalingProtocol

/// The engine over a ``CommandLog``: sessions outlive the process.
///
/// A command is first appended to the log, and changes the session when the log has confirmed it (LOG-1). The engine
/// collects the commands of a turn and appends them in ``advance(to:)``. Two commands change nothing that lasts and are
/// not in the log: online-only signals, and the check of a newer token. They wait for the earlier commands to their
/// session.
///
/// Over a ``SharedCommandLog`` the engine hosts a session for as long as it has a use for it, and carries out the
/// commands of all nodes (docs/decisions/011-many-nodes.md). The parts for this:
///
/// - `LoggedEngine+Hosting.swift`: opening sessions and letting them go,
/// - `LoggedEngine+Nodes.swift`: entries of other nodes, the keeper, and lost nodes,
/// - `LoggedEngine+Drops.swift`: sessions whose order or gap the log cannot mend,
/// - `LoggedEngine+Relays.swift`: online-only signals between nodes.
public final class LoggedEngine: SessionEngine {
    public weak var observer: (any SessionEngineObserver)?
    /// Called for a session of a shared log that this version cannot read. Its commands get
    /// ``SessionOutcome/unavailable(mayBeCarriedOut:)`` on this node.
    public var onUnreadable: (SessionID, CodingFault) -> Void = { _, _ in }

    // Internal for the parts of the engine in other files.
    let log: any CommandLog
    /// The same log, if several nodes share it.
    let shared: (any SharedCommandLog)?
    var run: RunID
    var bounds: SessionState.Bounds
    private let makeEpoch: () -> Epoch
    var sessions: [SessionID: LoggedSession] = [:]
    /// The commands of this turn.
    var batch: [CommandAppend] = []
    /// Sessions that were not needed after their last command.
    var unneeded: Set<SessionID> = []
    /// In the log's time.
    var deadlines = SessionDeadlines()
    /// When to check whether this node still has a use for a session. In the process's time; empty without a shared log.
    var letGoChecks = SessionDeadlines()
    /// How far the log's clock is ahead of the process's.
    private var clockOffset: Duration
    /// The last moment of a call, in the process's time.
    var now: MonotonicInstant
    /// Commands that were submitted from a callback and can be carried out at once. They wait until the observer has
    /// received everything about the present one.
    private var immediate: Deque<(SessionCommand, SessionID, CommandTicket)> = []
    private var isReporting = false
    /// Whether the node stops: it appends nothing any more.
    var isStopping = false

    /// - Parameters:
    ///   - log: the engine becomes its observer.
    ///   - run: a random name for this life of the process.
    ///   - bounds: the limits of each session.
    ///   - makeEpoch: returns a new random epoch at each call.
    ///   - now: the present moment of the process.
    public init(
        log: any CommandLog, run: RunID, bounds: SessionState.Bounds, now: MonotonicInstant,
        makeEpoch: @escaping () -> Epoch
    ) {
        self.log = log
        shared = log as? any SharedCommandLog
        self.run = run
        self.bounds = bounds
        self.makeEpoch = makeEpoch
        self.now = now
        clockOffset = log.time(at: now).duration(since: now)
        log.observer = self
        shared?.nodeObserver = self
    }

    public var sessionCount: Int { sessions.count }

    public var isSaturated: Bool { log.inFlightByteCount > CommandLogLimits.inFlightByteCount }

    // MARK: - Submitting

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        if shared != nil, mustWait(command, session, ticket, now) { return }
        if !command.isLogged { return submitUnlogged(command, to: session, ticket, now) }
        if case .join = command {
            return appendJoin(command, to: sessions[session] ?? host(LoggedSession(id: session)), ticket)
        }
        // Only a join begins a log (LOG-10).
        guard let hosted = sessions[session], hosted.isOpen || !hosted.steps.isEmpty else {
            return carryOutAtOnce(command, session, ticket, now)
        }
        append(.session(command), to: hosted, ticket)
    }

    private func submitUnlogged(
        _ command: SessionCommand, to session: SessionID, _ ticket: CommandTicket, _ now: MonotonicInstant
    ) {
        if let hosted = sessions[session], !hosted.steps.isEmpty {
            hosted.append(.unlogged(command, ticket))
        } else {
            carryOutAtOnce(command, session, ticket, now)
        }
    }

    func appendJoin(_ join: SessionCommand, to hosted: LoggedSession, _ ticket: CommandTicket?) {
        if !hosted.isOpen {
            hosted.isOpen = true
            append(.begin(makeEpoch(), bounds), to: hosted)
        }
        append(.session(join), to: hosted, ticket)
    }

    func append(_ command: LoggedCommand, to hosted: LoggedSession, _ ticket: CommandTicket? = nil) {
        // A later command would make this node the keeper again.
        if isStopping { return }
        let id = hosted.nextID(of: run)
        hosted.append(.logged(command, id, ticket))
        batch.append(CommandAppend(command, session: hosted.id, id: id))
    }

    func host(_ session: LoggedSession) -> LoggedSession {
        sessions[session.id] = session
        return session
    }

    // MARK: - Carrying out

    func report(_ body: () -> Void, _ now: MonotonicInstant) {
        isReporting = true
        body()
        while let (command, session, ticket) = immediate.popFirst() {
            carryOutUnlogged(command, session, ticket, logTime(now))
        }
        isReporting = false
    }

    private func carryOutAtOnce(
        _ command: SessionCommand, _ session: SessionID, _ ticket: CommandTicket, _ now: MonotonicInstant
    ) {
        if isReporting { return immediate.append((command, session, ticket)) }
        report({ carryOutUnlogged(command, session, ticket, logTime(now)) }, now)
    }

    /// Carries out a command that changes nothing that lasts: it is of this kind, or its session does not exist.
    private func carryOutUnlogged(
        _ command: SessionCommand, _ session: SessionID, _ ticket: CommandTicket, _ time: MonotonicInstant
    ) {
        var effects: [SessionEffect] = []
        let outcome =
            sessions[session]?.state?.handleUnlogged(command, now: time, effects: &effects)
            ?? refuse(command, session, time)
        observer?.engine(answered: ticket, outcome)
        for effect in effects { observer?.engine(session, caused: effect) }
        if shared != nil { relay(effects, of: session) }
    }

    /// The answer of a session that does not exist: that of an empty one.
    private func refuse(
        _ command: SessionCommand, _ session: SessionID, _ time: MonotonicInstant
    ) -> SessionOutcome {
        var state = SessionState(id: session, epoch: Epoch(""), bounds: bounds)
        var effects: [SessionEffect] = []
        return state.handle(command, now: time, effects: &effects)
    }

    private func carryOut(_ entry: CommandEntry) {
        guard let hosted = sessions[entry.session], !hosted.node.isOpening, hosted.advance(to: entry.position) else {
            guard shared != nil else {
                preconditionFailure("the log confirmed \(entry.position.number) of a session, out of order")
            }
            return noteUnexpected(entry)
        }
        guard let (command, ticket) = step(of: entry, hosted) else {
            guard shared != nil else { preconditionFailure("the log confirmed a command of another process") }
            return noteUnexpected(entry)
        }
        hosted.snapshots.note(commandByteCount: entry.bytes.count)
        let (before, keeper) = (hosted.state?.log.mark ?? .beginning, hosted.state?.keeper)
        var effects: [SessionEffect] = []
        let outcome = command.carryOut(on: &hosted.state, as: entry, effects: &effects)
        if let ticket { answer(ticket, outcome, to: command, hosted, entry) }
        cause(effects, hosted, previousKeeper: keeper)
        if let after = hosted.state?.log.mark, after != before { observer?.engine(sessionChanged: hosted.id) }
        if command.movesDeadlines { schedule(hosted) }
        if case .advance = command, entry.position.id.run == run { hosted.isAdvancing = false }
        if shared != nil { noteCarriedOut(entry, outcome, hosted, previousKeeper: keeper) }
        while let (command, ticket) = hosted.popUnlogged() {
            carryOutUnlogged(command, hosted.id, ticket, entry.time)
        }
        guard let state = hosted.state else {
            if hosted.steps.isEmpty { forget(hosted, endedBy: entry.position.id.run) }
            return
        }
        if !state.isNeeded { unneeded.insert(hosted.id) }
        if isKeeper(of: hosted), hosted.snapshots.begin() { keepSnapshot(of: hosted) }
    }

    /// The command of an entry, with its ticket if it was submitted here; `nil` if the entry cannot be carried out.
    private func step(of entry: CommandEntry, _ hosted: LoggedSession) -> (LoggedCommand, CommandTicket?)? {
        if entry.position.id.run == run || shared == nil { return hosted.popStep(of: entry.position.id) }
        return (try? LoggedCommand(decoding: entry.bytes)).map { ($0, nil) }
    }

    private func answer(
        _ ticket: CommandTicket, _ outcome: SessionOutcome?, to command: LoggedCommand, _ hosted: LoggedSession,
        _ entry: CommandEntry
    ) {
        guard case .session(let command) = command else { return }
        if outcome == nil, shared != nil, case .join(let request) = command {
            return repeatJoin(request, ticket, hosted)
        }
        observer?.engine(answered: ticket, outcome ?? refuse(command, hosted.id, entry.time))
    }

    /// With untold events, the observer gets those in the place of presence effects. Only the keeper reports presence.
    /// A new keeper reports all untold events.
    private func cause(_ effects: [SessionEffect], _ hosted: LoggedSession, previousKeeper: RunID?) {
        let (isKeeper, hasUntold) = (isKeeper(of: hosted), bounds.untoldEventCount > 0)
        let number = shared == nil || previousKeeper == run ? hosted.position?.number : nil
        let kept = isKeeper && hasUntold ? hosted.state?.keptPresence(of: number) ?? [] : []
        for effect in effects {
            if case .presence = effect, hasUntold || !isKeeper { continue }
            observer?.engine(hosted.id, caused: effect)
        }
        for event in kept { observer?.engine(hosted.id, caused: .keptPresence(event)) }
    }

    private func forget(_ hosted: LoggedSession, endedBy submitter: RunID) {
        if submitter == run, let position = hosted.position { log.remove(hosted.id, through: position) }
        if shared != nil { return release(hosted) }
        deadlines.remove(hosted.id)
        sessions[hosted.id] = nil
    }

    private func keepSnapshot(of hosted: LoggedSession) {
        guard let state = hosted.state, let position = hosted.position else { return }
        log.keep(CommandSnapshot(session: hosted.id, position: position) { state.encoded() })
    }

    // MARK: - Time

    private func logTime(_ now: MonotonicInstant) -> MonotonicInstant { now.advanced(by: clockOffset) }

    func schedule(_ hosted: LoggedSession) {
        deadlines.schedule(hosted.id, at: shared == nil ? hosted.state?.nextDeadline : dueTime(of: hosted))
    }

    public var nextDeadline: MonotonicInstant? {
        let due = deadlines.next?.advanced(by: .zero - clockOffset)
        guard shared != nil, let check = letGoChecks.next else { return due }
        return min(due ?? check, check)
    }

    /// Appends the commands of this turn, of what is due, and of the sessions that are no longer needed, in one step.
    public func advance(to now: MonotonicInstant) {
        let time = log.time(at: now)
        clockOffset = time.duration(since: now)
        self.now = now
        if shared != nil { letGo() }
        if !isStopping { appendDue(time) }
        if batch.isEmpty { return }
        log.append(batch, now: now)
        batch.removeAll(keepingCapacity: true)
    }

    private func appendDue(_ time: MonotonicInstant) {
        while let session = deadlines.popDue(by: time) {
            guard let hosted = sessions[session], !hosted.isAdvancing else { continue }
            if shared != nil, !mayAdvance(hosted, time) { continue }
            hosted.isAdvancing = true
            append(.advance, to: hosted)
        }
        for session in unneeded.sorted() {
            // One with commands on their way is checked after them.
            guard let hosted = sessions[session], hosted.steps.isEmpty, hosted.state?.isNeeded == false,
                isKeeper(of: hosted)
            else { continue }
            hosted.isOpen = false
            append(.end, to: hosted)
        }
        unneeded.removeAll()
    }

    /// The sessions continue, in the next process or on other nodes. Those are told of the lost sockets (LOG-13).
    public func endSessions() {
        if shared == nil { return }
        for hosted in orderedSessions where hosted.state?.names(run) == true {
            append(.nodeLost(run, at: MonotonicInstant(nanoseconds: .max)), to: hosted)
        }
        isStopping = true
    }

    /// In the same order in every process, so that a test can repeat a run.
    var orderedSessions: [LoggedSession] { sessions.values.sorted { $0.id < $1.id } }

    // MARK: - Presence

    /// Reports the untold events of restored sessions once more. Call it when the observer is ready.
    public func reportUntold() {
        for hosted in orderedSessions where isKeeper(of: hosted) { reportUntold(of: hosted) }
    }

    func reportUntold(of hosted: LoggedSession) {
        for event in hosted.state?.keptPresence() ?? [] { observer?.engine(hosted.id, caused: .keptPresence(event)) }
    }

    public func noteTold(_ event: KeptPresenceEvent, of session: SessionID) {
        guard event.completesCommand, let hosted = sessions[session], hosted.state?.epoch == event.epoch else { return }
        append(.told(through: event.untold.commandNumber), to: hosted)
    }

    // MARK: - Limits

    /// Replaces the numbers of connections and the rates of all sessions, and of those that begin later. The bounds of
    /// logs and the windows stay as they are.
    public func changeLimits(to new: SessionState.Bounds, now: MonotonicInstant) {
        bounds.changeRunning(to: new)
        for hosted in orderedSessions where hosted.isOpen && isKeeper(of: hosted) {
            append(.changeLimits(bounds), to: hosted)
        }
    }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions[session]?.state?.connections ?? [] }

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        if shared == nil { return answer(connections(of: session)) }
        listCurrentConnections(of: session, answer)
    }

    public func visitSessions(_ body: (SessionState) -> Void) {
        for hosted in sessions.values { if let state = hosted.state { body(state) } }
    }

    public func state(of session: SessionID) -> SessionState? { sessions[session]?.state }

    public func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        // A copy: the body may cause a command that changes the session's log.
        guard let log = sessions[session]?.state?.log else { return nil }
        return body(log)
    }
}

extension LoggedEngine: CommandLogObserver {
    public func log(confirmed entries: [CommandEntry]) {
        for entry in entries {
            report({ carryOut(entry) }, entry.time.advanced(by: .zero - clockOffset))
        }
    }

    public func log(needsSnapshotsOf sessions: [SessionID]) {
        for session in sessions {
            guard let hosted = self.sessions[session], hosted.snapshots.begin(isWanted: true) else { continue }
            keepSnapshot(of: hosted)
        }
    }

    public func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        sessions[session]?.snapshots.noteKept(byteCount: byteCount)
    }
}

extension LoggedEngine {
    /// Continues the sessions of an earlier process. Call it before the first command.
    ///
    /// Every connection lost its socket with that process (LOG-13), and the time to resume runs from then. The limits of
    /// this process replace those of the sessions.
    ///
    /// - Returns: the sessions that cannot be read, which a newer version may have written. Their clients begin anew.
    public func restore(_ kept: KeptCommands) -> [SessionID] {
        var unreadable: [SessionID] = []
        for session in kept.sessions {
            do throws(CodingFault) {
                let hosted = try LoggedSession(session)
                guard hosted.state != nil else {
                    if let position = hosted.position { log.remove(session.id, through: position) }
                    continue
                }
                sessions[session.id] = hosted
                append(.nodeLost(nil, at: kept.lostAt), to: hosted)
                append(.changeLimits(bounds), to: hosted)
            } catch {
                unreadable.append(session.id)
                if let last = session.entries.last?.position ?? session.snapshot?.position {
                    log.remove(session.id, through: last)
                }
            }
        }
        return unreadable
    }
}

extension LoggedCommand {
    /// Whether the command can move the session's next deadline to an earlier moment.
    fileprivate var movesDeadlines: Bool {
        switch self {
        case .session(let command): command.movesDeadlines
        case .begin, .advance, .changeLimits, .nodeLost, .told, .end: true
        }
    }
}

extension SessionCommand {
    /// Whether the command can change what lasts, so that it belongs into the log.
    fileprivate var isLogged: Bool {
        switch self {
        case .join, .leave, .detach, .heard, .forceDisconnect: true
        case .signal(_, let request): !request.isOnlineOnly
        case .refreshToken: false
        }
    }
}
