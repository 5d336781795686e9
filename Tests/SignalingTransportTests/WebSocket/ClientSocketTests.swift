import SignalingTransport
import Testing

enum ClientEvent: Sendable, Equatable {
    case opened
    case message(Int, String)
    case drained
    case closed(UInt16?, String)
    case failed(TransportError.Code)
}

final class RecordingClient: ClientSocketHandler {
    let events: EventLog<ClientEvent>
    let errors: EventLog<TransportError>
    var onOpened: ((ClientSocket) -> Void)?
    init(events: EventLog<ClientEvent>, errors: EventLog<TransportError> = EventLog()) {
        self.events = events
        self.errors = errors
    }

    func clientSocketOpened(_ socket: ClientSocket) {
        events.append(.opened)
        onOpened?(socket)
    }
    func clientSocket(_ socket: ClientSocket, received message: UnsafeRawBufferPointer) {
        events.append(.message(message.count, String(decoding: message.prefix(50), as: UTF8.self)))
    }
    func clientSocketDrained(_ socket: ClientSocket) { events.append(.drained) }
    func clientSocketClosed(_ socket: ClientSocket, code: UInt16?, reason: String) {
        events.append(.closed(code, reason))
    }
    func clientSocketFailed(_ socket: ClientSocket, error: TransportError) {
        errors.append(error)
        events.append(.failed(error.code))
    }
}

@Suite("A client's WebSocket", .timeLimit(.minutes(5)))
struct ClientSocketTests {
    private func connect(
        _ loop: LoopThread, _ url: String, options: ClientSocket.Options = .init(),
        onOpened: (@Sendable (ClientSocket) -> Void)? = nil
    ) async throws -> (LoopConfined<ClientSocket>, EventLog<ClientEvent>) {
        let events = EventLog<ClientEvent>()
        let socket = try await loop.run {
            let handler = RecordingClient(events: events)
            handler.onOpened = onOpened
            let socket = try ClientSocket.connect(loop: loop, url: url, options: options, handler: handler)
            #expect(events.all == [])
            return LoopConfined(socket, to: loop)
        }
        return (socket, events)
    }

    private func send(_ text: String) -> @Sendable (ClientSocket) -> Void {
        { socket in
            let frame = OutboundFrame()
            frame.append(contentsOf: text.utf8)
            socket.write(frame)
            #expect(frame.isEmpty)
        }
    }

    @Test("opens, sends, receives and closes; both sides see the codes", arguments: [5, 300, 65_536])
    func echo(count: Int) async throws {
        try await TestServer.with { server in
            let text = String(repeating: "x", count: count)
            let (socket, events) = try await connect(
                server.loop, "ws://127.0.0.1:\(server.port)/v1/signaling", onOpened: send(text))
            try await events.first { $0 == .message(count, String(text.prefix(50))) }
            try await server.loop.run { socket.value.close(code: 4321, reason: "bye") }
            try await events.first { $0 == .closed(nil, "") }
            try await server.events.first { $0 == .closed(1, 4321) }
            #expect(events.all.first == .opened && events.all.count == 3)
        }
    }

