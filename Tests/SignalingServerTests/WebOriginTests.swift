import Testing

@testable import SignalingServer

@Suite("REST-4: this machine")
struct WebOriginTests {
    @Test(
        "REST-4: an origin of this machine has its host, and nothing that only looks like it",
        arguments: [
            ("http://127.0.0.1", true), ("http://127.8.9.1:3000", true), ("https://localhost:8443", true),
            ("http://[::1]:5173", true), ("http://page.localhost", true), ("http://LOCALHOST:3000", true),
            ("http://127.0.0.1:1@evil.example", false), ("http://localhost:@evil.example", false),
            ("http://localhost@evil.example", false), ("http://127.0.0.1.evil.example", false),
            ("http://localhost.evil.example", false), ("http://evil.example/localhost", false),
            ("http://localhost/", false), ("http://localhost#", false), ("http://localhost?", false),
            ("http:///localhost", false), ("http://", false), ("localhost", false), ("null", false), ("", false),
            ("file://localhost", false), ("http://[::1", false), ("http://[::1]evil.example", false),
            ("http://127.+0.0.1", false), ("http://127.0.1", false), ("http://0127.0.0.1", false),
        ])
    func ofThisMachine(text: String, isOfThisMachine: Bool) {
        #expect((WebOrigin(text)?.isOfThisMachine ?? false) == isOfThisMachine)
    }

    @Test("an origin's authority is what its page's requests have in Host")
    func authority() {
        #expect(WebOrigin("http://127.0.0.1:9091")?.authority == "127.0.0.1:9091")
        #expect(WebOrigin("https://[::1]")?.authority == "[::1]")
        #expect(WebOrigin("capacitor://localhost")?.scheme == "capacitor")
        #expect(WebOrigin("1http://localhost") == nil && WebOrigin("ht/tp://localhost") == nil)
    }

    @Test(
        "an address counts as loopback only in its usual spelling",
        arguments: ["127.+0.0.1", "127.-0.0.1", "127.0.0", "127.0.0.256", "0.0.0.0", "::", "localhost.example", ""])
    func otherAddresses(host: String) {
        #expect(!ServerConfiguration.isLoopback(host))
    }
}
