import Logging
import SignalingCore
import SignalingProtocol

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

    private unowned let world: World
    private let process = Process()
    let engine: AuditedEngine
    let hub: VirtualHub
    private var links: [Link] = []
    private(set) var isDraining = false
    /// The last write, to detect whether two sockets got the same bytes.
    private var lastWrite: (bytes: [UInt8], socket: UInt64) = ([], 0)

    init(world: World, bounds: SessionState.Bounds, limits: HubLimits, remains: AuditedEngine.Remains?) {
        self.world = world
        engine = AuditedEngine(world: world, bounds: bounds, remains: remains)
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        hub = Hub(
            environment: Environment(world: world, process: process), engine: engine, verifier: Tokens.verifier,
            limits: limits, logger: logger)
        // A real loop turns once before it waits.
        process.hasTurn = true
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
        over longest: Duration, isHurried: Bool, keepsState: Bool,
        whenStopped: @escaping (AuditedEngine.Remains?) -> Void
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
                    let remains = keepsState ? engine.remains() : nil
                    if !keepsState { engine.endSessions() }
                    closeAllSockets()
                    hub.turnEnded()
                    process.isRunning = false
                    whenStopped(remains)
                }
            }
        }
    }

    /// The end of the loop: the hub is notified of the end of each socket.
    private func closeAllSockets() {
        for link in links { link.serverLoses(nil) }
    }

    func crash() { process.isRunning = false }

    /// Ends the cycles between sockets and peers.
    func tearDown() {
        for link in links { link.tearDown() }
        links = []
        hub.peers = [:]
        hub.rooms = [:]
    }
}