    @Test("the server's code and reason arrive")
    func serverCloses() async throws {
        try await TestServer.with { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, _ in socket.close(code: 4502, reason: "forced to disconnect") }
            }
            let (socket, events) = try await connect(
                server.loop, "ws://localhost:\(server.port)/v1/signaling", onOpened: send("go"))
            try await events.first { $0 == .closed(4502, "forced to disconnect") }
            withExtendedLifetime(socket) {}
        }
    }

    @Test("a large message from the server arrives whole; one over the limit closes with 1009")
    func largeMessages() async throws {
        try await TestServer.with { server in
            try await server.onLoop { _, handler in
                handler.onMessage = { socket, _ in
                    let frame = OutboundFrame()
                    frame.append(contentsOf: repeatElement(0x61, count: 2_000_000))
                    socket.write(frame)
                }
            }
            let url = "ws://127.0.0.1:\(server.port)/v1/signaling"
            let (first, events) = try await connect(server.loop, url, onOpened: send("go"))
            try await events.first { $0 == .message(2_000_000, String(repeating: "a", count: 50)) }
            var options = ClientSocket.Options()
            options.maxMessageByteCount = 1_999_999
            let (second, strict) = try await connect(server.loop, url, options: options, onOpened: send("go"))
            // If the server is backlogged when the close frame arrives, libwebsockets cuts instead of answering.
            try await server.events.first { $0 == .closed(2, 1009) || $0 == .closed(2, nil) }
            try await strict.first { $0 == .closed(nil, "") }
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test("a failed connect is reported once, after the call, with its code")
    func failures() async throws {
        try await TestServer.with { server in
            // Port 1 is never assigned by the system; a port that was just freed could be another test's.
            let refused = try await connect(server.loop, "ws://127.0.0.1:1/v1/signaling")
            try await refused.1.first { $0 == .failed(.connectFailed) }
            let lost = try await connect(server.loop, "ws://127.0.0.1:\(server.port)/elsewhere")
            try await lost.1.first { $0 == .failed(.handshakeRefused) }
            let unnamed = try await connect(server.loop, "ws://no-such-host.invalid/")
            try await unnamed.1.first { $0 == .failed(.connectFailed) }
            let plain = try await connect(server.loop, "wss://127.0.0.1:\(server.port)/v1/signaling")
            try await plain.1.first { $0 == .failed(.connectFailed) || $0 == .failed(.handshakeRefused) }
            #expect([refused.1, lost.1, unnamed.1, plain.1].allSatisfy { $0.all.count == 1 })
        }
    }

    @Test("a server that accepts and sends nothing is a timeout")
    func silentServer() async throws {
        try await TestServer.with { server in
            var (patient, hasty) = (ClientSocket.Options(), ClientSocket.Options())
            (patient.connectTimeout, hasty.connectTimeout) = (.long, .milliseconds(200))
            // The connections are in the backlog and are never accepted.
            try await withSilentListener { port in
                let url = "ws://127.0.0.1:\(port)/x"
                let waiting = try await connect(server.loop, url, options: patient)
                let socket = try await connect(server.loop, url, options: hasty)
                try await socket.1.first { $0 == .failed(.connectTimedOut) }
                #expect(socket.1.all.count == 1)
                #expect(waiting.1.all.isEmpty, "its own time decides")
                withExtendedLifetime((waiting, socket)) {}
            }
        }
    }

    @Test("terminate and close end an attempt to connect; the loop may stop at any time")
    func endedWhileConnecting() async throws {
        try await TestServer.with { server in
            for isClose in [true, false] {
                let (socket, events) = try await connect(
                    server.loop, "ws://127.0.0.1:\(server.port)/v1/signaling")
                try await server.loop.run {
                    if isClose { socket.value.close(code: 1000, reason: "") } else { socket.value.terminate() }
                }
                try await events.first { $0 == .failed(.connectFailed) || $0 == .closed(nil, "") }
            }
            let open = try await connect(server.loop, "ws://127.0.0.1:\(server.port)/v1/signaling")
            try await open.1.first { $0 == .opened }
            let opening = try await connect(server.loop, "ws://127.0.0.1:\(server.port)/v1/signaling")
            await server.stop()
            try await open.1.first { $0 == .closed(nil, "") }
            #expect([1, 2].contains(opening.1.all.count))
        }
    }

    @Test("a certificates file that cannot be read is an error of connect")
    func badCertificates() async throws {
        let loop = LoopThread(name: "ca", logger: quietLogger)
        try loop.start()
        await #expect(throws: TransportError(.libraryFailed, "")) {
            try await loop.run {
                var options = ClientSocket.Options()
                options.trustedCertificatesFile = "/nowhere/certificates.pem"
                _ = try ClientSocket.connect(
                    loop: loop, url: "wss://127.0.0.1:1/", options: options,
                    handler: RecordingClient(events: EventLog()))
            }
        }
        await loop.stop()
    }

    @Test(
        "a URL that is not a WebSocket URL is an error of connect, and names no password",
        arguments: [
            "", "http://a/", "ws://", "ws://a:0/", "ws://a:70000/", "ws://a:x/", "ws://u@a/", "ws://a/#f", "ws://[::1/",
            "ws://a b/", "ws://ä/", "http://user:secret@a/",
        ])
    func badURLs(url: String) async throws {
        let loop = LoopThread(name: "url", logger: quietLogger)
        try loop.start()
        let error = await #expect(throws: TransportError.self) {
            try await loop.run {
                _ = try ClientSocket.connect(loop: loop, url: url, handler: RecordingClient(events: EventLog()))
            }
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains(url.contains("@") ? "secret" : url.debugDescription) == !url.contains("@"))
        await loop.stop()
    }
}
