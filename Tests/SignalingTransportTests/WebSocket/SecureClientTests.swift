import SignalingTransport
import Testing

@Suite("A client over TLS", .timeLimit(.minutes(5)))
struct SecureClientTests {
    /// Connects, sends `text`, waits for its echo and closes. Returns the handler's calls and the error, if any.
    private func exchange(
        to server: TestServer, host: String, trusting file: String?, sending text: String
    ) async throws -> ([ClientEvent], TransportError?) {
        let events = EventLog<ClientEvent>()
        let errors = EventLog<TransportError>()
        let socket = try await server.loop.run {
            let handler = RecordingClient(events: events, errors: errors)
            handler.onOpened = { socket in
                let frame = OutboundFrame()
                frame.append(contentsOf: text.utf8)
                socket.write(frame)
            }
            var options = ClientSocket.Options()
            options.trustedCertificatesFile = file
            let url = "wss://\(host):\(server.port)/v1/signaling"
            return LoopConfined(
                try ClientSocket.connect(loop: server.loop, url: url, options: options, handler: handler),
                to: server.loop)
        }
        let first = try await events.first {
            if case .failed = $0 { true } else { $0 == .message(text.utf8.count, String(text.prefix(50))) }
        }
        if case .failed = first { return (events.all, errors.all.first) }
        try await server.loop.run { socket.value.close(code: 4321, reason: "goodbye") }
        try await events.first { $0 == .closed(nil, "") }
        return (events.all, nil)
    }

    @Test("echoes with a trusted certificate, by name and by address", arguments: ["localhost", "127.0.0.1"])
    func trust(host: String) async throws {
        try await TestServer.with(.tls, { $0.maxMessageByteCount = 1_048_576 }) { server in
            for count in [5, 300, 65_536, 1_048_576] {
                let text = String(repeating: "s", count: count)
                let (events, _) = try await exchange(
                    to: server, host: host, trusting: Certificates.authority, sending: text)
                // A large one may have been backlogged in between.
                let expected: [ClientEvent] = [.opened, .message(count, String(text.prefix(50))), .closed(nil, "")]
                #expect(events.filter { $0 != .drained } == expected)
            }
            for id in UInt64(1)...4 { try await server.events.first { $0 == .closed(id, 4321) } }
        }
    }

    @Test("a certificate of an authority that is not trusted is refused, and the message says why")
    func unknownAuthority() async throws {
        try await TestServer.with(.tls) { server in
            for file in [nil, Certificates.otherAuthority] {
                let (events, error) = try await exchange(to: server, host: "localhost", trusting: file, sending: "x")
                #expect(events == [.failed(.connectFailed)])
                #expect(
                    error?.message.hasPrefix(
                        "The server's certificate is not trusted: unable to get local issuer certificate. Check")
                        == true)
            }
            #expect(server.events.all == [])
        }
    }

    @Test("a certificate for another host is refused, and the message says why")
    func wrongName() async throws {
        try await TestServer.with(.plain, { $0.tls = Certificates.elsewhere }) { server in
            for (host, why) in [("localhost", "hostname mismatch"), ("127.0.0.1", "IP address mismatch")] {
                let (events, error) = try await exchange(
                    to: server, host: host, trusting: Certificates.authority, sending: "x")
                #expect(events == [.failed(.connectFailed)])
                #expect(error?.message.hasPrefix("The server's certificate is not trusted: \(why). Check") == true)
            }
            #expect(server.events.all == [])
        }
    }

    @Test("wss to a server without TLS fails in the TLS handshake")
    func plainServer() async throws {
        try await TestServer.with(.plain) { server in
            let (events, error) = try await exchange(
                to: server, host: "localhost", trusting: Certificates.authority, sending: "x")
            #expect(events == [.failed(.connectFailed)])
            #expect(error?.message.hasPrefix("Cannot connect: the TLS handshake failed. Check") == true)
        }
    }

    @Test("certificates are verified correctly while other loops start")
    func otherLoops() async throws {
        try await TestServer.with(.tls) { server in
            async let others: Void = {
                for _ in 0..<40 { try await TestServer.with { _ in } }
            }()
            for _ in 0..<40 {
                let (events, _) = try await exchange(
                    to: server, host: "localhost", trusting: Certificates.authority, sending: "hello")
                #expect(events.first == .opened)
            }
            try await others
        }
    }
}
