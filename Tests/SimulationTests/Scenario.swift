import Logging
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingRedisCore
import SignalingVerification
import TestSupport

@testable import SignalingClient
@testable import SignalingServer

/// One run: clients of one session that send, a network that fails, a server that stops and starts, and at the end a
/// time without faults. The judges compare what passed and what the programs saw with the promises of `docs/PROTOCOL.md`.
final class Scenario {
    let world: World
    private let bounds: SessionState.Bounds
    private let limits: HubLimits
    private var server: SimulatedServer?
    private var servers: [SimulatedServer] = []
    /// The Redis of several nodes, and their auditor's record; nil for a single server.
    private let redis: SimulatedRedis?
    private let audit = AuditedEngine.Audit()
    private let nodeCount: Int
    /// How long Redis keeps the commands that a snapshot replaces.
    private var retention = Duration.zero
    /// From then on, another node has everything that a node had which has crashed.
    private var wholeSince = MonotonicInstant(nanoseconds: 0)
    /// The nodes are not disturbed until then.
    private var quietUntil = MonotonicInstant(nanoseconds: 0)
    /// The nodes that have begun to connect to Redis.
    private var startingCount = 0
    /// Whether the servers keep their sessions in a command log.
    private let isDurable: Bool
    private var remains: AuditedEngine.Remains?
    /// Whether moderators and backends restrict users in this run.
    private let isModerated: Bool
    /// What the session keeps as history, and the disk that has it.
    private let history: HistoryPolicy
    private let disk = MemoryArchive()
    /// That of each server.
    private var archives: [SimulatedArchive] = []
    private(set) var clients: [SimulatedClient] = []
    /// A backend with its requests to one node: only those have an order (G1). One server has one, over its restarts.
    private var backends: [ProgramRecord] = []
    /// The requests by REST without an answer, with their servers.
    private var unansweredRequests: [String: SimulatedServer] = [:]
    private var links: [Link] = []
    private var hasFaults = true
    private var isReachable = true

    /// - Parameter nodeCount: how many servers serve the session; more than one have a log in common.
    init(seed: UInt64, nodeCount: Int = 1, isTraced: Bool = false) {
        let world = World(seed: seed, isTraced: isTraced)
        self.world = world
        self.nodeCount = nodeCount
        redis = nodeCount > 1 ? SimulatedRedis(world) : nil
        isDurable = nodeCount == 1 && world.chance(2)
        // Of several nodes, some runs: what these keep for the archive is in each node, and one of them writes it.
        let keepsHistory = nodeCount > 1 ? seed % 3 == 0 : isDurable && world.chance(2)
        isModerated = world.chance(3)
        history =
            keepsHistory
            ? HistoryPolicy(standard: world.chance(2) ? .all : .only(["a"]), changes: Self.permittedChanges(seed))
            : .none
        let windows = [(4, 12), (8, 0), (0, 10), (6, 6)].randomElement(using: &world.random) ?? (4, 12)
        // In a session that gets full, connections give way before their windows end (RES-12).
        let isTight = world.chance(4)
        var bounds = SessionState.Bounds(
            connectionCount: isTight ? 8 : 1_000, logEventCount: Int.random(in: 8...40, using: &world.random),
            logByteCount: 100_000,
            resumeWindow: .seconds(windows.0), recoveryWindow: .seconds(windows.1),
            recoverableCount: Int.random(in: 1...4, using: &world.random))
        bounds.listBlockByteCount = Int.random(in: 1...300, using: &world.random)
        bounds.awayDelay = world.milliseconds(500...4_000)
        self.bounds = bounds
        var limits = HubLimits(
            heartbeat: .seconds(4), backPressure: BackPressure.Bounds(byteCount: 500, requestCount: 256),
            inputRate: world.chance(2)
                ? RateLimit(perSecond: Int.random(in: 2...20, using: &world.random), burst: 5) : nil,
            lines: LineShare.Bounds(perClient: Int.random(in: 2...6, using: &world.random)),
            catchUpByteCount: Int.random(in: 150...400, using: &world.random),
            flushPace: FlushScheduler.Pace(
                longestWait: world.milliseconds(0...10), costPerMember: world.milliseconds(0...1)),
            drain: DrainPlan.Pace(
                perClient: world.milliseconds(0...400), sliceCount: Int.random(in: 1...2, using: &world.random)))
        limits.lines.shared = 2 * limits.lines.perClient
        self.limits = limits
        world.judge.terms = WireJudge.Terms(
            // Whether a connection can be recovered depends on how many others there are, too.
            resumeWindow: .seconds(windows.0), recoveryWindow: .seconds(windows.0), heartbeat: limits.heartbeat,
            awayDelay: bounds.awayDelay,
            logEventCount: bounds.log.eventCount, logByteCount: bounds.log.byteCount,
            tolerance: isTight
                ? .seconds(3_600)
                : nodeCount > 1
                    ? SimulatedServer.longestNodeDelay
                    : (isDurable ? SimulatedServer.longestLogDelay : .zero) + .milliseconds(200))
        world.judge.terms.wallTimeAtZero = World.wallTimeAtStart
        if let kept = history.standard {
            world.judge.terms.history = WireJudge.Terms.KeptHistory(
                types: kept == .all ? nil : ["a"], changes: Set(history.changes.map(\.rawValue)))
        }
        for number in 0..<Int.random(in: 2...4, using: &world.random) {
            clients.append(SimulatedClient(scenario: self, name: "c\(number)", suppressesPresence: world.chance(6)))
        }
        retention = world.chance(2) ? .zero : .seconds(60)
        redis?.disturbsMessages = true
        // A session with a history does not lose its order in these runs.
        redis?.forgetsNothing = keepsHistory || world.chance(2)
        redis?.onLost = { [unowned self] run in declaredLost(run) }
        for _ in 0..<nodeCount { startServer() }
        // Nodes on a new Redis wait for what others may have to restore.
        if redis != nil { proceed(to: world.now.advanced(by: LogTimes().restoring + .seconds(1))) }
    }

