import SignalingProtocol
import SignalingTransport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("A server: start, limits and stop", .timeLimit(.minutes(5)))
struct TransportServerTests {
    private func error(_ host: String, _ port: Int) async throws -> TransportError? {
        let loop = LoopThread(name: "refused", logger: quietLogger)
        try loop.start()
        let error = try await loop.run { () -> TransportError? in
            let handler = TestServer.Handler(events: EventLog())
            do throws(TransportError) {
                _ = try TransportServer(
                    loop: loop, options: TransportServer.Options(host: host, port: port), handler: handler)
                return nil
            } catch {
                return error
            }
        }
        await loop.stop()
        return error
    }

    @Test("a port in use is an error that names it, and the server that uses it is not affected")
    func portInUse() async throws {
        try await TestServer.with { server in
            let refusal = try await error("127.0.0.1", server.port)
            #expect(refusal == TransportError(.addressInUse, ""))
            #expect(
                refusal?.message
                    == "Another program already listens on 127.0.0.1:\(server.port). Stop it, or choose another port.")
            let socket = try RawSocket.webSocket(port: server.port)
            try socket.sendText("hello")
            #expect(try socket.receiveFrame().text == "hello")
        }
    }

    @Test("an address that is not this machine's is refused")
    func badAddresses() async throws {
        for host in ["example.org", "300.1.1.1", "", "203.0.113.7"] {
            #expect(try await error(host, 0) == TransportError(.invalidAddress, ""), "\(host)")
        }
        #expect(try await error("127.0.0.1", 70_000) == TransportError(.invalidAddress, ""))
        #expect(try await error("localhost", 0) == nil)
        #expect(try await error("::1", 0) == nil)
    }

    @Test("a server on :: accepts IPv4 clients, too, and one on ::1 does not")
    func bothFamilies() async throws {
        for (host, accepts) in [("::", true), ("[::]", true), ("::1", false)] {
            let server = try await TestServer { $0.host = host }
            if accepts {
                let socket = try RawSocket.webSocket(port: server.port)
                try socket.sendText("hello")
                #expect(try socket.receiveFrame().text == "hello")
            } else {
                #expect(throws: (any Error).self) { try RawSocket(port: server.port) }
            }
            await server.stop()
        }
    }

    @Test("a stop waits for no open socket, request or handshake, and each socket is reported once")
    func stopInTheMiddle() async throws {
        let server = try await TestServer { options in
            (options.answerTimeout, options.responseTimeout, options.closeTimeout) = (.long, .long, .long)
        }
        try await server.onLoop { _, handler in
            handler.onRequest = { [unowned handler] in handler.exchanges.append($0) }
        }
        let sockets = try (0..<20).map { _ in try RawSocket.webSocket(port: server.port) }
        let slow = try RawSocket.webSocket(port: server.port, receiveBufferByteCount: 8192)
        let waiting = try RawSocket(port: server.port)
        try waiting.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
        let halfway = try RawSocket(port: server.port)
        try halfway.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab")
        let silent = try RawSocket(port: server.port)
        try await server.events.first { $0 == .request("GET", "/x") }
        try await server.onLoop { _, handler in
            let frame = OutboundFrame()
            frame.append(contentsOf: repeatElement(0x61, count: 500_000))
            while handler.sockets[21]?.write(frame) == .sent {}
        }
        let start = LoopThread.now
        await server.stop()
        // Within two seconds, except on a busy machine.
        #expect(LoopThread.now.duration(since: start) < Duration.long / 2)
        #expect(server.events.all.count(where: isClosed) == 21)
        for socket in sockets { #expect(try socket.receiveToEnd() == []) }
        #expect(try waiting.receiveToEnd() == [])
        withExtendedLifetime((slow, halfway, silent)) {}
    }

    @Test("a stop closes its sockets if other code opens descriptors meanwhile", arguments: Wire.allCases)
    func stopBesideOtherDescriptors(wire: Wire) async throws {
        let server = try await TestServer(wire)
        let taken = EventLog<Int32>()
        try await server.onLoop { _, handler in
            // libwebsockets has closed its wake-up descriptor once then, and would close its number again.
            handler.onClosed = { for _ in 0..<100 { taken.append(dup(STDERR_FILENO)) } }
        }
        let sockets = try (0..<3).map { _ in try server.webSocket() }
        await server.stop()
        for socket in sockets { #expect(try socket.receiveToEnd() == []) }
        for descriptor in taken.all where descriptor >= 0 { #expect(close(descriptor) == 0) }
    }

    @Test("stopAccepting refuses new connections, closes idle ones, and keeps sockets open")
    func draining() async throws {
        try await TestServer.with { server in
            let socket = try RawSocket.webSocket(port: server.port)
            let idle = try RawSocket(port: server.port)
            try idle.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try idle.receiveResponse().status == 200)
            try await server.onLoop { server, _ in server.stopAccepting() }
            #expect(throws: RawSocketError.self) { _ = try RawSocket(port: server.port) }
            #expect(try idle.receiveToEnd() == [])
            try socket.sendText("hello")
            #expect(try socket.receiveFrame().text == "hello")
        }
    }

    @Test("a full server answers questions for its health, and every other request with 503", arguments: Wire.allCases)
    func connectionLimit(wire: Wire) async throws {
        let limits: @Sendable (inout TransportServer.Options) -> Void = {
            ($0.maxConnectionCount, $0.healthPaths) = (2, ["/livez"])
        }
        try await TestServer.with(wire, limits) { server in
            try await server.onLoop { _, handler in handler.onOpened = { $0.markJoined() } }
            let sockets = try (0..<2).map { _ in try server.webSocket() }
            for id in UInt64(1)...2 { try await server.events.first { $0 == .opened(id) } }
            for (path, status) in [("/livez", 200), ("/x", 503), ("/livez", 200), ("/livez/x", 503)] {
                let socket = try server.rawSocket()
                try socket.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                let response = try socket.receiveResponse()
                #expect(response.status == status && response.headers["connection"] == "close", "\(path)")
            }
            #expect(throws: RawSocketError.self) { try server.webSocket() }
            try await server.onLoop { server, _ in #expect(server.refusals.counts[.serverFull] == 3) }
            sockets[0].hangUp()
            try await server.events.first(where: isClosed)
            try await server.onLoop { _, _ in }
            #expect(try server.webSocket().descriptor >= 0)
            withExtendedLifetime(sockets) {}
        }
    }

    @Test("WIRE-12: a page of another origin is refused; a handshake without Origin is not", arguments: Wire.allCases)
    func origins(wire: Wire) async throws {
        try await TestServer.with(wire, { $0.allowedOrigins = ["https://chat.example.org"] }) { server in
            for (header, isAllowed) in [
                ("", true), ("Origin: https://chat.example.org\r\n", true),
                ("Origin: http://chat.example.org\r\n", false),
                ("Origin: https://chat.example.org.evil.test\r\n", false), ("Origin: null\r\n", false),
            ] {
                let socket = try? server.webSocket(extra: header)
                #expect((socket != nil) == isAllowed, "\(header)")
            }
            try await server.onLoop { server, _ in #expect(server.refusals.counts[.origin] == 3) }
        }
    }

    @Test("WIRE-12: a server for its own network opens no WebSocket for another one", arguments: Wire.allCases)
    func localOnly(wire: Wire) async throws {
        let configure: @Sendable (inout TransportServer.Options) -> Void = {
            $0.isLocalOnly = true
            $0.trustedProxies = ["127.0.0.1"].compactMap { AddressBlock($0) }
        }
        try await TestServer.with(wire, configure) { server in
            for (address, isAllowed) in [
                ("192.168.7.20", true), ("127.0.0.1", true), ("203.0.113.9", false), ("2001:db8::1", false),
            ] {
                let socket = try? server.webSocket(extra: "X-Forwarded-For: \(address)\r\n")
                #expect((socket != nil) == isAllowed, "\(address)")
            }
            try await server.onLoop { server, _ in #expect(server.refusals.counts[.foreignNetwork] == 2) }
        }
    }

    @Test("a trusted proxy's client has the limit, and its address is reported", arguments: Wire.allCases)
    func proxies(wire: Wire) async throws {
        let configure: @Sendable (inout TransportServer.Options) -> Void = {
            $0.addressLimit = AddressLimit(connectionCount: 4, exemptsLoopback: false)
            $0.trustedProxies = ["127.0.0.1"].compactMap { AddressBlock($0) }
        }
        try await TestServer.with(wire, configure) { server in
            try await server.onLoop { _, handler in
                handler.onOpened = { [events = handler.events] in events.append(.note($0.remoteAddress)) }
                handler.onRequest = {
                    $0.respond(.init(status: 200, contentType: "text/plain", text: $0.remoteAddress))
                }
            }
            let ada = "X-Forwarded-For: 198.51.100.1\r\n"
            let sockets = try (0..<2).map { _ in try server.webSocket(extra: ada) }
            try await server.events.first { $0 == .note("198.51.100.1") }
            #expect(throws: RawSocketError.self) { try server.webSocket(extra: ada) }
            for (header, status) in [(ada, 429), ("X-Forwarded-For: 198.51.100.2\r\n", 200), ("", 200)] {
                let socket = try server.rawSocket()
                try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\(header)\r\n")
                #expect(try socket.receiveResponse().status == status, "\(header)")
            }
            withExtendedLifetime(sockets) {}
        }
    }

    /// The first bytes of a connection to a server that expects the PROXY protocol.
    private static func proxied(_ port: Int, _ header: [UInt8], wire: Wire) throws -> RawSocket {
        let plain = try RawSocket(port: port)
        try plain.send(header)
        if wire == .tls { try plain.startTLS(.modern) }
        return plain
    }

    private static let version2: [UInt8] =
        [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12, 198, 51, 100, 2, 127, 0, 0, 1, 1, 2, 3, 4]

    @Test("the PROXY protocol names the client before a request or a TLS greeting", arguments: Wire.allCases)
    func proxyProtocol(wire: Wire) async throws {
        let configure: @Sendable (inout TransportServer.Options) -> Void = {
            $0.addressLimit = AddressLimit(connectionCount: 4, exemptsLoopback: false)
            $0.trustedProxies = ["127.0.0.1"].compactMap { AddressBlock($0) }
            $0.proxyNaming = .proxyProtocol
        }
        try await TestServer.with(wire, configure) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = {
                    $0.respond(.init(status: 200, contentType: "text/plain", text: $0.remoteAddress))
                }
            }
            // The client's own headers name no one.
            let request =
                "GET /x HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 203.0.113.1\r\nForwarded: for=203.0.113.1\r\n\r\n"
            let text = Array("PROXY TCP4 198.51.100.1 127.0.0.1 4711 443\r\n".utf8)
            for (header, client) in [
                (text, "198.51.100.1"), (Self.version2, "198.51.100.2"), (Array("PROXY UNKNOWN\r\n".utf8), "127.0.0.1"),
            ] {
                let socket = try Self.proxied(server.port, header, wire: wire)
                for _ in 0..<2 {
                    try socket.send(request)
                    #expect(try socket.receiveResponse().text == client)
                }
            }
            let slow = try RawSocket(port: server.port)
            for byte in Self.version2 { try slow.send([byte]) }
            if wire == .tls { try slow.startTLS(.modern) }
            try slow.send(request)
            #expect(try slow.receiveResponse().text == "198.51.100.2")
            // Without the header, with a damaged one, and over the limit of the client that it names.
            for header in [Array(request.utf8), Array("PROXY TCP4 198.51.100.1\r\n".utf8), Array("PROXY ".utf8)] {
                let socket = try RawSocket(port: server.port)
                try socket.send(header)
                if header.count < 10 { socket.hangUp() } else { #expect(try socket.receiveToEnd().isEmpty) }
            }
            var held: [RawSocket] = []
            for _ in 0..<4 {
                let socket = try RawSocket(port: server.port)
                try socket.send(Array("PROXY TCP4 198.51.100.9 127.0.0.1 1 2\r\n".utf8))
                held.append(socket)
            }
            // Two may be without a session; the server closes the others.
            for socket in held[2...] { _ = try socket.receiveToEnd() }
            try await server.onLoop { server, _ in
                #expect(server.refusals.counts[.addressUnjoined] == 2)
                #expect(server.refusals.counts[.proxyHeader] == 2)
            }
            withExtendedLifetime(held) {}
        }
    }

    @Test("only trusted proxies speak the PROXY protocol")
    func proxyProtocolOfStrangers() async throws {
        let configure: @Sendable (inout TransportServer.Options) -> Void = {
            $0.trustedProxies = ["10.0.0.0/8"].compactMap { AddressBlock($0) }
            $0.proxyNaming = .proxyProtocol
        }
        try await TestServer.with(.plain, configure) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = {
                    $0.respond(.init(status: 200, contentType: "text/plain", text: $0.remoteAddress))
                }
            }
            let stranger = try RawSocket(port: server.port)
            try stranger.send("PROXY TCP4 198.51.100.1 127.0.0.1 4711 443\r\nGET /x HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try stranger.receiveResponse().status == 400)
            let client = try RawSocket(port: server.port)
            try client.send("GET /x HTTP/1.1\r\nHost: h\r\nForwarded: for=198.51.100.1\r\n\r\n")
            #expect(try client.receiveResponse().text == "127.0.0.1")
        }
    }

    @Test("`Forwarded` of a trusted proxy names the client of each request; repeated ones count in their order")
    func forwarded() async throws {
        let configure: @Sendable (inout TransportServer.Options) -> Void = {
            $0.trustedProxies = ["127.0.0.1"].compactMap { AddressBlock($0) }
            $0.proxyNaming = .forwarded
        }
        try await TestServer.with(.plain, configure) { server in
            try await server.onLoop { _, handler in
                handler.onRequest = {
                    $0.respond(.init(status: 200, contentType: "text/plain", text: $0.remoteAddress))
                }
            }
            let socket = try server.rawSocket()
            for (headers, client) in [
                ("Forwarded: for=198.51.100.1\r\n", "198.51.100.1"),
                ("Forwarded: for=203.0.113.9\r\nForwarded: for=198.51.100.2;proto=https\r\n", "198.51.100.2"),
                ("X-Forwarded-For: 203.0.113.9\r\n", "127.0.0.1"), ("", "127.0.0.1"),
            ] {
                try socket.send("GET /x HTTP/1.1\r\nHost: h\r\n\(headers)\r\n")
                #expect(try socket.receiveResponse().text == client, "\(headers)")
            }
            try socket.send("GET /x HTTP/1.1\r\nHost: h\r\nForwarded: for=\"x\r\nForwarded: for=198.51.100.2\r\n\r\n")
            #expect(try socket.receiveResponse().status == 400)
        }
    }

    @Test("a head in pieces and in single bytes arrives, beside others that are incomplete")
    func held() async throws {
        try await TestServer.with { server in
            let partial = try (0..<100).map { _ in
                let socket = try RawSocket(port: server.port)
                try socket.send("GET /x HTTP/1.1\r\nHost")
                return socket
            }
            let socket = try RawSocket(port: server.port)
            for byte in "GET /x HTTP/1.1\r\nHost: h\r\n\r\n".utf8 { try socket.send([byte]) }
            #expect(try socket.receiveResponse().status == 200)
            for socket in partial.suffix(3) {
                try socket.send(": h\r\n\r\n")
                #expect(try socket.receiveResponse().status == 200)
            }
        }
    }

    @Test("a client that hangs up within its head is forgotten, and the loop does not spin for one that waits")
    func hangUpWithinHead() async throws {
        try await TestServer.with(.plain, { $0.requestTimeout = .seconds(2) }) { server in
            for _ in 0..<20 { try RawSocket(port: server.port).send("GET /x") }
            let waiting = try RawSocket(port: server.port)
            try waiting.send("GET /x")
            let turns = EventLog<Int>()
            try await server.onLoop { server, _ in server.loop.onTurnEnded = { turns.append(1) } }
            #expect(try waiting.receiveToEnd() == [])
            try await server.waitForNoConnections()
            #expect(turns.all.count < 500)
            try await server.onLoop { server, _ in #expect(server.refusals.counts[.silent] == 1) }
        }
    }

    @Test("two servers share a loop, each with its own handler")
    func twoServers() async throws {
        try await TestServer.with { server in
            let events = EventLog<ServerEvent>()
            let other = try await server.onLoop { first, _ in
                let handler = TestServer.Handler(events: events)
                return LoopConfined(
                    try TransportServer(loop: first.loop, options: TransportServer.Options(), handler: handler),
                    to: first.loop)
            }
            let port = try await server.loop.run { other.value.port }
            for port in [server.port, port] {
                let socket = try RawSocket.webSocket(port: port)
                try socket.sendText("to \(port)")
                #expect(try socket.receiveFrame().text == "to \(port)")
            }
            #expect(events.all.contains(.message(1, "to \(port)")))
            #expect(server.events.all.contains(.message(1, "to \(server.port)")))
            #expect(server.events.all.count == 2 || server.events.all.count == 3)
        }
    }

    @Test("loops start and stop in parallel, and leave the limit of open files as it was")
    func manyLoops() async throws {
        let limit = DescriptorLimit.current
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5 {
                        try await TestServer.with { server in
                            let socket = try RawSocket.webSocket(port: server.port)
                            try socket.sendText("hello")
                            #expect(try socket.receiveFrame().text == "hello")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(DescriptorLimit.current == limit)
    }
}
