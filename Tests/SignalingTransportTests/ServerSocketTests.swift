import SignalingTransport
import Testing

@Suite("A server's WebSocket", .timeLimit(.minutes(1)))
struct ServerSocketTests {
    @Test("echoes a text message")
    func echo() async throws {
        try await TestServer.with { server in
            let socket = try RawSocket.webSocket(port: server.port)
            try socket.sendText("hello")
            #expect(try socket.receiveFrame().text == "hello")
            try socket.sendClose(code: 4321, reason: "bye")
            let answer = try socket.receiveFrame()
            #expect(answer.opcode == .close && answer.closeCode == 4321)
            try await server.events.first { isClosed($0) }
            #expect(server.events.all == [.opened(1), .message(1, "hello"), .closed(1, 4321)])
        }
    }
}
