import Logging
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import TestSupport

@testable import SignalingServer

/// A socket that records what the hub does to it.
final class RecordingSocket: HubSocket {
    let id: UInt64
    var attachment: AnyObject?
    var sessionParameter: String?
    var isReading = true
    var messageByteLimit = Limits.messageByteCount
    let acknowledgedByteCount: UInt64 = 0
    var hasHungUp = false
    let isBacklogged = false
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
            if case .disconnected(.networkDisconnected, let reconnect, _) = message { reconnect } else { nil }
        }
    }
}

/// A hub, and clients of which only the sockets exist.
final class HubRoom {
    struct Environment: HubEnvironment {
        typealias Socket = RecordingSocket
        unowned let world: World
        var now: MonotonicInstant { world.now }
        var wallTime: WallTime { world.wallTime }
        var isLoopBusy: Bool { false }
        func makeRandomness() -> WorldRandomness { WorldRandomness(world: world) }
        func makeTimer(_ fire: @escaping () -> Void) -> VirtualTimer { VirtualTimer(world: world, fire: fire) }
    }

    let world = World(seed: 2, isTraced: false)
    let engine: MemoryEngine
    let hub: Hub<Environment>
    private var count: UInt64 = 0

    init(perClient: Duration = .zero, bounds: SessionState.Bounds = .init()) {
        var limits = HubLimits()
        limits.drain.perClient = perClient
        engine = MemoryEngine(bounds: bounds) { Epoch("e") }
        hub = Hub(
            environment: Environment(world: world), engine: engine, verifier: Tokens.verifier, limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // A real loop turns once before it waits.
        hub.turnEnded()
    }

    func token(for session: SessionID) throws -> String {
        let request = AccessRequest(
            sessionId: session, role: .publisher, connectionData: "", lifetime: .seconds(1_000))
        return try T1Token.make(request, project: Tokens.project, now: world.wallTime, using: &world.random)
    }

    /// A connected client.
    func connect(to session: SessionID) throws -> RecordingSocket {
        connect(to: session, token: try token(for: session))
    }

    /// - Parameters:
    ///   - resume: the claim to an earlier connection, in JSON.
    ///   - options: those of the connect, in JSON.
    ///   - hasHungUp: whether the client has closed its side before the server reads the connect.
    func connect(
        to session: SessionID, token: String, resume: String? = nil, options: String? = nil, hasHungUp: Bool = false
    ) -> RecordingSocket {
        count += 1
        let socket = RecordingSocket(id: count) { [world] in world.decoded($0) }
        socket.hasHungUp = hasHungUp
        hub.socketOpened(socket)
        let claim = (resume.map { #","resume":\#($0)"# } ?? "") + (options.map { #","options":\#($0)"# } ?? "")
        let line = #"{"op":"connect","id":1,"apiKey":"100","sessionId":"\#(session)","token":"\#(token)"\#(claim)}"#
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