    /// - Returns: the faults, none for a good run.
    func run(actionCount: Int) -> [String] {
        for client in clients { world.schedule(at: world.now) { client.connect() } }
        // Some faults need a long session: many overruns, and many connections of one client.
        let isLong = world.chance(400)
        if isLong { world.count("long session") }
        let actionCount = isLong ? actionCount * 6 : actionCount
        var moment = world.now.advanced(by: .milliseconds(200))
        for _ in 0..<actionCount {
            moment = moment.advanced(by: world.milliseconds(world.chance(4) ? 250...6_000 : 0...250))
            world.schedule(at: moment) { [self] in act() }
            if !history.keepsNothing, world.chance(4) { world.schedule(at: moment) { [self] in useHistory() } }
            if !history.keepsNothing { world.schedule(at: moment) { [self] in change() } }
            if isModerated, world.chance(3) { world.schedule(at: moment) { [self] in moderate() } }
            if let redis, world.chance(6) { world.schedule(at: moment) { [self] in disturbNode(redis) } }
        }
        proceed(to: moment)
        settle()
        let promises = judge()
        abandon()
        tearDown()
        return (world.faults + promises).map { world.readable($0) }
    }

    private func proceed(to end: MonotonicInstant) {
        world.run(until: end) { [self] in
            if redis == nil { server?.endTurn() } else { for server in servers { server.endTurn() } }
        }
    }

    // MARK: - The end

    /// The network and the server work, and every client has the time to receive everything.
    private func settle() {
        hasFaults = false
        world.note("the faults are over")
        healNodes()
        if server == nil { startServer() }
        for link in links {
            link.resume()
            link.slow(by: .zero)
        }
        if isModerated { liftAll() }
        proceed(to: world.now.advanced(by: .seconds(45)))
        checkOnlineOnly()
        if !history.keepsNothing {
            for client in clients where client.isConnected {
                client.readHistory(HistoryRequest())
                client.readChanges(after: .zero)
            }
        }
        checkHistory()
    }

    /// The archive works, and has the time to answer.
    private func checkHistory() {
        for archive in archives { archive.hasFaults = false }
        let server = redis == nil ? server : host
        server?.turn { _ in server?.engine.checkHistory() }
        proceed(to: world.now.advanced(by: .seconds(5)))
        let count = world.counts["history", default: 0] + world.counts["empty history", default: 0]
        if !history.keepsNothing, count != 1, server != nil { world.fail("H3: the history was not read") }
    }

