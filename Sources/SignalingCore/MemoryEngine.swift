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

    public func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket) {
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
        switch command {
        case .join:
            let outcome = sessions[session, default: SessionState(id: session, epoch: makeEpoch(), bounds: bounds)]
                .handle(command, effects: &effects)
            noteIfEmpty(session)
            return outcome
        case .leave:
            guard sessions[session] != nil else { return .left }
        case .signal:
            guard sessions[session] != nil else {
                return .refused(SignalingError(.notFound, "nobody is connected to the session"))
            }
        case .forceDisconnect:
            guard sessions[session] != nil else {
                return .refused(SignalingError(.badTarget, "the connection is not in the session"))
            }
        }
        let outcome = sessions[session]?.handle(command, effects: &effects) ?? .refused(.notInSession)
        noteIfEmpty(session)
        return outcome
    }

    private func noteIfEmpty(_ session: SessionID) {
        if sessions[session]?.isEmpty == true { emptied.insert(session) }
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
