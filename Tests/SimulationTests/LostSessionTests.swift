import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import TestSupport
import Testing

@testable import SignalingServer

/// A socket that records what the hub does to it.
private final class RecordingSocket: HubSocket {
    let id: UInt64
    var attachment: AnyObject?
    var isReading = true
    var messageByteLimit = Limits.messageByteCount
    let acknowledgedByteCount: UInt64 = 0
    let remoteAddress = "192.0.2.1"
    private(set) var messages: [ServerMessage] = []
    private(set) var code: UInt16?
    private let decode: ([UInt8]) -> ServerMessage?

    init(id: UInt64, decode: @escaping ([UInt8]) -> ServerMessage?) {
        self.id = id
        self.decode = decode
    }

    func markJoined() {}

    func write(_ frame: OutboundFrame, as part: MessagePart) -> WriteOutcome {
        note(frame)
        return .sent
    }

    func close(code: UInt16, reason: String, farewell: OutboundFrame?) {
        self.code = code
        if let farewell { note(farewell) }
    }

    private func note(_ frame: OutboundFrame) {
        let bytes = frame.withUnsafeBytes { Array($0) }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let message = decode(Array(line)) { messages.append(message) }
        }
    }

    /// What the client was told with `disconnected`.
    var farewells: [Reconnect] {
        messages.compactMap { message in
            if case .disconnected(.networkDisconnected, let reconnect) = message { reconnect } else { nil }
        }
    }
}

/// A hub, and clients of which only the sockets exist.
private final class Room {
    struct Environment: HubEnvironment {
        typealias Socket = RecordingSocket
        unowned let world: World
        var now: MonotonicInstant { world.now }
        var wallTime: WallTime { world.wallTime }
        func makeRandomness() -> WorldRandomness { WorldRandomness(world: world) }
        func makeTimer(_ fire: @escaping () -> Void) -> VirtualTimer { VirtualTimer(world: world, fire: fire) }
    }

    let world = World(seed: 2, isTraced: false)
    let engine: MemoryEngine
    let hub: Hub<Environment>
    private var count: UInt64 = 0

    init(perClient: Duration) {
        var limits = HubLimits()
        limits.drain.perClient = perClient
        engine = MemoryEngine { Epoch("e") }
        hub = Hub(
            environment: Environment(world: world), engine: engine, verifier: Tokens.verifier, limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // A real loop turns once before it waits.
        hub.turnEnded()
    }

    /// A connected client.
    func connect(to session: SessionID) throws -> RecordingSocket {
        count += 1
        let socket = RecordingSocket(id: count) { [world] in world.decoded($0) }
        hub.socketOpened(socket)
        let request = AccessRequest(
            sessionId: session, role: .publisher, connectionData: "", lifetime: .seconds(1_000))
        let token = try T1Token.make(request, project: Tokens.project, now: world.wallTime, using: &world.random)
        let line = #"{"op":"connect","id":1,"apiKey":"100","sessionId":"\#(session)","token":"\#(token)"}"#
        Array("\(line)\n".utf8).withUnsafeBytes { hub.socket(socket, received: $0) }
        hub.turnEnded()
        return socket
    }

    /// Ends the cycles between sockets and peers.
    func tearDown() {
        world.removeAllEvents()
        hub.peers = [:]
        hub.rooms = [:]
    }
}

@Suite("A hub that has lost a session")
struct LostSessionTests {
    @Test("LEAVE-4, RES-13: its clients get 1001 and come back over a time, and other sessions go on")
    func lost() throws {
        let room = Room(perClient: .seconds(1))
        defer { room.tearDown() }
        let other = SessionIDCodec.make(for: Tokens.project, now: room.world.wallTime, using: &room.world.random)
        let sockets = try (0..<8).map { _ in try room.connect(to: Tokens.session) }
        let bystander = try room.connect(to: other)
        #expect((sockets + [bystander]).allSatisfy { $0.code == nil })
        #expect(room.engine.connections(of: Tokens.session).count == 8)
        room.hub.engine(lost: Tokens.session)
        room.hub.turnEnded()
        #expect(sockets.map(\.code) == Array(repeating: 1001, count: 8))
        #expect(sockets.map(\.farewells.count) == Array(repeating: 1, count: 8))
        let waits = sockets.flatMap(\.farewells).compactMap { if case .after(let wait) = $0 { wait } else { nil } }
        #expect(waits.count == 8 && waits.allSatisfy { (.zero ... .seconds(8)).contains($0) })
        // They do not come back at one moment.
        #expect((waits.max() ?? .zero) - (waits.min() ?? .zero) > .seconds(1))
        #expect(bystander.code == nil && bystander.farewells.isEmpty)
        #expect(room.engine.connections(of: other).count == 1)
    }

    @Test("a session without clients may be lost")
    func empty() {
        let room = Room(perClient: .seconds(1))
        defer { room.tearDown() }
        room.hub.engine(lost: Tokens.session)
        #expect(room.hub.peers.isEmpty)
    }
}
