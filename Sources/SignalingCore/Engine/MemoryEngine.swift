import DequeModule
import HeapModule
import SignalingProtocol

/// The engine of a single process: all sessions in memory, each command carried out and answered at once.
///
/// A session exists while somebody is in it, or may come back to it. After that ``advance(to:)`` lets it go, its order is
/// lost, and the next one to join finds a new epoch.
public final class MemoryEngine: SessionEngine {
    public weak var observer: (any SessionEngineObserver)?

    private let bounds: SessionState.Bounds
    private var sessions: [SessionID: Hosted] = [:]
    private let makeEpoch: () -> Epoch
    /// Sessions that nobody needed when they were last looked at.
    private var unneeded: Set<SessionID> = []
    /// When to look at which session; for each session the earliest one counts.
    private var deadlines = Heap<Deadline>()
    private var scheduled: [SessionID: MonotonicInstant] = [:]

    /// - Parameter makeEpoch: a fresh random epoch at each call.
    public init(bounds: SessionState.Bounds = .init(), makeEpoch: @escaping () -> Epoch) {
        self.bounds = bounds
        self.makeEpoch = makeEpoch
    }

    public var sessionCount: Int { sessions.count }

    /// One session in its place: a command looks for it once, and nothing of it is copied.
    private final class Hosted {
        var state: SessionState
        init(_ state: SessionState) { self.state = state }
    }

    private struct Submission {
        let command: SessionCommand
        let session: SessionID
        let ticket: CommandTicket
        let now: MonotonicInstant
    }

    private struct Deadline: Comparable {
        let moment: MonotonicInstant
        let session: SessionID

        static func < (left: Deadline, right: Deadline) -> Bool { left.moment < right.moment }
    }

    /// Commands that were given while the observer was being told of another one. They wait until it has heard all of
    /// that, so that what it hears of two commands never mixes.
    private var waiting: Deque<Submission> = []
    private var isReporting = false

    public func submit(
        _ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant
    ) {
        let submission = Submission(command: command, session: session, ticket: ticket, now: now)
        if isReporting {
            waiting.append(submission)
            return
        }
        report { carryOut(submission) }
    }

    private func report(_ body: () -> Void) {
        isReporting = true
        body()
        while let next = waiting.popFirst() { carryOut(next) }
        isReporting = false
    }

    private func carryOut(_ submission: Submission) {
        let session = submission.session
        var effects: [SessionEffect] = []
        let hosted = sessions[session]
        let before = hosted?.state.log.lastSeq
        let outcome: SessionOutcome
        if let hosted {
            outcome = hosted.state.handle(submission.command, now: submission.now, effects: &effects)
            if !hosted.state.isNeeded { unneeded.insert(session) }
        } else {
            outcome = begin(submission, effects: &effects)
        }
        if submission.command.movesDeadlines { schedule(session) }
        observer?.engine(answered: submission.ticket, outcome)
        for effect in effects { observer?.engine(session, caused: effect) }
        if let after = (hosted ?? sessions[session])?.state.log.lastSeq, after != before {
            observer?.engine(sessionChanged: session)
        }
    }

    /// A session that is not there answers as an empty one, with the checks in the same order, and comes to be only when
    /// somebody is in it.
    private func begin(_ submission: Submission, effects: inout [SessionEffect]) -> SessionOutcome {
        let session = submission.session
        var state = SessionState(id: session, epoch: newEpoch(for: submission.command), bounds: bounds)
        let outcome = state.handle(submission.command, now: submission.now, effects: &effects)
        if state.isNeeded { sessions[session] = Hosted(state) }
        return outcome
    }

    private func newEpoch(for command: SessionCommand) -> Epoch {
        switch command {
        case .join: makeEpoch()
        case .leave, .detach, .heard, .signal, .forceDisconnect: Epoch("")
        }
    }

    // MARK: - Time

    private func schedule(_ session: SessionID) {
        guard let deadline = sessions[session]?.state.nextDeadline else { return }
        if let earlier = scheduled[session], earlier <= deadline { return }
        scheduled[session] = deadline
        deadlines.insert(Deadline(moment: deadline, session: session))
    }

    public var nextDeadline: MonotonicInstant? { deadlines.min?.moment }

    public func advance(to now: MonotonicInstant) {
        while let due = deadlines.min, due.moment <= now {
            deadlines.removeMin()
            // One that was put off by an earlier one of the same session.
            guard scheduled[due.session] == due.moment else { continue }
            scheduled[due.session] = nil
            report { advance(due.session, to: now) }
            schedule(due.session)
        }
        for session in unneeded where sessions[session]?.state.isNeeded == false {
            sessions[session] = nil
            scheduled[session] = nil
        }
        unneeded.removeAll()
    }

    private func advance(_ session: SessionID, to now: MonotonicInstant) {
        guard let hosted = sessions[session] else { return }
        var effects: [SessionEffect] = []
        let before = hosted.state.log.lastSeq
        hosted.state.advance(to: now, effects: &effects)
        if !hosted.state.isNeeded { unneeded.insert(session) }
        for effect in effects { observer?.engine(session, caused: effect) }
        if hosted.state.log.lastSeq != before { observer?.engine(sessionChanged: session) }
    }

    public func endSessions() {
        let ended = sessions
        sessions = [:]
        unneeded = []
        deadlines = Heap()
        scheduled = [:]
        for (session, hosted) in ended where !hosted.state.isEmpty {
            for connection in hosted.state.connections {
                observer?.engine(session, caused: .presence(.connectionDestroyed(connection, .networkDisconnected)))
            }
            observer?.engine(session, caused: .presence(.sessionDestroyed))
        }
    }

    // MARK: - Beyond the process

    /// What has to be kept of the sessions for a process that goes on with them, in the order of their ids.
    ///
    /// Nothing may be submitted after that: whatever was acknowledged then would be lost in silence.
    public func snapshots(at now: MonotonicInstant) -> [SessionSnapshot] {
        sessions.values.map(\.state).filter(\.isNeeded).map { $0.snapshot(at: now) }.sorted { $0.id < $1.id }
    }

    /// Goes on with sessions that were kept. To be called before anything is submitted.
    ///
    /// Everybody has time to come back from the loss of their socket on, and the time between the processes counts. What is
    /// over meanwhile happens, and is reported, in the next `advance`.
    public func restore(_ snapshots: [SessionSnapshot]) {
        for snapshot in snapshots {
            sessions[snapshot.id] = Hosted(SessionState(snapshot, bounds: bounds))
            unneeded.insert(snapshot.id)
            schedule(snapshot.id)
        }
    }

    // MARK: - Looking

    public func connections(of session: SessionID) -> [Connection] { sessions[session]?.state.connections ?? [] }

    public func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        // The log as it is now: what the body does may lead to a command that changes it.
        guard let log = sessions[session]?.state.log else { return nil }
        return body(log)
    }
}

extension SessionCommand {
    /// Whether it can bring a session's next deadline nearer.
    fileprivate var movesDeadlines: Bool {
        switch self {
        case .join, .detach: true
        case .leave, .heard, .signal, .forceDisconnect: false
        }
    }
}
