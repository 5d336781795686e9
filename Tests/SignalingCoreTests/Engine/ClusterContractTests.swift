import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// Two nodes as one engine: each connection's commands go to a node of their own, and those of the server to either.
///
/// Commands on different nodes have no order between them, so everything comes to rest before a command goes to the
/// other node. The reports come from the node of the last command, and presence from the keeper.
private final class WholeCluster: SessionEngine {
    weak var observer: (any SessionEngineObserver)?
    private let cluster = Cluster(nodeCount: 2)
    private var reporters: [Reporter] = []
    fileprivate var active = 0
    private var serverCount = 0

    init() {
        for (index, node) in cluster.nodes.enumerated() {
            let reporter = Reporter(self, index)
            reporters.append(reporter)
            node.engine.observer = reporter
        }
    }

    private var engine: ClusterEngine { cluster.nodes[active].engine }

    func settle() {
        cluster.settle()
        for session in cluster.store.keptSessions {
            if let fault = cluster.disagreement(about: session) { Issue.record("\(fault)") }
        }
    }

    private func place(of command: SessionCommand) -> Int {
        let connection: ConnectionID?
        switch command {
        case .join(let request): connection = request.connectionId
        case .leave(let binding, _), .detach(let binding), .heard(let binding), .refreshToken(let binding, _),
            .restrictions(let binding), .reactors(let binding, _), .read(let binding, _):
            connection = binding.connectionId
        case .signal(let sender, _), .forceDisconnect(let sender, _), .change(let sender, _),
            .react(let sender, _), .erase(let sender, _), .moderate(let sender, _, _), .streams(let sender, _):
            if case .connection(let binding, _) = sender { connection = binding.connectionId } else { connection = nil }
        }
        guard let connection else {
            serverCount += 1
            return serverCount % 2
        }
        return connection.rawValue.utf8.reduce(0) { $0 + Int($1) } % 2
    }

    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant) {
        let place = place(of: command)
        if place != active {
            settle()
            active = place
        }
        engine.submit(command, to: session, ticket: ticket, now: now)
    }

    func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        engine.listConnections(of: session, answer: answer)
        settle()
    }

    func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        engine.listStreams(of: session, answer: answer)
        settle()
    }

    func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        engine.readModeration(of: session, now: now, answer: answer)
        settle()
    }

    var isSaturated: Bool { engine.isSaturated }
    func hosted(_ session: SessionID) -> HostedSession? { engine.hosted(session) }
    var nextDeadline: MonotonicInstant? { engine.nextDeadline }
    func advance(to now: MonotonicInstant) { for node in cluster.nodes { node.engine.advance(to: now) } }
    func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { engine.noteTold(event, of: session) }
    func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        for node in cluster.nodes { node.engine.changeLimits(to: new, history, now: now) }
    }
    func keepsHistory(_ session: SessionID) -> Bool { engine.keepsHistory(session) }
    func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        engine.readHistory(request, of: session, unless: isAnswered, answer: answer)
    }
    func sweepHistory(now: WallTime) { engine.sweepHistory(now: now) }
    func endSessions() { for node in cluster.nodes { node.engine.endSessions() } }
}

private final class Reporter: SessionEngineObserver {
    private unowned let cluster: WholeCluster
    private let index: Int

    init(_ cluster: WholeCluster, _ index: Int) {
        self.cluster = cluster
        self.index = index
    }

    private var isActive: Bool { cluster.active == index }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        #expect(isActive)
        cluster.observer?.engine(answered: ticket, outcome)
    }

    func engine(sessionChanged session: SessionID) {
        if isActive { cluster.observer?.engine(sessionChanged: session) }
    }

    func engine(lost session: SessionID) { Issue.record("no session is lost") }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        if case .presence = effect { return cluster.observer?.engine(session, caused: effect) ?? () }
        if isActive { cluster.observer?.engine(session, caused: effect) }
    }
}

@Suite("Several nodes as one engine")
struct ClusterContractTests {
    @Test(
        "G1, G2, G7: two nodes over one log fulfil the contract of every engine",
        arguments: SessionEngineContract.Promise.allCases.filter { $0 != .reportsPresenceWhenItsSessionsEnd })
    func contract(_ promise: SessionEngineContract.Promise) async throws {
        let contract = SessionEngineContract {
            let engine = WholeCluster()
            return SessionEngineContract.Subject(engine: engine, settle: { engine.settle() })
        }
        try await contract.check(promise)
    }
}
