import DequeModule
import SignalingProtocol

/// The engine over a ``CommandLog``: sessions outlive the process.
///
/// A command is first appended to the log, and changes the session when the log has confirmed it (LOG-1). The engine
/// collects the commands of a turn and appends them in ``advance(to:)``. Two commands change nothing that lasts and are
/// not in the log: online-only signals, and the check of a newer token. They wait for the earlier commands to their
/// session.
public final class LoggedEngine: SessionEngine {
    public weak var observer: (any SessionEngineObserver)?

    private let log: any CommandLog
    private let run: RunID
    private var bounds: SessionState.Bounds
    private let makeEpoch: () -> Epoch
    private var sessions: [SessionID: LoggedSession] = [:]
    /// The commands of this turn.
    private var batch: [CommandAppend] = []
    /// Sessions that were not needed after their last command.
    private var unneeded: Set<SessionID> = []
    /// In the log's time.
    private var deadlines = SessionDeadlines()
    /// How far the log's clock is ahead of the process's.
    private var clockOffset: Duration
    /// Commands that were submitted from a callback and can be carried out at once. They wait until the observer has
    /// received everything about the present one.
    private var immediate: Deque<(SessionCommand, SessionID, CommandTicket)> = []
    private var isReporting = false

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
        self.run = run
        self.bounds = bounds
        self.makeEpoch = makeEpoch
        clockOffset = log.time(at: now).duration(since: now)
        log.observer = self
    }

    public var sessionCount: Int { sessions.count }

    public var isSaturated: Bool { log.inFlightByteCount > CommandLogLimits.inFlightByteCount }

    // MARK: - Submitting

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        if !command.isLogged { return submitUnlogged(command, to: session, ticket, now) }
        if case .join = command {
            let hosted = sessions[session] ?? host(LoggedSession(id: session))
            if !hosted.isOpen {
                hosted.isOpen = true
                append(.begin(makeEpoch(), bounds), to: hosted)
            }
            return append(.session(command), to: hosted, ticket)
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

    private func append(_ command: LoggedCommand, to hosted: LoggedSession, _ ticket: CommandTicket? = nil) {
        let id = hosted.nextID(of: run)
        hosted.append(.logged(command, id, ticket))
        batch.append(CommandAppend(session: hosted.id, id: id, bytes: command.encoded()))
    }

    private func host(_ session: LoggedSession) -> LoggedSession {
        sessions[session.id] = session
        return session
    }

    // MARK: - Carrying out

    private func report(_ body: () -> Void, _ now: MonotonicInstant) {
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
        guard let hosted = sessions[entry.session], hosted.advance(to: entry.position) else {
            preconditionFailure("the log confirmed \(entry.position.number) of a session, out of order")
        }
        guard let (command, ticket) = hosted.popStep(of: entry.position.id) else {
            preconditionFailure("the log confirmed a command of another process")
        }
        hosted.snapshots.note(commandByteCount: entry.bytes.count)
        let before = hosted.state?.log.mark ?? .beginning
        var effects: [SessionEffect] = []
        hosted.state?.commandNumber = entry.position.number
        if let outcome = carryOut(command, hosted, entry, effects: &effects), let ticket {
            observer?.engine(answered: ticket, outcome)
        }
        cause(effects, hosted)
        if let after = hosted.state?.log.mark, after != before { observer?.engine(sessionChanged: hosted.id) }
        while let (command, ticket) = hosted.popUnlogged() {
            carryOutUnlogged(command, hosted.id, ticket, entry.time)
        }
        guard let state = hosted.state else {
            if hosted.steps.isEmpty { forget(hosted) }
            return
        }
        if !state.isNeeded { unneeded.insert(hosted.id) }
        if hosted.snapshots.begin() { keepSnapshot(of: hosted) }
    }

    /// With untold events, the observer gets those in the place of presence effects.
    private func cause(_ effects: [SessionEffect], _ hosted: LoggedSession) {
        let kept = bounds.untoldEventCount > 0 ? hosted.state?.keptPresence(of: hosted.position?.number) ?? [] : []
        for effect in effects {
            if case .presence = effect, bounds.untoldEventCount > 0 { continue }
            observer?.engine(hosted.id, caused: effect)
        }
        for event in kept { observer?.engine(hosted.id, caused: .keptPresence(event)) }
    }

    private func carryOut(
        _ command: LoggedCommand, _ hosted: LoggedSession, _ entry: CommandEntry, effects: inout [SessionEffect]
    ) -> SessionOutcome? {
        switch command {
        case .session(let command):
            guard hosted.state != nil else { return refuse(command, hosted.id, entry.time) }
            let outcome = hosted.state?.handle(command, now: entry.time, effects: &effects)
            if command.movesDeadlines { schedule(hosted) }
            return outcome
        case .begin, .advance, .changeLimits, .nodeLost, .told, .end:
            command.carryOut(on: &hosted.state, of: hosted.id, at: entry.time, effects: &effects)
            if case .advance = command { hosted.isAdvancing = false }
            schedule(hosted)
            return nil
        }
    }

    private func forget(_ hosted: LoggedSession) {
        if let position = hosted.position { log.remove(hosted.id, through: position) }
        deadlines.remove(hosted.id)
        sessions[hosted.id] = nil
    }

    private func keepSnapshot(of hosted: LoggedSession) {
        guard let state = hosted.state, let position = hosted.position else { return }
        log.keep(CommandSnapshot(session: hosted.id, position: position) { state.encoded() })
    }

    // MARK: - Time

    private func logTime(_ now: MonotonicInstant) -> MonotonicInstant { now.advanced(by: clockOffset) }

    private func schedule(_ hosted: LoggedSession) {
        deadlines.schedule(hosted.id, at: hosted.state?.nextDeadline)
    }

    public var nextDeadline: MonotonicInstant? { deadlines.next?.advanced(by: .zero - clockOffset) }

    /// Appends the commands of this turn, of what is due, and of the sessions that are no longer needed, in one step.
    public func advance(to now: MonotonicInstant) {
        let time = log.time(at: now)
        clockOffset = time.duration(since: now)
        while let session = deadlines.popDue(by: time) {
            guard let hosted = sessions[session], !hosted.isAdvancing else { continue }
            hosted.isAdvancing = true
            append(.advance, to: hosted)
        }
        for session in unneeded.sorted() {
            // One with commands on their way is checked after them.
            guard let hosted = sessions[session], hosted.steps.isEmpty, hosted.state?.isNeeded == false else {
                continue
            }
            hosted.isOpen = false
            append(.end, to: hosted)
        }
        unneeded.removeAll()
        if batch.isEmpty { return }
        log.append(batch, now: now)
        batch.removeAll(keepingCapacity: true)
    }

    /// Does nothing: the sessions continue in the next process.
    public func endSessions() {}

    // MARK: - Presence

    /// Reports the untold events of restored sessions once more. Call it when the observer is ready.
    public func reportUntold() {
        for hosted in sessions.values.sorted(by: { $0.id < $1.id }) {
            for event in hosted.state?.keptPresence() ?? [] {
                observer?.engine(hosted.id, caused: .keptPresence(event))
            }
        }
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
        for hosted in sessions.values.sorted(by: { $0.id < $1.id }) where hosted.isOpen {
            append(.changeLimits(bounds), to: hosted)
        }
    }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions[session]?.state?.connections ?? [] }

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]) -> Void) {
        answer(connections(of: session))
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
                append(.nodeLost(at: kept.lostAt), to: hosted)
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

extension LoggedSession {
    /// Continues a kept session. The effects of its commands were caused when they were new.
    fileprivate convenience init(_ kept: KeptCommands.Session) throws(CodingFault) {
        let replay = try SessionReplay(kept)
        self.init(id: kept.id, state: replay.state, position: replay.position)
        for entry in kept.entries { snapshots.note(commandByteCount: entry.bytes.count) }
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
