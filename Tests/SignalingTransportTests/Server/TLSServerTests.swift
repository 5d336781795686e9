import CLibwebsockets
import SignalingProtocol
import SignalingTransport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("A server with TLS", .timeLimit(.minutes(5)))
struct TLSServerTests {
    // MARK: Start

    private func error(_ certificate: String, _ key: String) async throws -> TransportError? {
        let loop = LoopThread(name: "tls", logger: quietLogger)
        try loop.start()
        let error = try await loop.run { () -> TransportError? in
            var options = TransportServer.Options()
            options.tls = TransportServer.TLS(certificateFile: certificate, privateKeyFile: key)
            do throws(TransportError) {
                _ = try TransportServer(
                    loop: loop, options: options, handler: TestServer.Handler(events: EventLog()))
                return nil
            } catch {
                return error
            }
        }
        await loop.stop()
        return error
    }

    @Test("an error about the certificate or key names the file, the reason and what to do")
    func files() async throws {
        let (certificate, key) = (Certificates.server.certificateFile, Certificates.server.privateKeyFile)
        let (missing, folder) = ("/nowhere/x.pem", Certificates.path(""))
        let other = Certificates.elsewhere.privateKeyFile
        let cases: [(String, String, TransportError.Code, String)] = [
            (
                missing, key, .certificateUnusable,
                "Cannot read the certificate \(missing): No such file or directory. Check the path"
            ),
            (key, key, .certificateUnusable, "Cannot use the certificate \(key): no start line."),
            (folder, key, .certificateUnusable, "Cannot use the certificate \(folder): "),
            (certificate, missing, .privateKeyUnusable, "Cannot read the private key \(missing): No such file"),
            (
                certificate, certificate, .privateKeyUnusable,
                "Cannot use the private key \(certificate): "
            ),
            (
                certificate, other, .privateKeyMismatch,
                "The private key \(other) does not match the certificate \(certificate). Use the key"
            ),
        ]
        for (certificate, key, code, start) in cases {
            let found = try await error(certificate, key)
            #expect(found?.code == code)
            #expect(found?.message.hasPrefix(start) == true, "\(found?.message ?? "")")
        }
        for name in ["encrypted.key.pem", "encrypted-traditional.key.pem"] {
            let key = Certificates.path(name)
            let found = try await error(certificate, key)
            #expect(found?.code == .privateKeyEncrypted)
            #expect(found?.message.hasPrefix("The private key \(key) has a passphrase. Use a key without one") == true)
        }
        #expect(try await error(certificate, key) == nil)
    }

