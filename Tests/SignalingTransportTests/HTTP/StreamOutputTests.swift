import Testing

@testable import SignalingTransport

@Suite("The bytes of a streamed response")
struct StreamOutputTests {
    private static let head = Array("head\r\n\r\n".utf8)

    /// Everything that is written when each write accepts at most `accepted` bytes.
    private func written(_ output: inout StreamOutput, limit: Int = .max / 2, accepting accepted: Int = .max) -> [UInt8]
    {
        var all: [UInt8] = []
        while output.waitingByteCount > 0 {
            let count = output.writeNext(limit: limit) { bytes in
                #expect(bytes.count <= limit)
                all += bytes.prefix(accepted)
                return min(accepted, bytes.count)
            }
            guard count > 0 else { break }
        }
        return all
    }

    @Test(
        "each framing has its marks, and an empty piece is no end",
        arguments: [
            (StreamFraming.chunked, "head\r\n\r\n5\r\nhello\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n"),
            (.toEnd, "head\r\n\r\nhelloabcdefghijklmnopqrstuvwxyz"), (.none, "head\r\n\r\n"),
        ])
    func framings(framing: StreamFraming, expected: String) {
        var output = StreamOutput(head: Self.head, framing: framing)
        for piece in ["hello", "", "abcdefghijklmnopqrstuvwxyz"] { output.append(Array(piece.utf8)) }
        output.finish()
        #expect(output.waitingByteCount == expected.utf8.count)
        #expect(String(decoding: written(&output), as: UTF8.self) == expected)
        #expect(output.waitingByteCount == 0)
    }

    @Test(
        "writes that accept only a part lose and repeat nothing, while more is appended",
        arguments: [1_000, 16_384, 70_000], [900, 65_536])
    func partialWrites(accepted: Int, limit: Int) {
        var output = StreamOutput(head: [], framing: .toEnd)
        var (all, appended): ([UInt8], [UInt8]) = ([], [])
        for round in 0..<60 {
            let piece = (0..<20_000).map { UInt8(($0 + round) % 251) }
            appended += piece
            output.append(piece)
            _ = output.writeNext(limit: limit) { bytes in
                all += bytes.prefix(accepted)
                return min(accepted, bytes.count)
            }
            #expect(output.waitingByteCount == appended.count - all.count)
        }
        all += written(&output, limit: limit, accepting: accepted)
        #expect(all == appended)
    }

    @Test("a write that is refused or fails counts nothing")
    func failure() {
        var output = StreamOutput(head: Self.head, framing: .chunked)
        for result in [0, -1] { #expect(output.writeNext(limit: 100) { _ in result } == result) }
        #expect(written(&output) == Self.head)
    }
}
