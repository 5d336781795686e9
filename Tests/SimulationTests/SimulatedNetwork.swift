import SignalingProtocol

@testable import SignalingClient

/// One socket: two streams, each in order, each of which may be slow, stand still, or swallow everything.
final class Link {
    struct Stream {
        /// What is put in is never seen again, and nobody is told (a half-open connection).
        var isDead = false
        var lastArrival = MonotonicInstant(nanoseconds: 0)
        var slowness = Duration.zero
    }

    enum Cut: CaseIterable { case both, clientOnly, serverOnly, silentUp, silentDown, silent }

    /// Bytes that a reader who stands still lets pile up before the writer is told.
    static let capacity = 600

    let id: Int
    unowned let world: World
    unowned let client: SimulatedClient
    let generation: Int
    let server: SimulatedServer
    private var up = Stream()
    private var down = Stream()
    private var isStalled = false
    private var held: [[UInt8]] = []
    private var heldClose: UInt16??
    private var isFull = false
    /// Whose end is closed: it hears nothing more.
    private(set) var isClientGone = false
    private(set) var isServerGone = false

    init(id: Int, world: World, client: SimulatedClient, generation: Int, server: SimulatedServer) {
        self.id = id
        self.world = world
        self.client = client
        self.generation = generation
        self.server = server
    }

    func slow(by duration: Duration) { up.slowness = duration }

    /// Hands something over when it has travelled; what was put in before comes before it.
    private func travel(_ stream: inout Stream, _ arrive: @escaping () -> Void) {
        if stream.isDead { return }
        let delay = Duration.milliseconds(Int.random(in: 1...60, using: &world.random)) + stream.slowness
        let arrival = max(stream.lastArrival, world.now.advanced(by: delay))
        stream.lastArrival = arrival
        world.schedule(at: arrival, arrive)
    }

    // MARK: - Up

    func opens() {
        travel(&up) { [self] in
            guard world.server === server else { return }
            server.opened(self)
        }
        var delay = up
        travel(&delay) { [self] in
            if world.server === server { client.hear(.socketOpened, generation) } else { clientLoses(nil) }
        }
    }

    func clientSends(_ message: ClientMessage) {
        travel(&up) { [self] in
            if !up.isDead, !isServerGone { server.received(message, on: self) }
        }
    }

    func clientCloses(code: UInt16) {
        isClientGone = true
        travel(&up) { [self] in if !up.isDead { serverLoses(code) } }
    }

    private func serverLoses(_ code: UInt16?) {
        if isServerGone { return }
        isServerGone = true
        if world.server === server { server.closed(self, code: code) }
    }

    // MARK: - Down

    /// Whether the socket takes more.
    func serverWrites(_ bytes: [UInt8]) -> Bool {
        if isServerGone { return true }
        if isStalled || down.isDead {
            held.append(bytes)
            isFull = held.reduce(0) { $0 + $1.count } > Self.capacity
            return !isFull
        }
        travel(&down) { [self] in arrive(bytes) }
        return true
    }

    private func arrive(_ bytes: [UInt8]) {
        if down.isDead || isClientGone { return }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let message = world.decoded(Array(line)) else { continue }
            client.hear(.received(message), generation)
        }
    }

    /// The server's close; its end is told at once, as a library does that flushes in the background.
    func serverCloses(code: UInt16) {
        if isStalled || down.isDead { heldClose = code } else { travel(&down) { [self] in clientLoses(code) } }
        world.schedule(at: world.now) { [self] in serverLoses(nil) }
    }

    private func clientLoses(_ code: UInt16?) {
        if isClientGone || down.isDead { return }
        isClientGone = true
        client.hear(.socketClosed(code: code), generation)
    }

    // MARK: - Faults

    func stall() { isStalled = true }

    func goOn() {
        guard isStalled else { return }
        isStalled = false
        if down.isDead { return }
        for bytes in held { travel(&down) { [self] in arrive(bytes) } }
        held = []
        if let code = heldClose { travel(&down) { [self] in clientLoses(code) } }
        guard isFull else { return }
        isFull = false
        world.schedule(at: world.now) { [self] in if !isServerGone { server.drained(self) } }
    }

    func cut(_ cut: Cut) {
        switch cut {
        case .both:
            world.schedule(at: world.now) { [self] in serverLoses(nil) }
            hangUp()
        case .clientOnly:
            hangUp()
            up.isDead = true
        case .serverOnly:
            world.schedule(at: world.now) { [self] in serverLoses(nil) }
            down.isDead = true
        case .silentUp: up.isDead = true
        case .silentDown: down.isDead = true
        case .silent:
            up.isDead = true
            down.isDead = true
        }
    }

    /// The client's end is lost, and with it what was on its way.
    private func hangUp() {
        world.schedule(at: world.now) { [self] in
            clientLoses(nil)
            down.isDead = true
        }
    }

    func serverDies(after delay: Duration) {
        world.schedule(at: world.now.advanced(by: delay)) { [self] in clientLoses(nil) }
    }
}
