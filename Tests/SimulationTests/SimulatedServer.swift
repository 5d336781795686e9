import Logging
import SignalingCore
import SignalingProtocol
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
        func makeRandomness() -> WorldRandomness { WorldRandomness(world: world) }
        func makeTimer(_ fire: @escaping () -> Void) -> VirtualTimer {
            VirtualTimer(world: world) { [process] in
                guard process.isRunning else { return }
                process.hasTurn = true
                fire()
            }
        }
    }

    final class Process {
        var isRunning = true
        /// Whether something happened on the loop, so that its turn must end.
        var hasTurn = false
    }

    /// The longest time that the command log takes to confirm a command.
    static let longestLogDelay = Duration.seconds(4)

    private unowned let world: World
    private let process = Process()
    private let log: MemoryCommandLog?
    let engine: AuditedEngine
    let hub: VirtualHub
    private var links: [Link] = []
    private(set) var isDraining = false
    /// The last write, to detect whether two sockets got the same bytes.
    private var lastWrite: (bytes: [UInt8], socket: UInt64) = ([], 0)

    init(
        world: World, bounds: SessionState.Bounds, limits: HubLimits, log: MemoryCommandLog?,
        remains: AuditedEngine.Remains?
    ) {
        self.world = world
        self.log = log
        engine = AuditedEngine(world: world, bounds: bounds, log: log, remains: remains)
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        hub = Hub(
            environment: Environment(world: world, process: process), engine: engine, verifier: Tokens.verifier,
            limits: limits, logger: logger)
        // A real loop turns once before it waits.
        process.hasTurn = true
        log?.onAppend = { [weak self, weak log] in
            guard let self, let log else { return }
            // A disk is slow now and then.
            let time =
                world.chance(30)
                ? min(world.milliseconds(200...4_000), Self.longestLogDelay) : world.milliseconds(0...20)
            world.schedule(after: time) { [self] in
                turn { _ in
                    if world.chance(10) { log.askForSnapshots() }
                    log.confirm(world.chance(3) ? Int.random(in: 1...4, using: &world.random) : .max)
                }
                if log.inFlightCount > 0, isRunning { log.onAppend() }
            }
        }
    }

    var isRunning: Bool { process.isRunning }

    func add(_ link: Link) { links.append(link) }

    // MARK: - The loop

    /// Runs `body` as an event on the server's loop.
    func turn(_ body: (VirtualHub) -> Void) {
        guard isRunning else { return }
        process.hasTurn = true
        body(hub)
    }

    /// The same order as the loop's: the hub writes first, then changes of reading take effect.
    func endTurn() {
        guard isRunning, process.hasTurn else { return }
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
                    process.isRunning = false
                    whenStopped(engine.remains(keeping: .max, lostAt: world.now))
                }
            }
        }
    }

    /// The end of the loop: the hub is notified of the end of each socket.
    private func closeAllSockets() {
        for link in links { link.serverLoses(nil) }
    }

    func crash() -> AuditedEngine.Remains? {
        process.isRunning = false
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
