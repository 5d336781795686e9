import CoreTestSupport
import SignalingProtocol
import TestSupport

@testable import SignalingCore

/// Several nodes over one log, each with the sockets of its clients.
final class Cluster {
    private final class Clock { var now = MonotonicInstant.seconds(0) }

    let store: MemorySharedLog
    private(set) var nodes: [ClusterNode] = []
    private let bounds: SessionState.Bounds
    private let history: EngineHistory
    private let clock: Clock
    private var epochCount = 0
    var now: MonotonicInstant {
        get { clock.now }
        set { clock.now = newValue }
    }

    init(nodeCount: Int, bounds: SessionState.Bounds = .init(), history: EngineHistory = .none) {
        let clock = Clock()
        self.clock = clock
        store = MemorySharedLog { clock.now }
        self.bounds = bounds
        self.history = history
        for _ in 0..<nodeCount { addNode() }
    }

    @discardableResult
    func addNode() -> ClusterNode {
        let node = ClusterNode(
            cluster: self, log: store.makeNode(), bounds: bounds, history: history, name: nodes.count,
            makeEpoch: { [unowned self] in
                epochCount += 1
                return Epoch("epoch \(epochCount)")
            })
        nodes.append(node)
        return node
    }

    var livingNodes: [ClusterNode] { nodes.filter { !$0.log.isDead } }
    /// The nodes that run.
    var runningNodes: [ClusterNode] { livingNodes.filter { !$0.isFrozen } }

    /// Turns all loops until nothing is on its way.
    func settle() {
        for _ in 0..<1_000 {
            for node in runningNodes {
                node.log.receive()
                node.engine.advance(to: now)
                node.log.send()
            }
            if runningNodes.allSatisfy({ $0.log.isQuiet && $0.engine.sessions.batch.isEmpty }) { return }
        }
        preconditionFailure("the nodes do not come to rest")
    }

    /// Lets time pass, and what is due happen.
    func pass(_ duration: Duration, step: Duration = .milliseconds(500)) {
        let end = now.advanced(by: duration)
        while now < end {
            now = min(end, now.advanced(by: step))
            for node in runningNodes { node.log.check() }
            settle()
        }
    }

    /// What is wrong with the copies of a session; `nil` if every node that hosts it has the same, newest one.
    func disagreement(about session: SessionID = room) -> String? {
        let hosted = livingNodes.compactMap { node in node.engine.sessions[session].map { (node, $0) } }
        for (node, copy) in hosted {
            let number = copy.position?.number ?? 0
            if number != store.lastNumber(of: session) {
                return "node \(node.name) is at \(number), the log at \(store.lastNumber(of: session))"
            }
            if copy.state?.encoded() != hosted[0].1.state?.encoded() {
                return "the nodes \(hosted[0].0.name) and \(node.name) differ"
            }
        }
        return nil
    }
}

/// One process: an engine on its end of the log.
final class ClusterNode: SessionEngineObserver {
    unowned let cluster: Cluster
    let log: MemorySharedLog.Node
    let engine: ClusterEngine
    let name: Int
    /// Whether the process does not run at present.
    var isFrozen = false
    private(set) var outcomes: [String] = []
    private(set) var welcomes: [JoinResult] = []
    /// Presence as receivers outside of the session get it.
    private(set) var presence: [String] = []
    private(set) var kept: [KeptPresenceEvent] = []
    private(set) var onlineOnly: [String] = []
    private(set) var ended: [String] = []
    private(set) var lost: [SessionID] = []
    /// The newest event that the log showed during the report of a loss.
    private(set) var lastSeqsAtLoss: [Seq?] = []
    private(set) var changeCount = 0
    private let unreadableSessions = UnreadableSessions()
    var unreadable: [(session: SessionID, fault: CodingFault)] { unreadableSessions.all }

    private final class UnreadableSessions { var all: [(session: SessionID, fault: CodingFault)] = [] }

    init(
        cluster: Cluster, log: MemorySharedLog.Node, bounds: SessionState.Bounds, history: EngineHistory, name: Int,
        makeEpoch: @escaping () -> Epoch
    ) {
        self.cluster = cluster
        self.log = log
        self.name = name
        engine = ClusterEngine(
            log: log, run: log.run, bounds: bounds, history: history, now: cluster.now,
            onUnreadable: { [unreadableSessions] in unreadableSessions.all.append(($0, $1)) }, makeEpoch: makeEpoch)
        engine.observer = self
    }

    var run: RunID { engine.run }
    var connections: [String] { engine.connections(of: room).map(\.connectionId.rawValue) }
    var lastSeq: Int64? { engine.withLog(of: room) { $0.lastSeq.rawValue } }
    func hosts(_ session: SessionID = room) -> Bool { engine.sessions[session] != nil }
    var isKeeper: Bool { engine.sessions[room]?.state?.keeper == run }

    // MARK: - The clients

    func submit(_ command: SessionCommand, in session: SessionID = room, request: Int? = nil) {
        let ticket = CommandTicket(origin: 7, request: request.map { RequestID(Int64($0)) })
        engine.submit(command, to: session, ticket: ticket, now: cluster.now)
    }

    func join(_ name: String, socket: UInt64 = 1, _ role: Role = .publisher, request: Int = 1) {
        let join = JoinRequest(
            connectionId: client(name), role: role, data: "", wallTime: WallTime(milliseconds: 5), socket: socket)
        submit(.join(join), request: request)
    }

    /// The client comes back with the secret of its first socket.
    func resume(_ name: String, epoch: String = "epoch 1", after: Int64, request: Int = 1) {
        let claim = Resumption(
            connectionId: client(name), secretHash: hash("\(name)-1"), epoch: Epoch(epoch), after: Seq(after))
        let join = JoinRequest(
            connectionId: client("\(name)'"), role: .publisher, data: "", wallTime: WallTime(milliseconds: 5),
            socket: 2, resumption: claim)
        submit(.join(join), request: request)
    }

    func signal(_ name: String, _ request: Int, socket: UInt64 = 1, isOnlineOnly: Bool = false) {
        let sender = CommandSender.connection(SocketBinding(name, socket), RequestID(Int64(request)))
        let signal = SignalRequest(type: "t", data: "\(request)", isOnlineOnly: isOnlineOnly)
        submit(.signal(sender, signal), request: request)
    }

    func leave(_ name: String, socket: UInt64 = 1) { submit(.leave(SocketBinding(name, socket), .clientDisconnected)) }
    func detach(_ name: String, socket: UInt64 = 1) { submit(.detach(SocketBinding(name, socket))) }

    func forget() { (outcomes, presence, kept, onlineOnly, ended, lost) = ([], [], [], [], [], []) }

    // MARK: - Reports

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        guard let request = ticket.request else { return }
        if case .joined(let welcome) = outcome { welcomes.append(welcome) }
        outcomes.append("\(request): \(outcome.testDescription)")
    }

    func engine(sessionChanged session: SessionID) { changeCount += 1 }
    func engine(lost session: SessionID) {
        lost.append(session)
        lastSeqsAtLoss.append(engine.withLog(of: session) { $0.lastSeq })
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        switch effect {
        case .presence: presence.append(effect.testDescription)
        case .keptPresence(let event):
            presence.append(effect.testDescription)
            kept.append(event)
        case .onlineOnly: onlineOnly.append(effect.testDescription)
        case .ended, .superseded: ended.append(effect.testDescription)
        case .onlineOnlyDropped: break
        }
    }
}
