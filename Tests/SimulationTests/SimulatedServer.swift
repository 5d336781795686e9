import Logging
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedis
import TestSupport

@testable import SignalingServer

/// A server process in virtual time: the real hub on the real engine, with the sockets of ``Link``.
final class SimulatedServer {
    typealias VirtualHub = Hub<Environment>

    struct Environment: HubEnvironment {
        typealias Socket = ServerEnd
        unowned let world: World
        let process: Process

        var now: MonotonicInstant { world.now }
        var wallTime: WallTime { world.wallTime }
        /// Busy in every other second, so that a run has both kinds of flushes.
        var isLoopBusy: Bool { world.now.nanoseconds / 1_000_000_000 % 2 != 0 }
        func makeRandomness() -> WorldRandomness { WorldRandomness(world: world) }
        func makeTimer(_ fire: @escaping () -> Void) -> VirtualTimer {
            VirtualTimer(world: world) { [process] in
                process.perform {
                    process.hasTurn = true
                    fire()
                }
            }
        }
    }

    final class Process {
        var isRunning = true
        /// Whether something happened on the loop, so that its turn must end.
        var hasTurn = false
        /// Whether the process stands still: what happens waits.
        var isFrozen = false
        private var waiting: [() -> Void] = []

        func perform(_ work: @escaping () -> Void) {
            guard isRunning else { return }
            if isFrozen { waiting.append(work) } else { work() }
        }

        func thaw() {
            isFrozen = false
            let work = waiting
            waiting = []
            for each in work where isRunning { each() }
        }
    }

    /// The longest time that the command log takes to confirm a command.
    static let longestLogDelay = Duration.seconds(4)
    /// The longest time that several nodes take to carry out what is due: each of them may stand still for 10 s, and the
    /// loss of one takes 4 s to be known. The network between them and the log fails, too.
    static let longestNodeDelay = Duration.seconds(20)

    private unowned let world: World
    private let process = Process()
    private let log: MemoryCommandLog?
    /// The log of one of several nodes.
    struct Node {
        let log: RedisCommandLog
        let links: SimulatedLinks
    }
    let node: Node?
    let engine: AuditedEngine
    let hub: VirtualHub
    private var links: [Link] = []
    private(set) var isDraining = false
    /// The last write, to detect whether two sockets got the same bytes.
    private var lastWrite: (bytes: [UInt8], socket: UInt64) = ([], 0)

    convenience init(
        world: World, bounds: SessionState.Bounds, limits: HubLimits, log: MemoryCommandLog?,
        history: HistoryPolicy, archive: SimulatedArchive?, remains: AuditedEngine.Remains?
    ) {
        let engine = AuditedEngine(
            world: world, bounds: bounds, log: log, history: EngineHistory(policy: history, archive: archive),
            remains: remains)
        self.init(world: world, engine: engine, limits: limits, log: log, archive: archive, node: nil)
        log?.onAppend = { [weak self, weak log] in
            guard let self, let log else { return }
            // A disk is slow now and then. Then it writes everything at once, so that no command waits longer.
            let isSlow = world.chance(30)
            let time =
                isSlow ? min(world.milliseconds(200...4_000), Self.longestLogDelay) : world.milliseconds(0...20)
            world.schedule(after: time) { [self] in
                turn { [world] _ in
                    if world.chance(10) { log.askForSnapshots() }
                    let part = world.chance(3) ? Int.random(in: 1...4, using: &world.random) : .max
                    log.confirm(isSlow ? .max : part)
                }
                if log.inFlightCount > 0, isRunning { log.onAppend() }
            }
        }
    }

    /// One of several nodes.
    ///
    /// - Parameter log: the real log, over simulated links to a simulated Redis.
    convenience init(
        world: World, bounds: SessionState.Bounds, limits: HubLimits, log: RedisCommandLog, links: SimulatedLinks,
        history: HistoryPolicy, archive: SimulatedArchive?, audit: AuditedEngine.Audit
    ) {
        let engine = AuditedEngine(
            world: world, bounds: bounds, log: log, run: log.run,
            history: EngineHistory(policy: history, archive: archive), audit: audit)
        self.init(
            world: world, engine: engine, limits: limits, log: nil, archive: archive,
            node: Node(log: log, links: links))
        log.onIsolation = { [weak self] in self?.hub.standAlone($0) }
        links.enter = { [weak self] work in self?.turn { _ in work() } }
    }

