import Glibc
import SignalingProtocol
import SignalingTransport
import Testing

/// A socket of the test, as another process would pass it.
private struct Held {
    let descriptor: Int32

    init(_ family: Int32 = AF_INET, _ type: __socket_type = SOCK_STREAM, listens: Bool = true) throws {
        descriptor = socket(family, Int32(type.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_storage()
        address.ss_family = sa_family_t(family)
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        var off: Int32 = 0
        switch family {
        case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6:
            setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
        default: length = socklen_t(MemoryLayout<sa_family_t>.size)
        }
        let outcome = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(outcome == 0)
        if listens { try #require(listen(descriptor, 16) == 0) }
    }

    /// A copy for a server, which owns it.
    func passed() throws -> ListeningSocket { try ListeningSocket(descriptor: dup(descriptor)) }

    func close() { _ = Glibc.close(descriptor) }
}

@Suite("A server on a listening socket of another process", .timeLimit(.minutes(5)))
struct ListeningSocketTests {
    @Test(
        "a connection waits while no server runs, and the next server on the socket answers it",
        arguments: Wire.allCases)
    func restart(_ wire: Wire) async throws {
        let held = try Held()
        defer { held.close() }
        let socket = try held.passed()
        try await TestServer.with(wire, { $0.listeningSocket = socket }) { server in
            #expect(server.port == socket.port)
            let before = try server.webSocket()
            try await server.onLoop { server, _ in server.leaveListeningSocket() }
            let waiting = try RawSocket(port: socket.port)
            try before.sendText("still served")
            #expect(try before.receiveFrame().text == "still served")
            await server.stop()
            let next = try held.passed()
            try await TestServer.with(.plain, { $0.listeningSocket = next }) { _ in
                try waiting.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try waiting.receiveResponse().status == 200)
            }
        }
    }

    @Test("a server leaves no socket of its own")
    func ownSocket() async throws {
        try await TestServer.with { server in
            try await server.onLoop { server, _ in server.leaveListeningSocket() }
            _ = try server.webSocket()
        }
    }

    @Test("a client of a socket for both kinds of addresses has its IPv4 address")
    func bothKinds() async throws {
        let held = try Held(AF_INET6)
        defer { held.close() }
        let socket = try held.passed()
        #expect(socket.host == "::")
        try await TestServer.with(.plain, { $0.listeningSocket = socket }) { server in
            let client = try server.webSocket()
            try await server.events.first { $0 == .opened(1) }
            let address = try await server.onLoop { _, handler in handler.sockets[1]?.remoteAddress }
            #expect(address == "127.0.0.1")
            withExtendedLifetime(client) {}
        }
    }

    @Test("every other descriptor is refused, with its number and its fault, and stays open")
    func refused() throws {
        let file = open("/dev/null", O_RDONLY)
        defer { _ = Glibc.close(file) }
        let silent = try Held(listens: false)
        let datagrams = try Held(AF_INET, SOCK_DGRAM, listens: false)
        let local = try Held(AF_UNIX)
        defer { for held in [silent, datagrams, local] { held.close() } }
        for (descriptor, fault) in [
            (Int32(-1), "is not open"), (9_999, "is not open"), (file, "is no socket"),
            (silent.descriptor, "is no listening socket"), (datagrams.descriptor, "is no listening socket"),
            (local.descriptor, "is no TCP socket"),
        ] {
            let error = #expect(throws: TransportError.self) { _ = try ListeningSocket(descriptor: descriptor) }
            #expect(error == TransportError(.notListening, ""))
            #expect(error?.message.hasPrefix("Descriptor \(descriptor) \(fault). ") == true, "\(error?.message ?? "")")
        }
        #expect(fcntl(file, F_GETFD) >= 0)
    }
}