    @Test("a loop has one certificate; plain servers run beside it")
    func oneCertificate() async throws {
        try await TestServer.with { plain in
            let ports = try await plain.onLoop { first, handler -> [Int] in
                var options = TransportServer.Options()
                options.tls = Certificates.server
                let second = try TransportServer(loop: first.loop, options: options, handler: handler)
                let third = try TransportServer(loop: first.loop, options: options, handler: handler)
                options.tls = Certificates.elsewhere
                #expect(throws: TransportError(.unsupported, "")) {
                    try TransportServer(loop: first.loop, options: options, handler: handler)
                }
                return [second.port, third.port]
            }
            for port in ports {
                let socket = try RawSocket.webSocket(port: port, tls: .modern)
                try socket.sendText("over \(port)")
                #expect(try socket.receiveFrame().text == "over \(port)")
            }
            let socket = try plain.webSocket()
            try socket.sendText("plain")
            #expect(try socket.receiveFrame().text == "plain")
        }
    }

    // MARK: Versions, ciphers and ALPN

    @Test(
        "TLS 1.2 and 1.3 are accepted, older versions are not",
        arguments: [(0x0301, false), (0x0302, false), (0x0303, true), (0x0304, true)])
    func versions(version: Int32, isAccepted: Bool) async throws {
        try await TestServer.with(.tls) { server in
            // A client offers the old versions at security level 0 only.
            let options = RawTLS(version: version, ciphers: version < 0x0304 ? "ALL:@SECLEVEL=0" : nil)
            let socket = try? RawSocket(port: server.port, tls: options)
            #expect((socket != nil) == isAccepted)
            guard let socket else { return }
            #expect(SSL_version(socket.tls) == version)
            try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.receiveResponse().text == "GET /x ")
        }
    }

    @Test(
        "ciphers without forward secrecy or authentication are refused",
        arguments: [
            ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
            ("ECDHE-ECDSA-AES128-SHA", false), ("ECDHE-ECDSA-AES256-SHA384", false), ("AES128-GCM-SHA256", false),
            ("AECDH-AES128-SHA:@SECLEVEL=0", false), ("ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0", false),
        ])
    func ciphers(names: String, isAccepted: Bool) async throws {
        try await TestServer.with(.tls) { server in
            let socket = try? RawSocket(port: server.port, tls: RawTLS(version: 0x0303, ciphers: names))
            #expect((socket != nil) == isAccepted)
        }
    }

    @Test("ALPN selects HTTP/1.1, never h2")
    func alpn() async throws {
        try await TestServer.with(.tls) { server in
            let (h2, h1) = ([2] + Array("h2".utf8), [8] + Array("http/1.1".utf8))
            for (offer, chosen) in [(h2 + h1, Array("http/1.1".utf8)), (h2, [])] {
                let socket = try RawSocket(port: server.port, tls: RawTLS(alpn: offer))
                var name: UnsafePointer<UInt8>?
                var count: UInt32 = 0
                SSL_get0_alpn_selected(socket.tls, &name, &count)
                #expect(Array(UnsafeBufferPointer(start: name, count: Int(count))) == chosen)
                try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try socket.receiveResponse().text == "GET /x ")
            }
        }
    }

    @Test("a client cannot renegotiate")
    func renegotiation() async throws {
        try await TestServer.with(.tls) { server in
            let socket = try RawSocket(port: server.port, tls: RawTLS(version: 0x0303))
            #expect(SSL_renegotiate(socket.tls) == 1)
            #expect(SSL_do_handshake(socket.tls) != 1)
        }
    }

    @Test("close_notify follows a close handshake, Connection: close and a refused body")
    func closeNotify() async throws {
        try await TestServer.with(.tls) { server in
            let closing = try server.webSocket()
            try closing.sendClose(code: 1000)
            #expect(try closing.receiveFrame().closeCode == 1000)
            let requests = [
                "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\nbegin",
            ]
            let connections = try requests.map { request in
                let socket = try server.rawSocket()
                try socket.send(request)
                #expect(try [200, 413].contains(socket.receiveResponse().status))
                return socket
            }
            for socket in [closing] + connections {
                #expect(try socket.receiveToEnd() == [])
                #expect(SSL_get_shutdown(socket.tls) & SSL_RECEIVED_SHUTDOWN != 0)
            }
        }
    }

    // MARK: Misbehaving clients

    private static let greeting: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]

    @Test("plain text, broken TLS and half a handshake are cut, leak nothing, and other clients are not affected")
    func garbage() async throws {
        try await TestServer.with(.tls) { server in
            let bystander = try server.webSocket()
            let beginnings: [[UInt8]] = [
                Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8), [0], Array(repeating: 0xFF, count: 20_000),
                Array(repeating: 0x16, count: 70_000), [0x80, 0x2E, 0x01, 0x00, 0x02], Self.greeting,
                [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50], [0x16, 0x03, 0x01, 0x00, 0x00],
            ]
            for isReset in [true, false] {
                for bytes in beginnings {
                    let socket = try RawSocket(port: server.port)
                    try? socket.send(bytes)
                    if isReset { socket.reset() } else { socket.hangUp() }
                }
                // The loop is blocked until all have sent, so these are accepted with their first bytes.
                let port = server.port
                try await server.onLoop { _, _ in
                    for bytes in beginnings {
                        let socket = try RawSocket(port: port)
                        try? socket.send(bytes)
                    }
                }
            }
            try await server.waitForNoConnections()
            try bystander.sendText("still here")
            #expect(try bystander.receiveFrame().text == "still here")
            #expect(server.events.all == [.opened(1), .message(1, "still here")])
        }
    }

    @Test("a plain request to a TLS server is closed without a response")
    func plainClient() async throws {
        try await TestServer.with(.tls) { server in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let bytes = try socket.receiveToEnd()
            // At most an alert.
            #expect(bytes.isEmpty || bytes.first == 0x15)
            #expect(server.events.all == [])
        }
    }

    @Test("a client that stalls in the handshake is cut at the deadline, and the loop does not spin meanwhile")
    func stalled() async throws {
        try await TestServer.with(.tls, { $0.requestTimeout = .milliseconds(400) }) { server in
            let sockets = try (0..<3).map { _ in try RawSocket(port: server.port) }
            try sockets[1].send(Self.greeting)
            try sockets[2].send(Array(Self.greeting.prefix(3)))
            let turns = EventLog<Int>()
            try await server.onLoop { server, _ in server.loop.onTurnEnded = { turns.append(1) } }
            for socket in sockets { #expect(try socket.receiveToEnd() == []) }
            try await server.waitForNoConnections()
            #expect(turns.all.count < 500)
        }
    }

    @Test("a client that sends nothing after the handshake is cut at the deadline")
    func silentAfter() async throws {
        try await TestServer.with(.tls, { $0.requestTimeout = .short }) { server in
            let socket = try server.rawSocket()
            #expect(try socket.receiveToEnd() == [])
        }
    }

    @Test("bytes that are not TLS end an open WebSocket", arguments: [false, true])
    func corrupted(isRecord: Bool) async throws {
        try await TestServer.with(.tls) { server in
            let socket = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            let bytes: [UInt8] =
                (isRecord ? [0x17, 0x03, 0x03, 0x00, 0x20] : [0x41]) + Array(repeating: 0x41, count: 32)
            #expect(bytes.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
            try await server.events.first { $0 == .closed(1, nil) }
        }
    }

    @Test("connections over the limit and over the reserve are closed before the TLS handshake")
    func connectionLimit() async throws {
        let limits: @Sendable (inout TransportServer.Options) -> Void = {
            ($0.maxConnectionCount, $0.reserveCount) = (1, 0)
        }
        try await TestServer.with(.tls, limits) { server in
            try await server.onLoop { _, handler in handler.onOpened = { $0.markJoined() } }
            let first = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            #expect(throws: RawSocketError.self) { try server.rawSocket() }
            try first.sendText("hello")
            #expect(try first.receiveFrame().text == "hello")
        }
    }

    @Test(
        "large records that arrive at once are read completely", arguments: Wire.allCases
    )
    func largeRecords(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.webSocket()
            // Records of 16 KiB: OpenSSL buffers what the library has not read yet, and epoll does not report that.
            try socket.send((0..<3000).flatMap { RawSocket.frame(.text, Array("m\($0)".utf8)) })
            for number in 0..<3000 { #expect(try socket.receiveFrame().text == "m\(number)") }
            let post = try server.rawSocket()
            let body = String(repeating: "b", count: 60_000)
            for _ in 0..<5 {
                try post.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" + body)
                #expect(try post.receiveResponse().body.count == 60_008)
            }
        }
    }

    @Test("when the loop stops, every TLS socket is reported closed once, whatever its state")
    func stopInTheMiddle() async throws {
        let server = try await TestServer(.tls)
        let sockets = try (0..<5).map { _ in try server.webSocket() }
        let slow = try server.webSocket(receiveBufferByteCount: 8192)
        let idle = try server.rawSocket()
        let silent = try RawSocket(port: server.port)
        let halfway = try RawSocket(port: server.port)
        try halfway.send(Self.greeting)
        try await server.events.first { $0 == .opened(6) }
        try await server.onLoop { _, handler in
            let frame = OutboundFrame()
            frame.append(contentsOf: repeatElement(0x61, count: 500_000))
            while handler.sockets[6]?.write(frame) == .sent {}
        }
        await server.stop()
        #expect(server.events.all.count(where: isClosed) == 6)
        withExtendedLifetime((sockets, slow, idle, silent, halfway)) {}
    }
}