    private init(
        world: World, engine: AuditedEngine, limits: HubLimits, log: MemoryCommandLog?, archive: SimulatedArchive?,
        node: Node?
    ) {
        self.world = world
        self.log = log
        self.node = node
        self.engine = engine
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        hub = Hub(
            environment: Environment(world: world, process: process), engine: engine, verifier: Tokens.verifier,
            limits: limits, logger: logger)
        // A real loop turns once before it waits.
        process.hasTurn = true
        archive?.enter = { [weak self] work in self?.turn { _ in work() } }
    }

    // MARK: - One of several nodes

    private(set) var frozenAt: MonotonicInstant?

    func freeze() {
        guard isRunning, frozenAt == nil else { return }
        process.isFrozen = true
        frozenAt = world.now
    }

    func thaw() {
        frozenAt = nil
        process.thaw()
    }

    var isRunning: Bool { process.isRunning }

    func add(_ link: Link) { links.append(link) }

    // MARK: - The loop

    /// Runs `body` as an event on the server's loop.
    func turn(_ body: @escaping (VirtualHub) -> Void) {
        process.perform { [self] in
            process.hasTurn = true
            body(hub)
        }
    }

    /// The same order as the loop's: the hub writes first, then changes of reading take effect.
    func endTurn() {
        guard isRunning, process.hasTurn, !process.isFrozen else { return }
        process.hasTurn = false
        hub.turnEnded()
        for link in links where !link.isServerGone { link.endTurn() }
        if let fault = HubInvariants.violation(in: hub) { world.fail(fault) }
    }

    func noteWrite(_ bytes: [UInt8], to socket: UInt64) {
        if bytes == lastWrite.bytes, socket != lastWrite.socket { world.count("served together") }
        if bytes.count >= hub.limits.catchUpByteCount { world.count("in parts") }
        if isDraining { world.count("served while draining") }
        lastWrite = (bytes, socket)
    }

    // MARK: - The end

    /// Stops like the real server: drains, ends, and keeps the sessions.
    func stop(
        over longest: Duration, isHurried: Bool, whenStopped: @escaping (AuditedEngine.Remains?) -> Void
    ) {
        if isDraining { return }
        isDraining = true
        if isHurried {
            world.schedule(after: longest / 3) { [self] in turn { $0.hurry() } }
        }
        turn {
            $0.drain(over: longest) { [self] in
                for peer in hub.peers.values where !peer.state.isClosing {
                    world.fail("LEAVE-5: the drain is over, and \(peer.socket.id) was not disconnected")
                }
                // Events between the end of the drain and the end of the sessions also count.
                world.schedule(after: world.milliseconds(0...20)) { [self] in
                    guard isRunning else { return }
                    hub.end()
                    engine.endSessions()
                    closeAllSockets()
                    hub.turnEnded()
                    // A clean stop waits until the log has everything, and answers the last requests by REST.
                    engine.advance(to: world.now)
                    log?.confirm()
                    engine.noteLostSockets(at: world.now)
                    guard let node else { return ended(whenStopped) }
                    node.log.close { [self] in ended(whenStopped) }
                }
            }
        }
    }

    private func ended(_ whenStopped: (AuditedEngine.Remains?) -> Void) {
        process.isRunning = false
        whenStopped(engine.remains(keeping: .max, lostAt: world.now))
    }

    /// The end of the loop: the hub is notified of the end of each socket.
    private func closeAllSockets() {
        for link in links { link.serverLoses(nil) }
    }

    func crash() -> AuditedEngine.Remains? {
        process.isRunning = false
        if let node {
            engine.noteLostSockets(at: frozenAt ?? world.now)
            node.links.die()
            return nil
        }
        return engine.remains(
            keeping: Int.random(in: 0...4, using: &world.random),
            // The next process starts after at least 50 ms.
            lostAt: world.now.advanced(by: world.milliseconds(0...50)))
    }

    /// Ends the cycles between sockets and peers.
    func tearDown() {
        for link in links { link.tearDown() }
        links = []
        hub.peers = [:]
        hub.rooms = [:]
    }
}
