import SignalingCryptography
import Testing

/// What needs no server. A handshake with a real one is in Tests/BlackBoxTests/test_managed_redis.py.
@Suite("TLS: the client's side")
struct TLSClientTests {
    private static func client(_ server: String) throws -> TLSClient {
        try TLSClient(TLSContext(.init()), server: server)
    }

    private static func reading(_ text: String, by client: TLSClient) -> TLSClient.Reading {
        Array(text.utf8).withUnsafeBytes { client.receive($0) }
    }

    /// Whether the bytes have this text in them.
    private func has(_ text: String, _ bytes: [UInt8]) -> Bool {
        let text = Array(text.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: text) }
    }

    static func failEverywhere() throws {
        #expect(throws: TLSFailure.self) { try TLSContext(.init(trusted: "/nowhere.pem")) }
        #expect(throws: TLSFailure.self) { try TLSContext(.init(certificate: "/dev/null")) }
        let client = try client("localhost")
        client.begin()
        #expect(reading("-ERR unknown command\r\n", by: client).failure == .notTLS)
    }

    @Test("the handshake begins with a record of the client, which names the server")
    func hello() throws {
        let client = try Self.client("redis.example")
        #expect(client.takeOutput() == [])
        client.begin()
        let hello = client.takeOutput()
        #expect(hello.first == 22 && has("redis.example", hello))
        #expect(!client.isOpen && client.takeOutput() == [])
    }

    @Test("an IP address is not sent as a name")
    func address() throws {
        for address in ["127.0.0.1", "::1"] {
            let client = try Self.client(address)
            client.begin()
            #expect(!has(address, client.takeOutput()))
        }
    }

    @Test(
        "a peer without TLS is found", arguments: ["+PONG\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "-NOAUTH x\r\n"])
    func notTLS(text: String) throws {
        let client = try Self.client("localhost")
        client.begin()
        let reading = Self.reading(text, by: client)
        #expect(reading.failure == .notTLS && reading.content == [] && !client.isOpen)
    }

    @Test("bytes that are cut or damaged are waited for, or end the connection, and never more")
    func damage() throws {
        for length in 1...40 {
            let client = try Self.client("localhost")
            client.begin()
            // The beginning of a record of a handshake, with nonsense in it.
            let bytes = Array(([22, 3, 3, 0, 30] + (0..<35).map { UInt8($0 * 7) }).prefix(length))
            let reading = bytes.withUnsafeBytes { client.receive($0) }
            #expect(reading.content == [] && !client.isOpen)
            #expect(reading.failure != nil || length < 35)
        }
    }

    @Test("a file that cannot be used is named, with the reason")
    func files() {
        for files in [
            TLSContext.Files(trusted: "/nowhere.pem"), .init(certificate: "/nowhere.pem"), .init(key: "/nowhere.pem"),
        ] {
            let failure = #expect(throws: TLSFailure.self) { try TLSContext(files) }
            guard case .file("/nowhere.pem", let reason) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }
}
