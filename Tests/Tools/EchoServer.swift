import Logging
import SignalingTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The echoes that wait until their socket has drained.
private final class Waiting {
    var messages: [[UInt8]] = []
}

private final class Echo: TransportServerHandler {
    private let frame = OutboundFrame()

    func socketOpened(_ socket: ServerSocket) { socket.attachment = Waiting() }

    func socket(_ socket: ServerSocket, received message: UnsafeRawBufferPointer) {
        guard let waiting = socket.attachment as? Waiting else { return }
        if !waiting.messages.isEmpty || write(message, to: socket) == .refused {
            waiting.messages.append(Array(message))
            socket.isReading = false
        }
    }

    func socket(_ socket: ServerSocket, violated violation: ProtocolViolation) {
        switch violation {
        case .binaryMessage: socket.close(code: 1003, reason: "text messages only")
        case .messageTooBig, .tooManyFragments: socket.close(code: 1009, reason: "message too big")
        case .invalidUTF8: socket.close(code: 1007, reason: "text is not UTF-8")
        }
    }

    func socketDrained(_ socket: ServerSocket) {
        guard let waiting = socket.attachment as? Waiting else { return }
        while !waiting.messages.isEmpty, !socket.isBacklogged {
            let message = waiting.messages.removeFirst()
            _ = message.withUnsafeBytes { write($0, to: socket) }
        }
        if waiting.messages.isEmpty { socket.isReading = true }
    }

    func socketClosed(_ socket: ServerSocket, code: UInt16?) {}

    func requestReceived(_ exchange: HTTPExchange) {
        exchange.respond(HTTPResponse(status: 404, contentType: "text/plain", text: "only a WebSocket\n"))
    }

    private func write(_ message: UnsafeRawBufferPointer, to socket: ServerSocket) -> WriteOutcome {
        frame.removeAll(keepingCapacity: message.count < 1 << 20)
        frame.append(contentsOf: message)
        return socket.write(frame)
    }
}

/// `echo-server` echoes text messages over the transport, for the Autobahn test suite. It prints its port in one line.
/// Its limits are those of the suite's largest messages, not the product's.
enum EchoServer {
    static func run() async throws {
        var options = TransportServer.Options(port: 0)
        options.maxMessageByteCount = 64 << 20
        options.maxFragmentCount = 10_000_000
        var logger = Logger(label: "echo")
        logger.logLevel = .warning
        let loop = LoopThread(name: "echo", logger: logger)
        try loop.start()
        let settings = options
        let server = try await loop.run {
            LoopConfined(try TransportServer(loop: loop, options: settings, handler: Echo()), to: loop)
        }
        print(try await loop.run { server.value.port })
        fflush(nil)
        // The loop has a thread of its own. A signal ends the program.
        while true { pause() }
    }
}
