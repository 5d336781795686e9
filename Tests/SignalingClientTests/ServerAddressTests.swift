import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

@Suite("A server's URL")
struct ServerAddressTests {
    @Test(
        "http and ws, with TLS and without, become the socket's URL (WIRE-1)",
        arguments: [
            ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/v1/signaling"),
            ("http://127.0.0.1:8080/", "ws://127.0.0.1:8080/v1/signaling"),
            ("https://chat.example.com", "wss://chat.example.com/v1/signaling"),
            ("wss://chat.example.com/behind/a/proxy/", "wss://chat.example.com/behind/a/proxy/v1/signaling"),
        ])
    func good(_ text: String, _ url: String) throws {
        #expect(try ServerAddress(text).webSocketURL == url)
    }

    @Test(
        "the session is in the URL's query (WIRE-17)", arguments: try Vectors.cases("addresses/sessions.json"))
    func session(_ vector: VectorCase) throws {
        let (session, query) = (try #require(vector["sessionId"]?.stringValue), vector["query"]?.stringValue)
        let url = try ServerAddress("https://box.example/prefix").webSocketURL(for: SessionID(session))
        #expect(url == "wss://box.example/prefix/v1/signaling" + (query ?? "?"))
    }

    @Test(
        "anything else is 400",
        arguments: ["", "chat.example.com", "ftp://x", "http://", "http:///", "http://a b", "http://a?b", "http://a#b"])
    func bad(_ text: String) {
        #expect(throws: SignalingError(.invalidParameter, "")) { try ServerAddress(text) }
    }
}
