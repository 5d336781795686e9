import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// One random history: clients of two sessions on some nodes that crash, freeze, stop, and lose sessions, over a network
/// that delays, loses, repeats and reorders notifications.
private final class History {
    private static let sessions = [SessionID("1_one"), SessionID("1_two")]

    private let seed: UInt64
    private var random: SeededGenerator
    private let clock = Clock()
    private let store: MemorySharedLog
    private let bounds: SessionState.Bounds
    private var nodes: [Process] = []
    private var clients: [Client] = []
    private var count: UInt64 = 0
    private(set) var counts: [String: Int] = [:]
    private(set) var faults: [String] = []
    /// What receivers outside of the sessions got, by the epoch and the event's ID.
    fileprivate var told: [Epoch: [EventID: PresenceEvent]] = [:]
    /// The epochs that the store had when it forgot their sessions. No server can report the ends of their connections.
    private var forgotten: Set<Epoch> = []

    final class Clock { var now = MonotonicInstant.seconds(0) }

    struct EventID: Hashable, Comparable {
        let number: UInt64
        let index: UInt64
        static func < (left: EventID, right: EventID) -> Bool {
            (left.number, left.index) < (right.number, right.index)
        }
    }

    /// A client, with its last connection.
    final class Client {
        enum Phase {
            case away
            case joining(JoinRequest, Process)
            case connected(SocketBinding, Process)
        }

        let session: SessionID
        var phase = Phase.away
        /// For a resume.
        var connection: ConnectionID?
        var secret = ""
        var epoch = Epoch("")
        var seq = Seq.zero
        var request: Int64 = 0

        init(session: SessionID) { self.session = session }
    }

    /// One process with its sockets.
    final class Process: SessionEngineObserver {
        unowned let history: History
        let log: MemorySharedLog.Node
        let engine: ClusterEngine
        var isFrozen = false
        /// The tickets without an answer. Those of joins have the client and its socket.
        var waiting: [CommandTicket: (client: Client, socket: SocketID)?] = [:]
        /// Presence events that are not told yet.
        var posts: [(KeptPresenceEvent, SessionID)] = []

        init(_ history: History, _ log: MemorySharedLog.Node, _ bounds: SessionState.Bounds) {
            self.history = history
            self.log = log
            engine = ClusterEngine(log: log, run: log.run, bounds: bounds, now: history.clock.now) {
                [unowned history] in
                Epoch("e\(history.next())")
            }
            engine.observer = self
        }

        func submit(
            _ command: SessionCommand, to session: SessionID, of join: (client: Client, socket: SocketID)? = nil
        ) {
            let ticket = CommandTicket(origin: history.next(), request: nil)
            waiting[ticket] = .some(join)
            engine.submit(command, to: session, ticket: ticket, now: history.clock.now)
        }

        func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
            guard let join = waiting.removeValue(forKey: ticket) else {
                return history.fail("a command is answered twice, or was never submitted: \(outcome)")
            }
            history.note("\(outcome.testDescription.split(separator: " ").first ?? "")")
            if let join { history.answered(join.client, join.socket, outcome) }
        }

        func engine(sessionChanged session: SessionID) {}

        func engine(lost session: SessionID) {
            history.note("session lost")
            for client in history.clients where client.session == session {
                if case .connected(_, let node) = client.phase, node === self { client.phase = .away }
            }
        }