    /// Without faults an online-only signal reaches every client, although this is not promised (SIG-10).
    private func checkOnlineOnly() {
        let connected = clients.filter(\.isConnected)
        guard let sender = connected.first else { return }
        let data = sender.signal(type: nil, to: nil, isOnlineOnly: true)
        // A command behind one of the archive's waits for the log.
        let time = history.keepsNothing ? Duration.zero : SimulatedServer.longestLogDelay * 2
        proceed(to: world.now.advanced(by: .seconds(1) + time))
        for client in connected where !client.hasReceived(data) {
            world.fail("SIG-10: \(client.name) did not get \(data)")
        }
    }

    private func judge() -> [String] {
        var logs: [Epoch: [AuditedEngine.LoggedEvent]] = [:]
        for server in servers { logs.merge(server.engine.logs, uniquingKeysWith: +) }
        checkRestrictions()
        let server = host
        checkRESTOrder(logs)
        for client in clients where !client.isConnected && !client.isDisconnected {
            world.fail("\(client.name) has not settled")
        }
        for data in unansweredRequests.keys.sorted() { world.fail("REST-1: \(data) was not answered") }
        let here = Set(server?.engine.connections(of: Tokens.session).map(\.connectionId) ?? [])
        let connected = Set(clients.filter(\.isConnected).compactMap(\.connection))
        if here != connected { world.fail("G7: the server has \(here.sorted()), connected are \(connected.sorted())") }
        let away = server?.engine.withLog(of: Tokens.session) { Set($0.absences.ids) } ?? []
        for client in clients where client.isConnected && !client.knows(away) {
            world.fail("PRES-4: \(client.name) knows \(client.absences.sorted()), away are \(away.sorted())")
        }
        let programs = clients.map {
            ProgramRecord($0.name, suppressesPresence: $0.suppressesPresence, users: $0.users, steps: $0.steps)
        }
        let seen = world.judge.violations(of: programs + backends, isSettled: true).map(\.description)
        let onTheWire = world.judge.violations(at: world.now, isSettled: true).map { "on the wire, \($0)" }
        let inTheLog = logs.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { epoch, events in
            world.judge.violations(
                ofLog: events.map { ($0.seq, $0.line) }, of: epoch, in: Tokens.session.rawValue)
        }
        return seen + onTheWire + inTheLog.map { "in the log, \($0)" }
    }

    /// A request that a backend sends after the answer to an earlier one is behind it, whichever node gets it.
    private func checkRESTOrder(_ logs: [Epoch: [AuditedEngine.LoggedEvent]]) {
        var sentAt: [String: MonotonicInstant] = [:]
        var answeredAt: [String: MonotonicInstant] = [:]
        for step in backends.flatMap(\.steps) {
            switch step.action {
            case .sent(let data): sentAt[data] = step.at
            case .answered(let data, .acknowledged): answeredAt[data] = step.at
            default: break
            }
        }
        for records in logs.values {
            // Of the requests further back in the log, the one that was answered first.
            var earliest: (data: String, at: MonotonicInstant)?
            for record in records.sorted(by: { $0.seq > $1.seq }) {
                guard let data = record.signal, let sent = sentAt[data] else { continue }
                if let earliest, earliest.at < sent {
                    world.fail("G1: \(data) is before \(earliest.data), which was answered before it was sent")
                }
                if let answered = answeredAt[data], answered < earliest?.at ?? answered.advanced(by: .seconds(1)) {
                    earliest = (data, answered)
                }
            }
        }
    }

    /// Every client is gone for good. When all windows have passed, nothing of the session is left.
    private func abandon() {
        world.note("the network is gone")
        isReachable = false
        for link in links { link.cut(.both) }
        let windows = bounds.resumeWindow + bounds.recoveryWindow + limits.heartbeat * 3
        // A node lets a session go that it does not need.
        proceed(to: world.now.advanced(by: windows + (redis == nil ? .zero : .seconds(60))))
        if let redis { checkEmpty(redis) }
        for server in running { checkEmpty(server) }
        if history.keepsNothing { return }
        // The session sleeps, and its history is read without waking it.
        for server in running { server.turn { _ in server.engine.checkHistory() } }
        proceed(to: world.now.advanced(by: .seconds(5)))
        for server in running { checkEmpty(server) }
    }

