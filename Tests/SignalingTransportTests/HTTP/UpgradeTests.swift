import SignalingTransport
import Testing

@Suite("WebSocket handshakes", .timeLimit(.minutes(5)))
struct UpgradeTests {
    private func answer(_ request: String, _ server: TestServer) throws -> (status: Int, headers: [String: String]) {
        let socket = try server.rawSocket()
        try socket.send(request)
        let response = try socket.receiveResponse()
        return (response.status, response.headers)
    }

    @Test("the sub-protocol is selected from several")
    func picks() async throws {
        try await TestServer.with { server in
            let request = RawSocket.handshake(subprotocol: "chat, signalbox.v1 ,(http)")
            let (status, headers) = try answer(request, server)
            #expect(status == 101)
            #expect(headers["sec-websocket-protocol"] == "signalbox.v1")
            #expect(headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(headers["sec-websocket-extensions"] == nil)
        }
    }

    @Test("each invalid handshake gets its status")
    func refusals() async throws {
        try await TestServer.with { server in
            let key = "Sec-WebSocket-Key: \(RawSocket.handshakeKey)\r\n"
            let good = RawSocket.handshake()
            let cases: [(String, Int)] = [
                (RawSocket.handshake(path: "/elsewhere"), 404),
                (RawSocket.handshake(subprotocol: nil), 400),
                (RawSocket.handshake(subprotocol: "unknown"), 400),
                (RawSocket.handshake(subprotocol: String(repeating: "x", count: 80) + ",signalbox.v1"), 400),
                (RawSocket.handshake(subprotocol: String(repeating: "x,", count: 80) + "signalbox.v1"), 400),
                (good.replacing("Version: 13", with: "Version: 8"), 426),
                (good.replacing(key, with: ""), 400),
                (good.replacing(key, with: "Sec-WebSocket-Key: short\r\n"), 400),
                (good.replacing("Connection: Upgrade", with: "Connection: keep-alive"), 426),
                (good.replacing("Host: localhost\r\n", with: ""), 400),
                (good.replacing("GET ", with: "DELETE "), 405),
                (good.replacing("Upgrade: websocket\r\nConnection: Upgrade\r\n", with: ""), 426),
                (good.replacing("HTTP/1.1", with: "HTTP/1.0"), 426),
                ("GET /v1/signaling HTTP/1.1\r\nHost: h\r\n\r\n", 426),
            ]
            for (request, status) in cases {
                let answered = try answer(request, server).status
                #expect(answered == status, "\(request)")
            }
            #expect(!server.events.all.contains { if case .opened = $0 { true } else { false } })
        }
    }

    @Test("an offer of permessage-deflate is declined")
    func noExtensions() async throws {
        try await TestServer.with { server in
            let request = RawSocket.handshake(extra: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
            let (_, headers) = try answer(request, server)
            #expect(headers["sec-websocket-extensions"] == nil)
        }
    }

    @Test("an upgrade to h2c is ignored: the request is served over HTTP/1.1")
    func cleartextHTTP2() async throws {
        try await TestServer.with { server in
            let socket = try server.rawSocket()
            try socket.send(
                "GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                    + "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n")
            #expect(try socket.receiveResponse().text == "GET /x ")
        }
    }

    /// After an earlier request, the library has freed the headers when it asks for the upgrade. `scripts/sanitize library`
    /// names a read of them.
    @Test(
        "CVE-2025-11677: an unknown upgrade is refused, alone, after and before other requests, and the server runs on",
        arguments: Wire.allCases)
    func unknownUpgrade(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let other = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
            for upgrade in ["foo", "websockets", "h2", String(repeating: "x", count: 500)] {
                let request =
                    "GET /v1/signaling HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: \(upgrade)\r\n\r\n"
                for text in [request, other + request, request + other, other + request + other] {
                    for isReused in [false, true] {
                        let socket = try server.rawSocket()
                        if isReused {
                            try socket.send(other)
                            #expect(try socket.receiveResponse().status == 200)
                        }
                        try socket.send(text)
                        let bytes = try socket.receiveToEnd()
                        #expect(String(decoding: bytes, as: UTF8.self).contains(" 403 "))
                    }
                }
            }
            let socket = try server.webSocket()
            try socket.sendText("alive")
            #expect(try socket.receiveFrame().text == "alive")
        }
    }

    @Test("a connection can become a WebSocket after a request", arguments: Wire.allCases)
    func afterRequest(wire: Wire) async throws {
        try await TestServer.with(wire) { server in
            let socket = try server.rawSocket()
            try socket.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try socket.receiveResponse().status == 200)
            try socket.send(RawSocket.handshake())
            #expect(try socket.receiveResponse().status == 101)
            try socket.sendText("hello")
            #expect(try socket.receiveFrame().text == "hello")
        }
    }

    @Test("a client that does not complete its handshake is cut at the deadline", arguments: Wire.allCases)
    func slowHandshake(wire: Wire) async throws {
        try await TestServer.with(wire, { $0.requestTimeout = .short }) { server in
            let silent = try server.rawSocket()
            let slow = try server.rawSocket()
            try slow.send("GET /v1/signaling HTTP/1.1\r\nHost: ")
            #expect(try silent.receiveToEnd() == [])
            #expect(try slow.receiveToEnd() == [])
        }
    }
}

extension String {
    /// The text with each `part` replaced, without Foundation.
    func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