        func engine(_ session: SessionID, caused effect: SessionEffect) {
            switch effect {
            case .ended(let connection, _, _): history.ended(on: self) { $0.connectionId == connection }
            case .superseded(let socket): history.ended(on: self) { $0.socket == socket }
            case .keptPresence(let event): posts.append((event, session))
            case .presence: history.fail("presence without an ID")
            case .onlineOnly: history.note("online-only")
            case .onlineOnlyDropped: break
            }
        }
    }

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        store = MemorySharedLog { [clock] in clock.now }
        var bounds = SessionState.Bounds(
            connectionCount: 6, logEventCount: 30, resumeWindow: .seconds(5),
            recoveryWindow: .seconds(Int.random(in: 0...1, using: &random) * 8), recoverableCount: 3,
            signalRate: RateLimit(perSecond: 5, burst: 5))
        bounds.awayDelay = .seconds(1)
        bounds.untoldEventCount = 1_000
        self.bounds = bounds
        store.trimsAtOnce = chance(2)
        for _ in 0..<3 { addNode() }
        for index in 0..<6 { clients.append(Client(session: Self.sessions[index % 3 == 0 ? 1 : 0])) }
    }

    // MARK: - The run

    func run(stepCount: Int) {
        for _ in 0..<stepCount {
            act()
            for node in running { turn(node) }
            if chance(3) { clock.now = clock.now.advanced(by: .milliseconds(Int.random(in: 1...900, using: &random))) }
        }
        heal()
        checkCopies("after the faults")
        checkSockets()
        abandon()
        for (kind, count) in store.counts { counts[kind, default: 0] += count }
    }

    private func turn(_ node: Process) {
        node.engine.advance(to: clock.now)
        if chance(2) { node.log.send(chance(3) ? .max : Int.random(in: 0...3, using: &random)) }
        if chance(3) { node.log.disturb(using: &random) }
        if chance(2) { node.log.receive(chance(3) ? .max : Int.random(in: 0...3, using: &random)) }
        if chance(10) { node.log.check() }
        if chance(4) { post(from: node) }
        if node.engine.sessionCount > 0, chance(20), let session = Self.sessions.randomElement(using: &random) {
            node.engine.log(needsSnapshotsOf: [session])
        }
    }

    /// The receiver outside of the sessions gets the oldest event of a node.
    private func post(from node: Process) {
        guard let (event, session) = node.posts.first else { return }
        node.posts.removeFirst()
        let id = EventID(number: event.untold.commandNumber, index: event.untold.index)
        if let known = told[event.epoch]?[id] {
            note("event posted again")
            if known != event.untold.event { fail("LOG-11: two events have the ID \(id)") }
        }
        told[event.epoch, default: [:]][id] = event.untold.event
        node.engine.noteTold(event, of: session)
    }

    private func act() {
        guard let node = running.randomElement(using: &random) else { return addNode() }
        let client = clients.randomElement(using: &random) ?? clients[0]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: come(client, to: node)
        case 30..<55: signal(client)
        case 55..<62: end(client, leaves: false)
        case 62..<66: end(client, leaves: true)
        case 66..<71:
            if case .joining(let request, let node) = client.phase { cancel(request, client, node) }
        case 71..<75: node.submit(.signal(.server, SignalRequest(data: "x")), to: client.session)
        case 75..<78:
            if let target = client.connection { node.submit(.forceDisconnect(.server, target), to: client.session) }
        case 78..<82: node.engine.listConnections(of: client.session) { [unowned self] _ in note("listed") }
        case 82..<85: crash(node)
        case 85..<88: node.isFrozen = true
        case 88..<91:
            for node in nodes where node.isFrozen {
                if chance(2) { store.declareLost(node.log) }
                node.isFrozen = false
            }
        case 91..<93: if running.count < 4 { addNode() }
        case 93..<95:
            if let session = node.log.followed.randomElement(using: &random) { node.log.drop(session) }
        case 95: forget(client.session)
        case 96: stop(node)
        default: clock.now = clock.now.advanced(by: .seconds(Int.random(in: 1...7, using: &random)))
        }
    }

    private func addNode() { nodes.append(Process(self, store.makeNode(), bounds)) }
    private var living: [Process] { nodes.filter { !$0.log.isDead } }
    private var running: [Process] { living.filter { !$0.isFrozen } }

    fileprivate func next() -> UInt64 {
        count += 1
        return count
    }
    private func chance(_ outOf: Int) -> Bool { Int.random(in: 0..<outOf, using: &random) == 0 }
    fileprivate func note(_ what: String) { counts[what, default: 0] += 1 }
    fileprivate func fail(_ fault: String) { faults.append(fault) }

    // MARK: - Clients

    private func come(_ client: Client, to node: Process) {
        guard case .away = client.phase else { return }
        let number = next()
        var request = JoinRequest(
            connectionId: ConnectionID("c\(number)"), role: .publisher, data: "",
            wallTime: WallTime(milliseconds: 5), socket: number)
        request.secretHash = hash("s\(number)")
        if let connection = client.connection {
            request.resumption = Resumption(
                connectionId: connection, secretHash: hash(client.secret), epoch: client.epoch, after: client.seq)
        }
        client.phase = .joining(request, node)
        node.submit(.join(request), to: client.session, of: (client, request.socket))
    }

    fileprivate func answered(_ client: Client, _ socket: SocketID, _ outcome: SessionOutcome) {
        // The answer to an attempt that the client has given up is not for a later one.
        guard case .joining(let request, let node) = client.phase, request.socket == socket else { return }
        switch outcome {
        case .joined(let result):
            note("\(result.outcome)")
            client.phase = .connected(SocketBinding(result.connection.connectionId, request.socket), node)
            client.connection = result.connection.connectionId
            client.secret = String(decoding: request.secretHash.bytes, as: UTF8.self)
            (client.epoch, client.seq) = (result.epoch, result.seq)
        case .unavailable(mayBeCarriedOut: true): cancel(request, client, node)
        case .unavailable(mayBeCarriedOut: false): client.phase = .away
        case .refused, .wasForceDisconnected, .superseded:
            client.phase = .away
            client.connection = nil
        case .done, .signalled, .forceDisconnected, .changed, .erased, .moderated, .announced, .restrictions,
            .reacted, .marked, .reactors, .refreshed:
            break
        }
    }

    /// As ``ConnectionState`` does it: the join may have begun a connection, or resumed one.
    private func cancel(_ request: JoinRequest, _ client: Client, _ node: Process) {
        client.phase = .away
        node.submit(
            .leave(SocketBinding(request.connectionId, request.socket), .networkDisconnected), to: client.session)
        if let claim = request.resumption {
            node.submit(.detach(SocketBinding(claim.connectionId, request.socket)), to: client.session)
        }
    }

    private func signal(_ client: Client) {
        guard case .connected(let binding, let node) = client.phase, !node.isFrozen else { return }
        client.request += 1
        let sender = CommandSender.connection(binding, RequestID(client.request))
        node.submit(.signal(sender, SignalRequest(data: "x", isOnlineOnly: chance(4))), to: client.session)
    }

    private func end(_ client: Client, leaves: Bool) {
        guard case .connected(let binding, let node) = client.phase, !node.isFrozen else { return }
        client.phase = .away
        node.submit(leaves ? .leave(binding, .clientDisconnected) : .detach(binding), to: client.session)
        if leaves { client.connection = nil }
    }

    fileprivate func ended(on node: Process, _ isEnded: (SocketBinding) -> Bool) {
        for client in clients {
            if case .connected(let binding, let own) = client.phase, own === node, isEnded(binding) {
                client.phase = .away
            }
        }
    }

    private func disconnectAll(of node: Process) {
        for client in clients {
            switch client.phase {
            case .connected(_, let own), .joining(_, let own): if own === node { client.phase = .away }
            case .away: break
            }
        }
    }

    // MARK: - Faults

    private func crash(_ node: Process) {
        guard running.count > 1 else { return }
        note("crash")
        node.log.die(sending: Int.random(in: 0...4, using: &random))
        disconnectAll(of: node)
        if chance(2) { store.declareLost(node.log) }
    }

    private func stop(_ node: Process) {
        guard running.count > 1 else { return }
        note("clean stop")
        disconnectAll(of: node)
        node.engine.endSessions()
        node.engine.advance(to: clock.now)
        node.log.stop()
    }

    private func forget(_ session: SessionID) {
        if let state = (try? SessionReplay(store.kept(session)))?.state { forgotten.insert(state.epoch) }
        store.forget(session)
    }

    // MARK: - The end

    private func heal() {
        for node in nodes {
            node.isFrozen = false
            if node.log.isDead { store.declareLost(node.log) }
        }
        for client in clients {
            if case .joining(let request, let node) = client.phase { cancel(request, client, node) }
        }
        for _ in 0..<30 { settle(.milliseconds(200)) }
    }

    private func settle(_ time: Duration) {
        clock.now = clock.now.advanced(by: time)
        for _ in 0..<300 {
            for node in living {
                node.log.receive()
                while !node.posts.isEmpty { post(from: node) }
                node.engine.advance(to: clock.now)
                node.log.send()
            }
            if living.allSatisfy({ $0.log.isQuiet && $0.engine.sessions.batch.isEmpty }) { break }
        }
        if !living.allSatisfy(\.log.isQuiet) { fail("the nodes do not come to rest") }
        for node in living { node.log.check() }
    }

    private func checkCopies(_ moment: String) {
        for node in living where !node.waiting.isEmpty {
            fail("\(moment): \(node.waiting.count) commands have no answer")
        }
        for session in Self.sessions {
            let copies = living.compactMap { node in node.engine.sessions[session].map { (node, $0) } }
            guard let first = copies.first else { continue }
            let bytes = first.1.state?.encoded()
            for (node, copy) in copies {
                if copy.position?.number ?? 0 != store.lastNumber(of: session) {
                    fail("\(moment): \(node.engine.run) is at \(copy.position?.number ?? 0) of \(session)")
                }
                if copy.state?.encoded() != bytes { fail("\(moment), LOG-5: two copies of \(session) differ") }
            }
            guard let keeper = first.1.state?.keeper else { continue }
            if !copies.contains(where: { $0.0.engine.run == keeper }) {
                fail("\(moment): the keeper \(keeper) of \(session) does not host it")
            }
        }
    }

    /// The sockets in the states are those of the clients (G7): no connection waits for a socket that is gone.
    private func checkSockets() {
        for session in Self.sessions {
            guard let state = living.lazy.compactMap({ $0.engine.sessions[session]?.state }).first else {
                if store.lastNumber(of: session) > 0 { fail("\(session) has no host") }
                continue
            }
            var attached: [String] = []
            for member in state.roster.members {
                guard case .attached(let socket, let run) = member.attachment else { continue }
                attached.append("\(member.connection.connectionId) on \(socket) of \(run)")
            }
            var connected: [String] = []
            for client in clients where client.session == session {
                guard case .connected(let binding, let node) = client.phase else { continue }
                connected.append("\(binding.connectionId) on \(binding.socket) of \(node.engine.run)")
            }
            if attached.sorted() != connected.sorted() {
                fail("G7: attached are \(attached.sorted()), connected \(connected.sorted())")
            }
        }
    }

    /// Every client goes. When all windows have passed, nothing is left, and every event was told.
    private func abandon() {
        for client in clients { end(client, leaves: false) }
        for _ in 0..<80 { settle(.milliseconds(500)) }
        checkCopies("at the end")
        if !store.keptSessions.isEmpty { fail("LOG-10: the log keeps \(store.keptSessions)") }
        for node in living where node.engine.sessionCount > 0 { fail("LOG-10: \(node.engine.run) keeps a session") }
        for (epoch, events) in told.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { checkPresence(epoch, events) }
    }

    private func checkPresence(_ epoch: Epoch, _ events: [EventID: PresenceEvent]) {
        var present: Set<ConnectionID> = []
        var isCreated = false
        for (id, event) in events.sorted(by: { $0.key < $1.key }) {
            let isRight: Bool
            switch event {
            case .sessionCreated:
                isRight = !isCreated
                isCreated = true
            case .connectionCreated(let connection): isRight = present.insert(connection.connectionId).inserted
            case .connectionDestroyed(let connection, _): isRight = present.remove(connection.connectionId) != nil
            case .sessionDestroyed:
                isRight = isCreated && present.isEmpty
                isCreated = false
            }
            if !isRight { fail("G7, LOG-11: \(event) of \(epoch) at \(id) does not fit the events before") }
        }
        if forgotten.contains(epoch) { return }
        if isCreated || !present.isEmpty { fail("G7, LOG-11: the end of \(epoch) was not told") }
    }
}

@Suite("Several nodes in random histories")
struct RandomClusterTests {
    @Test("LOG-5: after any history every node has the same copy, and every socket, event and answer is accounted for")
    func histories() {
        var counts: [String: Int] = [:]
        for seed in 1...400 as ClosedRange<UInt64> {
            let history = History(seed: seed)
            history.run(stepCount: 150)
            if !history.faults.isEmpty {
                Issue.record("seed \(seed):\n\(history.faults.prefix(8).joined(separator: "\n"))")
                return
            }
            counts.merge(history.counts, uniquingKeysWith: +)
        }
        for what in [
            "new", "resumed", "recovered", "lost", "signalled", "refused", "unavailable", "session lost", "crash",
            "clean stop", "continued as another run", "gap", "forgotten", "event posted again", "online-only", "listed",
            "force-disconnected",
        ] { #expect((counts[what] ?? 0) > 0, "no history had: \(what)") }
    }
}