    private func checkEmpty(_ redis: SimulatedRedis) {
        // A node that crashes takes with it the removals that it had put off. Redis forgets such a session after a day.
        let isDelayed = world.counts["node crash"] != nil
        for session in redis.keptSessions where !isDelayed || !redis.willForget(session) {
            if !history.keepsNothing, redis.isAsleep(session) { continue }
            world.fail("LOG-10: the log keeps \(session), which nobody needs")
        }
    }

    private func checkEmpty(_ server: SimulatedServer) {
        let left = server.engine.connections(of: Tokens.session).map(\.connectionId).sorted()
        if !left.isEmpty { world.fail("RES-12: \(left) were not given up") }
        if server.engine.withLog(of: Tokens.session, { _ in }) != nil { world.fail("G5: an unneeded session is kept") }
        let kept = server.hub.peers.keys.sorted()
        if !kept.isEmpty { world.fail("G5: the hub keeps the lost sockets \(kept)") }
        if !server.hub.rooms.isEmpty { world.fail("G5: the hub keeps an empty room") }
    }

    private func tearDown() {
        world.removeAllEvents()
        for server in servers { server.tearDown() }
        for client in clients { client.tearDown() }
    }

    // MARK: - The server

    var running: [SimulatedServer] { redis == nil ? [server].compactMap(\.self) : servers.filter(\.isRunning) }
    /// A server that has the session.
    private var host: SimulatedServer? {
        running.first { $0.engine.withLog(of: Tokens.session) { _ in } != nil } ?? running.first
    }
    /// The server that the load balancer chooses for a client.
    var chosen: SimulatedServer? {
        redis == nil ? server : running.filter { !$0.isDraining }.randomElement(using: &world.random)
    }

    private func startNode(_ redis: SimulatedRedis) {
        startingCount += 1
        var times = LogTimes()
        // Deaths are found sooner than in production, and in the same proportions.
        (times.nodes.beat, times.nodes.life) = (.milliseconds(200), .seconds(2))
        (times.nodes.steady, times.nodes.pause) = (.seconds(3), .milliseconds(800))
        (times.check, times.removal, times.retention) = (.milliseconds(600), .seconds(1), retention)
        let links = SimulatedLinks(world, [redis], tick: times.tick)
        links.isSlow = hasFaults
        RedisCommandLog.open(
            over: links, run: RunID(world.random.next()), seed: world.random.next(), times: times,
            logger: world.logger
        ) { [unowned self] result in
            startingCount -= 1
            switch result {
            case .success(let log): add(log, links)
            case .failure:
                world.note("a node cannot start")
                world.schedule(after: .milliseconds(500)) { [self] in startNode(redis) }
            }
        }
    }

    private func add(_ log: RedisCommandLog, _ links: SimulatedLinks) {
        // The faults may have ended while the node started.
        if !hasFaults { links.isSlow = false }
        let node = SimulatedServer(
            world: world, bounds: bounds, limits: limits, log: log, links: links, history: history,
            archive: makeArchive(), audit: audit)
        server = node
        servers.append(node)
        world.schedule(at: world.now) {}
        world.note("node \(servers.count) starts")
    }

    private func startServer() {
        if let redis { return startNode(redis) }
        let log = remains?.log ?? (isDurable ? MemoryCommandLog() : nil)
        let server = SimulatedServer(
            world: world, bounds: bounds, limits: limits, log: log, history: history, archive: makeArchive(),
            remains: remains)
        self.server = server
        servers.append(server)
        if remains == nil { world.judge.serverLostSessions(at: world.now) }
        world.judge.serverStarted(at: world.now)
        remains = nil
        world.schedule(at: world.now) {}
        world.note("the server starts")
    }

    /// - Returns: nil for servers that keep no history.
    private func makeArchive() -> SimulatedArchive? {
        if history.keepsNothing { return nil }
        let archive = SimulatedArchive(world: world, disk: disk)
        archive.hasFaults = hasFaults
        archives.append(archive)
        return archive
    }

    /// - Returns: nil while there is no server.
    func openLink(
        for client: SimulatedClient, onEvent: @escaping (ClientLinkEvent) -> Void
    ) -> Link? {
        guard let server = chosen, isReachable else { return nil }
        let link = Link(id: UInt64(links.count + 1), client: client, server: server, onEvent: onEvent)
        links.append(link)
        server.add(link)
        if hasFaults, world.chance(12) {
            world.count("slow way")
            link.slow(by: world.milliseconds(1_000...16_000))
        } else if hasFaults, client.connection != nil, world.chance(4) {
            world.count("late connect")
            link.slowConnect(by: world.milliseconds(50...800), givenUpAfter: world.milliseconds(1...100))
        }
        link.open()
        return link
    }

