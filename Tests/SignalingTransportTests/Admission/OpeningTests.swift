import Testing

@testable import SignalingTransport

@Suite("The first bytes of a connection")
struct OpeningTests {
    private func greeting(_ bytes: [UInt8]) -> Opening { bytes.withUnsafeBytes { Opening(greeting: $0) } }

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
