import SignalingProtocol

/// The engine over the ``CommandLog`` of one process: its sessions outlive the process.
///
/// A command changes its session when the log has confirmed it (LOG-1). The engine collects the commands of a turn and
/// appends them in ``advance(to:)``.
public final class LocalEngine: SessionEngine {
    typealias Hosted = LoggedSession<Void>

    private let sessions: LoggedSessions<Void>
    private let log: any LocalCommandLog
    /// The sessions that are being opened, with what waits for them, in order.
    @exclusivity(unchecked) private var opening: [SessionID: [Waiter]] = [:]
    private enum Waiter {
        case command(Submission)
        /// Reads the session's state, `nil` if there is no session; or learns that it cannot be opened.
        case reader((Result<SessionState?, ArchiveFault>) -> Void)

        var isJoin: Bool {
            switch self {
            case .command(let submission): submission.isJoin
            case .reader: false
            }
        }
    }

    /// Called for a session whose order has lost its end: the folder has an older copy of it. It begins a new epoch.
    public var onRenewal: ((SessionID) -> Void)?
    /// Called for a sleeping session that this version cannot read. It begins anew.
    public var onUnreadable: ((SessionID, CodingFault) -> Void)?

    /// - Parameters:
    ///   - log: of this process only. The engine becomes its observer.
    ///   - run: a random name for this life of the process.
    ///   - bounds: the limits of each session.
    ///   - history: what is kept, and where.
    ///   - projectOf: reads the project of a session.
    ///   - makeEpoch: returns a new random epoch at each call.
    ///   - now: the present moment of the process.
    public init(
        log: any LocalCommandLog, run: RunID, bounds: SessionState.Bounds, history: EngineHistory = .none,
        now: MonotonicInstant, projectOf: @escaping ProjectOfSession = { _ in nil },
        makeEpoch: @escaping () -> Epoch
    ) {
        self.log = log
        sessions = LoggedSessions(
            log: log, run: run, bounds: bounds, history: history, now: now, projectOf: projectOf,
            makeEpoch: makeEpoch)
        log.observer = self
    }

    /// Measures the log.
    public var stopwatch: LogStopwatch? {
        get { sessions.stopwatch }
        set { sessions.stopwatch = newValue }
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
        for session in kept.discarded { salvage(session) }
        return kept.sessions.filter { !restore($0, lostAt: kept.lostAt) }.map(\.id)
    }

    /// Tells the archive what a session still carries for it. The session begins anew, above its history (HIS-3).
    private func salvage(_ session: KeptCommands.Session) {
        if let unarchived = try? SessionReplay(session).state?.unarchived {
            // At once: a server that stops soon writes what the archive was told.
            sessions.salvage(unarchived, of: session.id, atMost: .max)
        }
    }

    /// - Returns: whether the session can be read.
    private func restore(_ kept: KeptCommands.Session, lostAt: MonotonicInstant) -> Bool {
        let hosted = sessions.host(kept.id, node: ())
        do throws(CodingFault) { try hosted.restore(kept, at: sessions.lastTime) } catch {
            sessions.table.remove(kept.id)
            sessions.removeFromLog(kept.id, through: kept.entries.last?.position ?? kept.snapshot?.position)
            return false
        }
        guard hosted.state != nil else {
            end(hosted)
            return true
        }
        sessions.append(.nodeLost(nil, at: lostAt), to: hosted)
        sessions.append(.changeLimits(sessions.bounds(of: hosted.id)), to: hosted)
        return true
    }