    // MARK: - Several nodes

    /// Redis works, the network to it, and the nodes.
    private func healNodes() {
        guard let redis else { return }
        if !redis.isUp {
            // A Redis that may forget is not believed: a session for which no node vouches begins anew (LOG-31).
            if !redis.forgetsNothing { world.mayLoseOrder = true }
            redis.start(with: .all)
        }
        redis.disturbsMessages = false
        for server in servers {
            server.node?.links.isSlow = false
            server.thaw()
        }
        while running.count(where: { !$0.isDraining }) + startingCount < 2 { startNode(redis) }
    }

    private func disturbNode(_ redis: SimulatedRedis) {
        guard world.now >= quietUntil, let server = running.randomElement(using: &world.random),
            let node = server.node
        else { return }
        switch Int.random(in: 0..<10, using: &world.random) {
        case 0..<3: crashNode(server, redis)
        case 3..<6: freezeNode(server)
        case 6:
            world.note("a node loses its links")
            world.count("links broken")
            node.links.breakLinks()
        case 7: stopNode(server, redis)
        default: if world.chance(2) { stopLater(redis) } else { restart(redis) }
        }
    }

    /// Shortly before Redis stops, only one node learns what comes into the log, and that node misses the first of it.
    private func stopLater(_ redis: SimulatedRedis) {
        guard let witness = running.compactMap(\.node).randomElement(using: &world.random) else { return }
        world.count("witness")
        for node in running.compactMap(\.node) {
            node.links.losesMessages = true
            node.links.delaysAnswers = node.links !== witness.links
        }
        for client in clients { burst(client) }
        world.schedule(after: .milliseconds(40)) { [self] in
            witness.links.losesMessages = false
            for client in clients { burst(client) }
        }
        world.schedule(after: .milliseconds(120)) { [self] in
            restart(redis)
            for server in servers {
                server.node?.links.losesMessages = false
                server.node?.links.delaysAnswers = false
            }
        }
    }

    private func restart(_ redis: SimulatedRedis) {
        guard redis.isUp, world.now >= quietUntil else { return }
        world.note("Redis stops")
        world.count("Redis restart")
        redis.stop()
        // Only nodes that reach Redis in the time of restoring put back what they have.
        let forgets =
            !redis.forgetsNothing && world.chance(2) && !running.contains { $0.frozenAt != nil }
            && world.now >= wholeSince
        if forgets {
            quietUntil = world.now.advanced(by: .seconds(8))
            for server in servers { server.node?.links.isSlow = false }
        }
        world.schedule(after: world.milliseconds(50...2_000)) { [self] in
            if redis.isUp { return }
            if forgets { world.count("Redis forgets") }
            // A Redis that may forget is not believed: a session for which no node vouches begins anew (LOG-31).
            if forgets || !redis.forgetsNothing { world.mayLoseOrder = true }
            world.note("Redis starts\(forgets ? ", and has forgotten everything" : "")")
            redis.start(with: forgets ? .none : .all)
        }
    }

    private func crashNode(_ server: SimulatedServer, _ redis: SimulatedRedis) {
        world.note("a node crashes")
        world.count("node crash")
        _ = server.crash()
        wholeSince = world.now.advanced(by: .seconds(5))
        nodeEnded(server, linksEndAfter: .milliseconds(10), redis)
    }

    private func freezeNode(_ server: SimulatedServer) {
        guard server.frozenAt == nil, !server.isDraining else { return }
        world.note("a node freezes")
        world.count("node freeze")
        let since = world.now
        server.freeze()
        world.schedule(after: world.milliseconds(100...10_000)) { [self] in
            guard server.isRunning, server.frozenAt == since else { return }
            world.note("the node goes on")
            server.thaw()
        }
    }

