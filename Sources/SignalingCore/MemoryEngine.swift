import DequeModule
import SignalingProtocol

/// The engine of a single process: all sessions in memory, each command carried out and answered at once.
///
/// A session exists while somebody is in it. When the last one has left and ``releaseEmptySessions()`` is called its
/// order is lost, and the next one to join finds a new epoch.
public final class MemoryEngine: SessionEngine {
    public weak var observer: (any SessionEngineObserver)?

    private let bounds: SessionState.Bounds
    private var sessions: [SessionID: SessionState] = [:]
    private let makeEpoch: () -> Epoch
    /// Sessions that had become empty when they were last looked at.
    private var emptied: Set<SessionID> = []

    /// - Parameter makeEpoch: a fresh random epoch at each call.
    public init(bounds: SessionState.Bounds = .init(), makeEpoch: @escaping () -> Epoch) {
        self.bounds = bounds
        self.makeEpoch = makeEpoch
    }

    public var sessionCount: Int { sessions.count }

    private typealias Submission = (command: SessionCommand, session: SessionID, ticket: CommandTicket)
    /// Commands that were given while the observer was being told of another one. They wait until it has heard all of
    /// that, so that what it hears of two commands never mixes.
    private var waiting: Deque<Submission> = []
    private var isReporting = false

    public func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket) {
        if isReporting {
            waiting.append((command, session, ticket))
            return
        }
        isReporting = true
        carryOut(command, in: session, ticket)
        while let next = waiting.popFirst() { carryOut(next.command, in: next.session, next.ticket) }
        isReporting = false
    }

    private func carryOut(_ command: SessionCommand, in session: SessionID, _ ticket: CommandTicket) {
        var effects: [SessionEffect] = []
        let before = sessions[session]?.log.lastSeq
        let outcome = handle(command, in: session, effects: &effects)
        let changed = sessions[session].map { $0.log.lastSeq != before } ?? false
        observer?.engine(answered: ticket, outcome)
        for effect in effects { observer?.engine(session, caused: effect) }
        if changed { observer?.engine(sessionChanged: session) }
    }

    private func handle(
        _ command: SessionCommand, in session: SessionID, effects: inout [SessionEffect]
    ) -> SessionOutcome {
        if let outcome = sessions[session]?.handle(command, effects: &effects) {
            if sessions[session]?.isEmpty == true { emptied.insert(session) }
            return outcome
        }
        // A session that is not there answers as an empty one, with the checks in the same order, and comes to be only
        // when somebody is in it.
        var state = SessionState(id: session, epoch: newEpoch(for: command), bounds: bounds)
        let outcome = state.handle(command, effects: &effects)
        if !state.isEmpty { sessions[session] = state }
        return outcome
    }

    private func newEpoch(for command: SessionCommand) -> Epoch {
        switch command {
        case .join: makeEpoch()
        case .leave, .signal, .forceDisconnect: Epoch("")
        }
    }

    public func releaseEmptySessions() {
        if emptied.isEmpty { return }
        for session in emptied where sessions[session]?.isEmpty == true { sessions[session] = nil }
        emptied.removeAll()
    }

    public func connections(of session: SessionID) -> [Connection] { sessions[session]?.connections ?? [] }

    public func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        sessions[session].map { body($0.log) }
    }
}
