import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

/// An engine over a log that answers later. It turns the loop of the log until every command has its answer.
package final class SettlingEngine: SessionEngine, SessionEngineObserver {
    package weak var observer: (any SessionEngineObserver)?
    private let engine: any SessionEngine
    private let run: (() -> Bool) throws -> Void
    private let end: () -> Void
    /// Commands and lists without an answer.
    private var waitingCount = 0

    /// - Parameters:
    ///   - run: runs the loop of the log until the condition holds.
    ///   - end: closes the log.
    package init(
        _ engine: any SessionEngine, run: @escaping (() -> Bool) throws -> Void, end: @escaping () -> Void
    ) {
        self.engine = engine
        self.run = run
        self.end = end
        engine.observer = self
    }

    deinit { end() }

    package func settle() throws {
        try run {
            engine.advance(to: .seconds(0))
            return waitingCount == 0
        }
    }

    package func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant)
    {
        waitingCount += 1
        engine.submit(command, to: session, ticket: ticket, now: now)
    }

    package func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        waitingCount += 1
        engine.listConnections(of: session) {
            self.waitingCount -= 1
            answer($0)
        }
        do { try settle() } catch { Issue.record(error) }
    }

    package func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        engine.listStreams(of: session, answer: answer)
    }

    package func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        waitingCount += 1
        engine.readModeration(of: session, now: now) {
            self.waitingCount -= 1
            answer($0)
        }
        do { try settle() } catch { Issue.record(error) }
    }

    package var isSaturated: Bool { engine.isSaturated }
    package func hosted(_ session: SessionID) -> HostedSession? { engine.hosted(session) }
    package var nextDeadline: MonotonicInstant? { engine.nextDeadline }
    package func advance(to now: MonotonicInstant) { engine.advance(to: now) }
    package func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { engine.noteTold(event, of: session) }
    package func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        engine.changeLimits(to: new, history, now: now)
    }
    package func keepsHistory(_ session: SessionID) -> Bool { engine.keepsHistory(session) }
    package func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        engine.readHistory(request, of: session, unless: isAnswered, answer: answer)
    }
    package func sweepHistory(now: WallTime) { engine.sweepHistory(now: now) }
    package func endSessions() { engine.endSessions() }

    package func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        waitingCount -= 1
        observer?.engine(answered: ticket, outcome)
    }
    package func engine(sessionChanged session: SessionID) { observer?.engine(sessionChanged: session) }
    package func engine(_ session: SessionID, caused effect: SessionEffect) {
        observer?.engine(session, caused: effect)
    }
    package func engine(lost session: SessionID) { observer?.engine(lost: session) }
}

/// `epoch 1`, `epoch 2`, ….
package func makeEpochs() -> () -> Epoch {
    var epochs = 0
    return {
        epochs += 1
        return Epoch("epoch \(epochs)")
    }
}