    /// Redis tells the nodes that one of them is lost.
    private func declaredLost(_ run: RunID) {
        guard let server = running.first(where: { $0.engine.run == run }), !server.isDraining else { return }
        world.note("a living node is declared lost")
        world.count("declared lost alive")
        server.engine.noteLostRun(at: world.now)
        // The other nodes take the sockets of its connections for lost, although they are still open. Sockets that have
        // no connection yet get one when the node goes on.
        for link in links where link.server === server && !link.isServerGone {
            world.judge.takenForLost(Int(link.serverEnd.id), at: world.now)
        }
    }

    private func stopNode(_ server: SimulatedServer, _ redis: SimulatedRedis) {
        guard server.frozenAt == nil, !server.isDraining else { return }
        world.note("a node drains")
        world.count("node drain")
        server.stop(over: world.milliseconds(0...2_000), isHurried: world.chance(4)) { [unowned self] _ in
            world.note("a node has stopped")
            nodeEnded(server, linksEndAfter: .milliseconds(100), redis)
        }
    }

    private func nodeEnded(_ server: SimulatedServer, linksEndAfter delay: Duration, _ redis: SimulatedRedis) {
        // Their senders do not know whether they were carried out.
        unansweredRequests = unansweredRequests.filter { $0.value !== server }
        for link in links where link.server === server { link.serverDies(after: delay) }
        world.schedule(after: world.milliseconds(50...3_000)) { [self] in
            if running.count + startingCount < nodeCount { startNode(redis) }
        }
    }

    private func restart() {
        guard let server, !server.isDraining else { return }
        world.count("restart")
        if world.chance(3) {
            world.note("the server crashes")
            // Their senders do not know whether they were carried out.
            unansweredRequests.removeAll()
            return serverStopped(server.crash(), linksEndAfter: .milliseconds(10))
        }
        world.note("the server drains")
        let isHurried = world.chance(4)
        world.count(isHurried ? "hurried drain" : "drain")
        server.stop(over: world.milliseconds(0...2_000), isHurried: isHurried) { [unowned self] in
            world.note("the server has stopped")
            serverStopped($0, linksEndAfter: .milliseconds(100))
        }
    }

    private func serverStopped(_ remains: AuditedEngine.Remains?, linksEndAfter delay: Duration) {
        self.remains = remains
        if remains != nil { world.count("kept") }
        server = nil
        for link in links { link.serverDies(after: delay) }
        world.schedule(after: world.milliseconds(50...3_000)) { [self] in
            if server == nil { startServer() }
        }
    }

    // MARK: - The actions

    private func act() {
        guard let client = clients.randomElement(using: &world.random) else { return }
        switch Int.random(in: 0..<100, using: &world.random) {
        case 0..<32: send(client, isOnlineOnly: false)
        case 32..<42: send(client, isOnlineOnly: true)
        case 42..<48: signalByREST()
        case 48..<54: burst(client)
        case 54..<73:
            guard let link = client.link, let cut = Link.Cut.allCases.randomElement(using: &world.random) else {
                return
            }
            world.count("cut \(cut)")
            world.note("cut \(cut) of \(client.name)")
            link.cut(cut)
        case 73..<82: stall(client)
        case 82..<85:
            if let redis { disturbNode(redis) } else if world.chance(2) { restart() }
        case 85..<88: forceDisconnect(by: client)
        case 88..<90:
            world.note("\(client.name) leaves")
            client.leave()
            world.count("left")
        case 90..<97: if client.isDisconnected { client.connect() }
        case 97: world.clockError += Int64.random(in: -100_000...100_000, using: &world.random)
        case 98: client.getsExpiringTokens.toggle()
        default: for client in clients { client.link?.cut(.both) }
        }
    }

    private func useHistory() {
        switch Int.random(in: 0..<10, using: &world.random) {
        case 0..<5: clients.randomElement(using: &world.random)?.readSomeHistory()
        case 5..<8:
            let seq = Seq(Int64.random(in: 1...40, using: &world.random))
            let erasure: Erasure =
                world.chance(3) ? .through(seq) : world.chance(3) ? .user(UserID("bob")) : .message(seq)
            world.note("REST erases \(erasure)")
            world.judge.mayBeErasedByREST(erasure, in: Tokens.session.rawValue)
            chosen?.turn { $0.submit(.erase(.server, erasure), to: Tokens.session) { _ in } }
            // The archive gets everything before the erasure now: messages move while clients read them.
            for client in clients { world.schedule(after: world.milliseconds(0...800)) { client.readSomeHistory() } }
        default:
            world.note("all leave")
            world.count("all left")
            for client in clients { client.leave() }
        }
    }

