import SignalingProtocol

/// The engine of a single process. It keeps all sessions in memory, and carries out and answers each command at once.
///
/// A session exists while it has a connection, or a client may come back to it. After that ``advance(to:)`` deletes it:
/// its order is lost, and the next client to join begins a new epoch.
public final class MemoryEngine: SessionEngine {
    @exclusivity(unchecked) public weak var observer: (any SessionEngineObserver)?
    public var isSaturated: Bool { false }

    private var bounds: SessionState.Bounds
    @exclusivity(unchecked) private var sessions: SessionTable<Hosted>
    private let detached = DetachedTally()
    private let makeEpoch: () -> Epoch
    private let reports = ReportingQueue()
    private var policy: HistoryPolicy
    private let archive: MemoryArchive
    /// The sleeping sessions (HIS-3), each in the smallest form.
    private var sleepers: [SessionID: Sleeper] = [:]
    /// Has the same sessions, for lists.
    private var sleeperIDs = SortedSessionIDs()
    /// The time of the last ``advance(to:)``.
    private var lastTime = MonotonicInstant(nanoseconds: .min)
    /// Reads the date at a moment of the caller's clock.
    private let date: (MonotonicInstant) -> WallTime

    private struct Sleeper {
        let state: [UInt8]
        var reason: SleepReason
    }

    private final class Hosted: HostedSession {
        @exclusivity(unchecked) var state: SessionState { didSet { detached.note(state.detachedCount) } }
        private var detached: DetachedShare

        init(_ state: SessionState, _ tally: DetachedTally) {
            self.state = state
            detached = DetachedShare(of: tally)
            super.init()
        }

        override var log: SessionLog? { isHosted ? state.log : nil }
        override var end: SessionLog.End? { isHosted ? state.log.end : nil }
        override func byteCount(of seq: Seq) -> Int { state.log.byteCount(of: seq) }
        override func ownReactions(of connection: ConnectionID, to refs: [Seq]) -> [OwnReactions] {
            state.ownReactions(of: connection, to: refs)
        }
    }

    /// - Parameters:
    ///   - bounds: the limits of each session.
    ///   - history: what is kept. The archive is in memory, too.
    ///   - date: reads the date at a moment of the caller's clock.
    ///   - projectOf: reads the project of a session.
    ///   - makeEpoch: returns a new random epoch at each call.
    public init(
        bounds: SessionState.Bounds = .init(), history: HistoryPolicy = .none,
        archive: MemoryArchive = MemoryArchive(),
        date: @escaping (MonotonicInstant) -> WallTime = { WallTime(milliseconds: $0.nanoseconds / 1_000_000) },
        projectOf: @escaping ProjectOfSession = { _ in nil }, makeEpoch: @escaping () -> Epoch
    ) {
        self.bounds = bounds
        policy = history
        self.archive = archive
        self.date = date
        sessions = SessionTable(projectOf: projectOf)
        self.makeEpoch = makeEpoch
    }

