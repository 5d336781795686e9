import Testing

@testable import SignalingTransport

@Suite("The first bytes of a connection")
struct OpeningTests {
    private func request(_ bytes: [UInt8]) -> Opening { bytes.withUnsafeBytes { Opening(request: $0) } }
    private func request(_ text: String) -> Opening { request(Array(text.utf8)) }
    private func greeting(_ bytes: [UInt8]) -> Opening { bytes.withUnsafeBytes { Opening(greeting: $0) } }

    @Test(
        "a head is complete at its empty line, and at no byte before it",
        arguments: [
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: h\n\n",
            "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\r\n",
        ])
    func head(text: String) {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count { #expect(request(Array(bytes[..<count])) == .incomplete, "\(count) bytes") }
        #expect(request(bytes) == .complete)
        #expect(request(bytes + Array("body".utf8)) == .complete)
    }

    @Test("bytes that are no request, and heads that are too long, are left to libwebsockets")
    func others() {
        #expect(request([0x16, 0x03, 0x01]) == .complete)
        #expect(request([0]) == .complete)
        #expect(request("GE\tT / HTTP/1.1\r\n") == .complete)
        #expect(request([UInt8](repeating: 0x41, count: Opening.byteLimit - 1)) == .incomplete)
        #expect(request([UInt8](repeating: 0x41, count: Opening.byteLimit)) == .complete)
        #expect(request([]) == .incomplete)
        #expect(request("\r\n\r\n\r\n") == .incomplete)
    }

    @Test(
        "the target of a request is known before libwebsockets reads it",
        arguments: [
            ("GET /livez HTTP/1.1\r\n\r\n", "/livez"), ("GET /livez?x=/y HTTP/1.1\r\n\r\n", "/livez"),
            ("GET /livez\r\n\r\n", nil), ("\r\nGET /livez HTTP/1.1\r\n\r\n", nil), ("", nil),
            ("GET  /livez x", "/livez"),
        ] as [(String, String?)])
    func targets(request: String, target: String?) {
        #expect(Array(request.utf8).withUnsafeBytes { Opening.target(of: $0) } == target)
    }

    private func record(_ bytes: [UInt8]) -> [UInt8] {
        [22, 3, 1, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    private func clientHello(_ count: Int) -> [UInt8] {
        [1, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)] + [UInt8](repeating: 7, count: count)
    }

    @Test("a greeting is complete at its last byte, in one record or several", arguments: [5_000, 500, 100, 3, 1])
    func greetings(recordByteCount: Int) {
        let hello = clientHello(512)
        let records = stride(from: 0, to: hello.count, by: recordByteCount).flatMap {
            record(Array(hello[$0..<min(hello.count, $0 + recordByteCount)]))
        }
        for count in 0..<records.count { #expect(greeting(Array(records[..<count])) == .incomplete, "\(count) bytes") }
        #expect(greeting(records) == .complete)
        #expect(greeting(records + [1, 2, 3]) == .complete)
    }

    @Test(
        "bytes that are not TLS are recognized at once",
        arguments: [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x80, 0x2E, 0x01], [21, 3, 3, 0, 2, 2, 80], [22, 2],
            [22, 3, 1, 0, 0],
            [22, 3, 1, 0x40, 0x01], [22, 3, 1, 0, 4, 2, 0, 0, 0], [22, 3, 1, 0, 4, 1, 1, 0, 0],
        ] as [[UInt8]])
    func notTLS(bytes: [UInt8]) {
        #expect(greeting(bytes) == .notTLS)
    }

    @Test("random bytes give an answer")
    func random() {
        for seed in 0..<2_000 {
            let bytes = (0..<(seed % 60)).map { UInt8(truncatingIfNeeded: (seed &* 31 &+ $0 &* 17) ^ (seed >> 3)) }
            _ = request(bytes)
            _ = greeting([22, 3, 1] + bytes)
        }
    }
}