    // MARK: - Commands

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        submit(Submission(command: command, session: session, ticket: ticket, now: now))
    }

    private func submit(_ submission: Submission) {
        if mustOpen(for: submission) {
            open(submission.session, .command(submission))
        } else {
            enqueue(submission)
        }
    }

    private func enqueue(_ submission: Submission) {
        if case .join(let request) = submission.command, let hosted = sessions[submission.session] {
            let time = sessions.logTime(submission.now)
            if hosted.isDisproved(by: request, at: time) {
                sessions.renew(hosted, at: time)
                onRenewal?(submission.session)
            }
        }
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
        if command.movesDeadlines || hosted.tellsUnread {
            sessions.table.schedule(hosted.id, at: hosted.state?.nextDeadline)
        }
        hosted.noteCarriedOut(command)
        while let (command, ticket) = hosted.popUnlogged() {
            sessions.carryOutUnlogged(command, hosted.id, ticket, at: entry.time)
        }
        guard hosted.hasState else {
            if hosted.steps.isEmpty { end(hosted) }
            return
        }
        if hosted.steps.isEmpty {
            if hosted.isAsleep { return sleep(hosted) }
            // A signal or an erasure may have come behind the end, and has woken the session.
            hosted.isOpen = true
        }
        if hosted.hasUnarchived { sessions.tellArchiveIfDue(of: hosted, at: entry.time) }
        if !hosted.isNeeded { sessions.table.noteUnneeded(hosted.id) }
        sessions.keepSnapshotIfDue(of: hosted)
    }

    private func sleep(_ hosted: Hosted) {
        sessions.stopwatch?.forget(hosted.id)
        if let snapshot = hosted.snapshot { log.sleep(snapshot, for: hosted.sleepReason) }
        sessions.table.remove(hosted.id)
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
        sessions.appendMarkers(at: time)
        sessions.tellArchive(at: time)
        sessions.keepDueSnapshots(at: time)
        sessions.appendEnds()
        sessions.flush(now: now)
        sessions.checkInvariants()
    }

    /// The sessions continue in the next process. Nothing that was erased may stay in the files until then (HIS-9).
    public func endSessions() {
        sessions.appendAllMarkers()
        sessions.keepLastSnapshots()
    }

    // MARK: - Presence and limits

    /// Reports the untold events of restored sessions once more. Call it when the observer is ready.
    public func reportUntold() {
        for (_, hosted) in sessions.table.ordered { sessions.reportUntold(of: hosted) }
    }

    public func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { sessions.noteTold(event, of: session) }

    public func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        sessions.changeLimits(to: new, history)
    }

    // MARK: - History

    public func keepsHistory(_ session: SessionID) -> Bool { sessions.keepsHistory(session) }

    public func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        if !isAnswered(sessions.historyMark(of: session)) { sessions.readHistory(request, of: session, answer: answer) }
    }

    public func sweepHistory(now: WallTime) {
        guard let archive = sessions.history.archive else {
            return log.forgetSleepers([], at: sessions.lastTime)
        }
        archive.sweep(now: now) { [self] result in
            log.forgetSleepers((try? result.get()) ?? [], at: sessions.lastTime)
        }
    }

    // MARK: - Opening

    /// Whether a session that is not there may sleep, or may have a history from an order that was lost (HIS-3).
    private func mustOpen(for submission: Submission) -> Bool {
        if opening[submission.session] != nil { return true }
        if sessions[submission.session] != nil { return false }
        if submission.isJoin, sessions.mayHaveHistory(submission.session) { return true }
        return log.sleeperCount > 0 && submission.command.wakesSession
    }

    private func open(_ session: SessionID, _ waiter: Waiter) {
        opening[session, default: []].append(waiter)
        guard opening[session]?.count == 1 else { return }
        guard log.sleeperCount > 0 else { return findEnd(of: session) }
        log.wake(session) { [self] kept in
            if let kept { wake(kept) } else { findEnd(of: session) }
        }
    }

    private func wake(_ kept: KeptCommands.Session) {
        let hosted = sessions.host(kept.id, node: ())
        let last = kept.snapshot?.position.id
        let counter = last.map { $0.run == sessions.run ? $0.counter : 0 } ?? 0
        do throws(CodingFault) {
            try hosted.restore(
                KeptCommands.Session(id: kept.id, snapshot: kept.snapshot, entries: kept.entries, ownCounter: counter),
                at: sessions.lastTime)
        } catch {
            sessions.table.remove(kept.id)
            sessions.removeFromLog(kept.id, through: kept.snapshot?.position)
            onUnreadable?(kept.id, error)
            return findEnd(of: kept.id)
        }
        sessions.wake(hosted)
        carryOutWaiting(for: kept.id)
    }

    /// A session that begins must not give out the seqs of messages that the archive has (HIS-3).
    private func findEnd(of session: SessionID) {
        guard sessions.mayHaveHistory(session), opening[session]?.contains(where: \.isJoin) == true else {
            return carryOutWaiting(for: session)
        }
        sessions.findStart(of: session) { [self] result in
            switch result {
            case .success(let start):
                if start > .zero { sessions.host(session, node: ()).beginsAfter = start }
                carryOutWaiting(for: session)
            case .failure(let fault):
                for waiter in opening.removeValue(forKey: session) ?? [] {
                    switch waiter {
                    case .command(let submission):
                        sessions.observer?.engine(answered: submission.ticket, .unavailable(mayBeCarriedOut: false))
                    case .reader(let answer): answer(.failure(fault))
                    }
                }
            }
        }
    }

    private func carryOutWaiting(for session: SessionID) {
        for waiter in opening.removeValue(forKey: session) ?? [] {
            switch waiter {
            case .command(let submission): enqueue(submission)
            case .reader(let answer): answer(.success(sessions[session]?.state))
            }
        }
    }

    // MARK: - Reading

    public func connections(of session: SessionID) -> [Connection] { sessions.connections(of: session) }

    public func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        answer(connections(of: session))
    }

    public func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        answer(sessions[session]?.state?.streamAnnouncements ?? [])
    }

    public func readSleepers(
        in range: Range<SessionID>, atMost count: Int,
        answer: @escaping (Result<SleepingSessions, SleepersUnread>) -> Void
    ) {
        guard log.sleeperCount > 0 else { return answer(.success(SleepingSessions(atMost: count))) }
        log.readSleepers(in: range, atMost: count) { [self] result in
            answer(result.map { $0.asOf(sessions.lastTime) })
        }
    }

    /// A session that sleeps stays asleep: an operator may look at it every other second.
    public func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        let time = sessions.logTime(now)
        if opening[session] == nil, sessions[session] != nil || log.sleeperCount == 0 {
            return answer(ModerationReading(sessions[session]?.state, at: time))
        }
        if opening[session] != nil { return openForModeration(session, at: time, answer) }
        readSleepers(in: .only(session), atMost: 1) { [self] read in
            if let state = (try? read.get())?.rows.first?.decoded() {
                answer(ModerationReading(state, at: time))
            } else {
                // It may be awake by now, or on its way to sleep.
                openForModeration(session, at: time, answer)
            }
        }
    }

    private func openForModeration(
        _ session: SessionID, at time: MonotonicInstant, _ answer: @escaping (ModerationReading) -> Void
    ) {
        if opening[session] == nil, let hosted = sessions[session] {
            return answer(ModerationReading(hosted.state, at: time))
        }
        open(
            session,
            .reader { result in
                switch result {
                case .success(let state): answer(ModerationReading(state, at: time))
                case .failure: answer(.unavailable)
                }
            })
    }

    public var detachedCount: Int { sessions.detachedCount }

    public func sessionIDs(of project: APIKey?) -> [SessionID] { sessions.table.ids(of: project) }

    public func state(of session: SessionID) -> SessionState? { sessions[session]?.state }

    public func hosted(_ session: SessionID) -> HostedSession? { sessions[session] }

    var hostedSessions: [(SessionID, Hosted)] { sessions.table.ordered.map { ($0, $1) } }
}

extension LocalEngine: CommandLogObserver {
    public func log(confirmed entries: [CommandEntry]) {
        sessions.stopwatch?.noteConfirmed(entries.count)
        for entry in entries { sessions.reports.report({ carryOut(entry) }, then: carryOutUnlogged) }
    }

    public func log(needsSnapshotsOf wanted: [SessionID]) {
        for session in wanted {
            if let hosted = sessions[session] { sessions.keepSnapshotIfDue(of: hosted, isWanted: true) }
        }
    }

    public func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        sessions.stopwatch?.noteKept(session)
        guard let hosted = sessions[session] else { return }
        hosted.snapshots.noteKept(byteCount: byteCount)
        sessions.keepSnapshotIfDue(of: hosted)
    }
}