    public var sessionCount: Int { sessions.count }
    public var sleeperCount: Int { sleepers.count }

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        let submission = Submission(command: command, session: session, ticket: ticket, now: now)
        reports.submit(submission, carryOut)
    }

    private func carryOut(_ submission: Submission) {
        let session = submission.session
        var effects: [SessionEffect] = []
        let hosted = sessions[session]
        let before = hosted?.state.log.mark
        let outcome: SessionOutcome
        if let hosted {
            outcome = hosted.state.handle(submission.command, now: submission.now, effects: &effects)
            // Without a log, a marker waits for nothing.
            if hosted.state.markersDueAt != nil { hosted.state.mark(hosted.state.takeMarkers(), effects: &effects) }
            if !hosted.state.unarchived.isEmpty { tellArchive(of: session, hosted) }
            if !hosted.state.isNeeded { sessions.noteUnneeded(session) }
        } else {
            outcome = begin(submission, effects: &effects)
        }
        if submission.command.movesDeadlines || hosted?.state.absentees.waitingSince != nil { schedule(session) }
        if let changed = hosted ?? sessions[session] { sessions.noteTouched(changed) }
        // Read once: it is a weak reference.
        let observer = observer
        observer?.engine(answered: submission.ticket, outcome)
        for effect in effects { observer?.engine(session, caused: effect) }
        if let after = (hosted ?? sessions[session])?.state.log.mark, after != before {
            observer?.engine(sessionChanged: session)
        }
    }

    /// Submits a command to a new, empty session, so that an unknown session is checked like any other. Keeps the
    /// session only if it is needed afterwards: after a successful join.
    private func begin(_ submission: Submission, effects: inout [SessionEffect]) -> SessionOutcome {
        let session = submission.session
        var state =
            wake(session)
            ?? SessionState(
                id: session, epoch: newEpoch(for: submission.command),
                // Only a join begins a history: a signal by REST to a session that never was finds nobody.
                bounds: submission.isJoin ? bounds(of: session) : bounds)
        let outcome = state.handle(submission.command, now: submission.now, effects: &effects)
        let hosted = Hosted(state, detached)
        if !state.unarchived.isEmpty { tellArchive(of: session, hosted) }
        if hosted.state.isNeeded || hosted.state.mustSleep(at: submission.now) {
            sessions.add(hosted, as: session)
            if !hosted.state.isNeeded { sessions.noteUnneeded(session) }
        }
        return outcome
    }

    private func bounds(of session: SessionID) -> SessionState.Bounds {
        var bounds = bounds
        let project = sessions.project(of: session)
        bounds.history = policy.types(of: project)
        bounds.changes = policy.changes(of: project)
        bounds.readMarkers = policy.readMarkers(of: project)
        bounds.announces = policy.hasFeed(project)
        bounds.unreadDelay = bounds.announces ? policy.unreadDelay : .zero
        return bounds
    }

    // MARK: - History

    /// The archive is in memory and answers at once, so nothing waits for it.
    private func tellArchive(of session: SessionID, _ hosted: Hosted) {
        let announces = hosted.state.bounds.announces
        while let batch = hosted.state.unarchived.nextBatch(atMost: .max, announces: announces, date) {
            archive.carryOut(batch.steps, of: session) { _ in }
            hosted.state.archived(through: batch.last)
        }
    }

    private func wake(_ session: SessionID) -> SessionState? {
        guard let sleeper = sleepers.removeValue(forKey: session),
            var state = try? SessionState(decoding: sleeper.state)
        else { return nil }
        sleeperIDs.remove(session)
        state.bounds = bounds(of: session)
        state.isAsleep = false
        return state
    }

    public func keepsHistory(_ session: SessionID) -> Bool { policy.types(of: sessions.project(of: session)) != nil }

    public func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        let state = sessions[session]?.state
        if isAnswered(state?.historyMark) { return }
        guard case .changedAfter(let seq) = request.position else {
            return archive.page(request, of: session, answer: answer)
        }
        ChangeList(state?.changeables, after: seq, atMost: request.limit)
            .read({ [archive] in archive.page($0, of: session, answer: $1) }, answer: answer)
    }

    public func sweepHistory(now: WallTime) {
        archive.sweep(now: now) { [self] result in
            for session in (try? result.get()) ?? [] { sleepers[session]?.reason.hasHistory = false }
        }
        for (session, sleeper) in sleepers where sleeper.reason.isOver(at: lastTime) {
            sleepers[session] = nil
            sleeperIDs.remove(session)
        }
    }

    private func newEpoch(for command: SessionCommand) -> Epoch {
        switch command {
        case .join: makeEpoch()
        case .leave, .detach, .heard, .signal, .forceDisconnect, .refreshToken, .change, .react, .reactors, .read,
            .erase, .moderate, .streams, .restrictions:
            Epoch("")
        }
    }

    // MARK: - Time

    private func schedule(_ session: SessionID) {
        sessions.schedule(session, at: sessions[session]?.state.nextDeadline)
    }

    public var nextDeadline: MonotonicInstant? { sessions.nextDeadline }

    public func advance(to now: MonotonicInstant) {
        lastTime = now
        while let session = sessions.popDue(by: now) {
            reports.report({ advance(session, to: now) }, then: carryOut)
            schedule(session)
        }
        for session in sessions.takeUnneeded() {
            guard let hosted = sessions[session], !hosted.state.isNeeded else { continue }
            if hosted.state.mustSleep(at: now) {
                hosted.state.sleep()
                let (state, end) = (hosted.state, hosted.state.restrictions.end)
                sleepers[session] = Sleeper(
                    state: state.encoded(), reason: SleepReason(hasHistory: state.hasHistory, restrictionsEnd: end))
                sleeperIDs.insert(session)
            }
            sessions.remove(session)
        }
        checkInvariants()
    }

    /// Checks the sessions that have changed in this turn.
    private func checkInvariants() {
        #if DEBUG
            for hosted in sessions.takeTouched() where hosted.isHosted {
                guard
                    hosted.checks.isDue(
                        itemCount: hosted.state.itemCount, countPerTurn: HostedSession.checkedItemCount)
                else { continue }
                if let fault = hosted.state.violation ?? deadlineViolation(of: hosted.state) {
                    Invariants.report("\(fault) (session \(hosted.state.id))")
                }
            }
        #endif
    }

    private func deadlineViolation(of state: SessionState) -> String? {
        guard state.isNeeded, let deadline = state.nextDeadline,
            sessions.scheduledTime(of: state.id).map({ $0 > deadline }) ?? true
        else { return nil }
        return "RES-12: something will be due, and no check is scheduled by then"
    }

    private func advance(_ session: SessionID, to now: MonotonicInstant) {
        guard let hosted = sessions[session] else { return }
        sessions.noteTouched(hosted)
        var effects: [SessionEffect] = []
        let before = hosted.state.log.mark
        hosted.state.advance(to: now, effects: &effects)
        if !hosted.state.unarchived.isEmpty { tellArchive(of: session, hosted) }
        if !hosted.state.isNeeded { sessions.noteUnneeded(session) }
        for effect in effects { observer?.engine(session, caused: effect) }
        if hosted.state.log.mark != before { observer?.engine(sessionChanged: session) }
    }

    public func endSessions() {
        let ended = sessions.ordered
        sessions.removeAll()
        for (session, hosted) in ended where !hosted.state.isEmpty {
            for connection in hosted.state.connections {
                observer?.engine(session, caused: .presence(.connectionDestroyed(connection, .networkDisconnected)))
            }
            observer?.engine(session, caused: .presence(.sessionDestroyed))
        }
    }

    /// Does nothing: no event outlives the process.
    public func noteTold(_ event: KeptPresenceEvent, of session: SessionID) {}

    public func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        bounds.changeRunning(to: new)
        policy = history
        for (id, hosted) in sessions.ordered { hosted.state.changeLimits(to: bounds(of: id), now: now) }
    }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions[session]?.state.connections ?? [] }

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        answer(connections(of: session))
    }

    public func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        answer(sessions[session]?.state.streamAnnouncements ?? [])
    }

    public func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        let asleep = sleepers[session].flatMap { try? SessionState(decoding: $0.state) }
        answer(ModerationReading(sessions[session]?.state ?? asleep, at: now))
    }

    public var detachedCount: Int { detached.count }

    public func sessionIDs(of project: APIKey?) -> [SessionID] { sessions.ids(of: project) }

    public func state(of session: SessionID) -> SessionState? { sessions[session]?.state }

    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        var read = SleepingSessions(atMost: count)
        read.time = lastTime
        sleeperIDs.read(in: range) { session in sleepers[session].map { read.add(session, $0.state) } ?? true }
        answer(.success(read))
    }

    public func hosted(_ session: SessionID) -> HostedSession? { sessions[session] }
}
