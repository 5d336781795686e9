import Logging
import SignalingProtocol
import SignalingTransport
import Synchronization

enum ServerEvent: Sendable, Equatable {
    case opened(UInt64)
    case message(UInt64, String)
    case violated(UInt64, ProtocolViolation)
    case drained(UInt64)
    case closed(UInt64, UInt16?)
    case request(String, String)
    case note(String)
}

/// A server on its own loop that records what happens. It echoes messages and requests unless the test sets a closure.
final class TestServer: Sendable {
    let loop: LoopThread
    let events = EventLog<ServerEvent>()
    private let server: LoopConfined<TransportServer>
    private let handler: LoopConfined<Handler>
    let port: Int
    private let wire: Wire

    init(
        _ wire: Wire = .plain, _ configure: @Sendable (inout TransportServer.Options) -> Void = { _ in }
    ) async throws {
        self.wire = wire
        let loop = LoopThread(name: "test", logger: quietLogger)
        try loop.start()
        var options = TransportServer.Options()
        if wire == .tls { options.tls = Certificates.server }
        // On a busy machine a test may be slower than a client. Tests of these deadlines set their own.
        (options.requestTimeout, options.keepAliveTimeout) = (.long, .long)
        configure(&options)
        let (finalOptions, events) = (options, events)
        (server, handler) = try await loop.run {
            let handler = Handler(events: events)
            let server = try TransportServer(loop: loop, options: finalOptions, handler: handler)
            return (LoopConfined(server, to: loop), LoopConfined(handler, to: loop))
        }
        self.loop = loop
        let server = server
        port = try await loop.run { server.value.port }
    }

    /// Runs `body` on the loop, with the server and its handler.
    @discardableResult
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (TransportServer, Handler) throws -> Value
    ) async throws -> Value {
        try await loop.run { [server, handler] in try body(server.value, handler.value) }
    }

    func stop() async { await loop.stop() }

    /// Waits until the server has no HTTP connection.
    func waitForNoConnections() async throws {
        let ended = EventLog<Bool>()
        try await onLoop { server, _ in
            let previous = server.loop.onTurnEnded
            server.loop.onTurnEnded = {
                previous?()
                if server.connectionCount == 0 { ended.append(true) }
            }
        }
        try await ended.first("end of all connections") { $0 }
    }

    /// A connection that has sent nothing yet; over TLS its handshake is complete.
    func rawSocket(receiveBufferByteCount: Int? = nil) throws -> RawSocket {
        try RawSocket(
            port: port, receiveBufferByteCount: receiveBufferByteCount, tls: wire == .tls ? .modern : nil)
    }

    func webSocket(extra: String = "", receiveBufferByteCount: Int? = nil) throws -> RawSocket {
        try RawSocket.webSocket(
            port: port, extra: extra, receiveBufferByteCount: receiveBufferByteCount,
            tls: wire == .tls ? .modern : nil)
    }

    /// Runs a test with a server, and stops the server when the test returns or throws.
    static func with(
        _ wire: Wire = .plain, _ configure: @Sendable (inout TransportServer.Options) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = try await TestServer(wire, configure)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    final class Handler: TransportServerHandler {
        let events: EventLog<ServerEvent>
        var sockets: [UInt64: ServerSocket] = [:]
        var exchanges: [HTTPExchange] = []
        var streams: [HTTPStream] = []
        var onOpened: ((ServerSocket) -> Void)?
        var onMessage: ((ServerSocket, UnsafeRawBufferPointer) -> Void)?
        var onViolation: ((ServerSocket, ProtocolViolation) -> Void)?
        var onDrained: ((ServerSocket) -> Void)?
        var onClosed: (() -> Void)?
        var onRequest: ((HTTPExchange) -> Void)?
        private let frame = OutboundFrame()

        init(events: EventLog<ServerEvent>) { self.events = events }

        func socketOpened(_ socket: ServerSocket) {
            sockets[socket.id] = socket
            events.append(.opened(socket.id))
            onOpened?(socket)
        }

        func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {
            let text = String(decoding: message.prefix(200), as: UTF8.self)
            events.append(.message(socket.id, text))
            if let onMessage { return onMessage(socket, message) }
            frame.removeAll()
            frame.append(contentsOf: message)
            socket.write(frame)
        }

        func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {
            events.append(.violated(socket.id, violation))
            onViolation?(socket, violation)
        }

        func socketDrained(_ socket: ServerSocket) {
            events.append(.drained(socket.id))
            onDrained?(socket)
        }

        func socketClosed(_ socket: ServerSocket, code: UInt16?) {
            sockets[socket.id] = nil
            events.append(.closed(socket.id, code))
            onClosed?()
        }

        func requestReceived(_ exchange: HTTPExchange) {
            events.append(.request(exchange.method.rawValue, exchange.path))
            if let onRequest { return onRequest(exchange) }
            let body = "\(exchange.method.rawValue) \(exchange.path) " + String(decoding: exchange.body, as: UTF8.self)
            exchange.respond(HTTPResponse(status: 200, contentType: "text/plain", text: body))
        }
    }
}

let quietLogger: Logger = {
    var logger = Logger(label: "transport-tests")
    logger.logLevel = .critical
    return logger
}()

func isClosed(_ event: ServerEvent) -> Bool {
    if case .closed = event { return true }
    return false
}

extension Duration {
    /// Longer than any step of a test takes, also on a machine that is busy with all other tests.
    static let long = Duration.seconds(600)
    /// A deadline of the server that a test waits for, and before which its client has something to do.
    static let short = Duration.milliseconds(1_500)
}
