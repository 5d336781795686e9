import Testing

@testable import SignalingTransport

@Suite("A response that is being sent")
struct OutgoingResponseTests {
    private static let body = (0..<1000).map { UInt8($0 % 251) }

    /// The pieces that are written when each write accepts at most `accepted` bytes.
    private func pieces(_ response: HTTPResponse, isHead: Bool = false, limit: Int, accepting accepted: Int)
        -> [[UInt8]]
    {
        var outgoing = OutgoingResponse(response, isHead: isHead, keepsAlive: true)
        var pieces: [[UInt8]] = []
        while !outgoing.isComplete {
            let count = outgoing.writeNext(limit: limit) { bytes in
                pieces.append(Array(bytes.prefix(accepted)))
                return pieces[pieces.count - 1].count
            }
            guard count > 0 else { break }
        }
        return pieces
    }

    @Test("a response within the limit is one piece, a larger one is its head and pieces of its body")
    func sizes() {
        let response = HTTPResponse(status: 200, body: Self.body)
        let head = response.serialized(isHead: false, keepsAlive: true).head
        let limit = head.count + Self.body.count
        #expect(pieces(response, limit: limit, accepting: .max) == [head + Self.body])
        #expect(pieces(response, limit: limit - 1, accepting: .max) == [head, Self.body])
        #expect(
            pieces(response, limit: 400, accepting: .max)
                == [head, Array(Self.body[..<400]), Array(Self.body[400..<800]), Array(Self.body[800...])])
    }

    @Test("writes that accept only a part lose and repeat nothing", arguments: [1, 7, 50, 399], [100, 400, 10_000])
    func partialWrites(accepted: Int, limit: Int) {
        let response = HTTPResponse(status: 200, headers: [("X-Name", "value")], body: Self.body)
        let head = response.serialized(isHead: false, keepsAlive: true).head
        #expect(pieces(response, limit: limit, accepting: accepted).flatMap { $0 } == head + Self.body)
    }

    @Test("a response without body is its head, and an empty one is complete")
    func bodiless() {
        let response = HTTPResponse(status: 200, body: Self.body)
        let head = response.serialized(isHead: true, keepsAlive: true).head
        #expect(pieces(response, isHead: true, limit: 10_000, accepting: .max) == [head])
        #expect(OutgoingResponse.empty.isComplete)
    }

    @Test("a failed write is reported and counts nothing")
    func failure() {
        var outgoing = OutgoingResponse(HTTPResponse(status: 204), isHead: false, keepsAlive: false)
        #expect(outgoing.writeNext(limit: 10_000) { _ in -1 } == -1)
        #expect(!outgoing.isComplete)
        var all: [UInt8] = []
        _ = outgoing.writeNext(limit: 10_000) { bytes in
            all = Array(bytes)
            return bytes.count
        }
        #expect(String(decoding: all, as: UTF8.self) == "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        #expect(outgoing.isComplete)
    }
}
