import Testing

@testable import SignalingTransport

@Suite("Requests that libwebsockets would accept")
struct RequestFaultTests {
    private static let refused: [(head: String, status: Int)] = [
        ("GET /a%0aHost:localhost: HTTP/1.1\r\nHost: attacker.example\r\n", 400),
        ("GET /a%0d%0aHost:localhost HTTP/1.1\r\nHost: attacker.example\r\n", 400),
        ("GET /a?b=c%0aHost:localhost: HTTP/1.1\r\nHost: attacker.example\r\n", 400),
        ("GET /a%01b HTTP/1.1\r\nHost: h\r\n", 400), ("GET /a?b=%1b HTTP/1.1\r\nHost: h\r\n", 400),
        ("GET /a?%7f=b HTTP/1.1\r\nHost: h\r\n", 400),
        ("GET /a HTTP/9.9\r\nHost: h\r\n", 505), ("GET /a HTTP/1.2\r\nHost: h\r\n", 505),
        ("GET /a HTTP/1.10\r\nHost: h\r\n", 400), ("GET /a FTP/1.1\r\nHost: h\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: localhost\0.attacker.example\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: a/b\r\n", 400), ("GET /a HTTP/1.1\r\nHost: user@h\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: a\r\nAuthorization: b\r\n", 400),
        ("GET /v1/signaling HTTP/1.0\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", 426),
        ("GET /v1/signaling HTTP/9.9\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", 505),
    ]

    @Test(
        "REST-5: they are refused before the handler, over TLS and as a later request of a connection, too",
        arguments: Wire.allCases)
    func refused(_ wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            for (head, status) in Self.refused {
                for isLater in [false, true] {
                    let socket = try server.rawSocket()
                    if isLater {
                        try socket.send("GET /first HTTP/1.1\r\nHost: h\r\n\r\n")
                        #expect(try socket.receiveResponse().status == 200)
                    }
                    try socket.send(head + "\r\n")
                    #expect(try socket.receiveResponse().status == status, "\(head) \(isLater)")
                    #expect(try socket.receiveToEnd() == [], "the connection ends: \(head)")
                }
            }
            let requests = server.events.all.filter { if case .request = $0 { true } else { false } }
            #expect(requests.allSatisfy { "\($0)".contains("/first") }, "\(requests)")
        }
    }

    @Test("blanks around the name in Host have no meaning", arguments: Wire.allCases)
    func blanks(_ wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.rawSocket()
            for host in ["h", " h", "h ", "\t h \t", "127.0.0.1:80 "] {
                try socket.send("GET /a HTTP/1.1\r\nHost:\(host)\r\n\r\n")
                #expect(try socket.receiveResponse().status == 200, "\(host)")
            }
        }
    }
}