    private func send(_ client: SimulatedClient, isOnlineOnly: Bool) {
        let connections = clients.compactMap(\.connection)
        let to = world.chance(4) ? connections.randomElement(using: &world.random) : nil
        world.note("\(client.name) signals\(to.map { " to \($0)" } ?? "")\(isOnlineOnly ? ", online-only" : "")")
        client.signal(type: world.chance(2) ? "a" : nil, to: to, isOnlineOnly: isOnlineOnly)
    }

    private func burst(_ client: SimulatedClient) {
        let count = world.chance(3) ? 15...40 : 3...14
        for _ in 0..<Int.random(in: count, using: &world.random) { send(client, isOnlineOnly: world.chance(5)) }
        // Another message, which may arrive in the same read.
        world.schedule(after: world.milliseconds(0...20)) { [self] in
            for _ in 0..<3 { send(client, isOnlineOnly: false) }
        }
    }

    /// The client stops reading for a while; sometimes it reads a little, and often it continues to send.
    private func stall(_ client: SimulatedClient) {
        guard let link = client.link else { return }
        world.count("stall")
        world.note("\(client.name) stops reading")
        link.stall()
        let time = world.milliseconds(100...12_000)
        if world.chance(3) {
            for step in 1...4 { world.schedule(after: time * step / 5) { link.trickle() } }
        }
        if world.chance(2) { world.schedule(after: time / 4) { [self] in burst(client) } }
        if world.chance(6) { world.schedule(after: time / 2) { client.leave() } }
        world.schedule(after: time) { link.resume() }
    }

    private func signalByREST() {
        guard let server = chosen else { return }
        let index = redis == nil ? 0 : servers.firstIndex { $0 === server } ?? 0
        while backends.count <= index { backends.append(ProgramRecord("rest \(backends.count + 1)")) }
        let data = "rest-\(index + 1)-\(backends[index].steps.count)"
        let to = world.chance(4) ? clients.compactMap(\.connection).randomElement(using: &world.random) : nil
        backends[index].steps.append(ProgramRecord.Step(world.now, .sent(data)))
        unansweredRequests[data] = server
        world.note("\(data) is sent\(to.map { " to \($0)" } ?? "")")
        world.judge.sentByREST(data: data, type: nil, to: to?.rawValue)
        server.turn {
            $0.submit(.signal(.server, SignalRequest(data: data, to: to)), to: Tokens.session) { [unowned self] in
                noteRESTAnswer($0, to: data, isBroadcast: to == nil, backend: index)
            }
        }
    }

    private func noteRESTAnswer(_ outcome: SessionOutcome, to data: String, isBroadcast: Bool, backend: Int) {
        let answer: ProgramRecord.Answer =
            switch outcome {
            case .signalled(let seq): .acknowledged(seq)
            case .unavailable(mayBeCarriedOut: true): .unknown
            case .refused, .unavailable, .joined, .wasForceDisconnected, .superseded, .done, .forceDisconnected,
                .changed, .reacted, .marked, .reactors, .erased, .moderated, .announced, .restrictions, .refreshed:
                .refused
            }
        backends[backend].steps.append(ProgramRecord.Step(world.now, .answered(data, answer)))
        world.note("\(data) \(answer)")
        if case .acknowledged(_?) = answer, isBroadcast {
            world.judge.acknowledgedByREST(data: data, in: Tokens.session.rawValue, at: world.now)
        }
        unansweredRequests[data] = nil
        world.count("by REST")
    }

    private func forceDisconnect(by client: SimulatedClient) {
        guard let target = clients.randomElement(using: &world.random)?.connection else { return }
        world.note("\(target) is force-disconnected")
        world.count("force-disconnected")
        if world.chance(2) {
            // It may be carried out without an answer, if its node is lost.
            world.judge.mayBeForceDisconnected(target.rawValue)
            chosen?.turn {
                $0.submit(.forceDisconnect(.server, target), to: Tokens.session) { [unowned self] outcome in
                    guard case .forceDisconnected = outcome else { return }
                    world.judge.forceDisconnectedByREST(target.rawValue, at: world.now)
                }
            }
        } else {
            client.forceDisconnect(target)
        }
    }
}
