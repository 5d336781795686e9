import SignalingTransport
import Testing

@Suite("HTTP", .timeLimit(.minutes(1)))
struct HTTPTests {
    @Test("GET, POST and DELETE, one after another on one connection")
    func keepAlive() async throws {
        try await TestServer.with { server in
            let socket = try RawSocket(port: server.port)
            for round in 0..<3 {
                try socket.send("GET /a/b?x=1 HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try socket.receiveResponse().text == "GET /a/b ")
                try socket.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                #expect(try socket.receiveResponse().text == "POST /p hello")
                try socket.send("DELETE /d/\(round) HTTP/1.1\r\nHost: h\r\n\r\n")
                let response = try socket.receiveResponse()
                #expect(response.text == "DELETE /d/\(round) ")
                #expect(response.headers["connection"] == "keep-alive")
            }
        }
    }
}
