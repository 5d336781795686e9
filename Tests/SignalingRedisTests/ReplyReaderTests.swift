import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("Reading the replies of Redis")
struct ReplyReaderTests {
    private static let small = RedisReplyReader.Bounds(lineByteCount: 64, stringByteCount: 256, elementCount: 16)

    /// The replies in bytes that arrive in pieces.
    private func read(
        _ text: String, piece: Int = .max, _ bounds: RedisReplyReader.Bounds = small
    ) throws -> [RedisReply] {
        let reader = try RedisReplyReader(bounds: bounds)
        var replies: [RedisReply] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try Array(rest.prefix(piece)).withUnsafeBytes { try reader.feed($0) }
            rest = rest.dropFirst(piece)
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    private func violation(_ text: String, piece: Int = .max) -> String? {
        do {
            _ = try read(text, piece: piece)
            return nil
        } catch {
            return (error as? RedisReplyReader.Violation)?.text
        }
    }

    @Test("replies are the same in one piece and byte by byte", arguments: [1, 3, 1_000])
    func pieces(piece: Int) throws {
        let text = ":7\r\n+OK\r\n$-1\r\n*-1\r\n$3\r\na\r\n\r\n*2\r\n:1\r\n*1\r\n$0\r\n\r\n-OOM x\r\n*0\r\n"
        let expected: [RedisReply] = [
            .integer(7), .bytes(Array("OK".utf8)), .null, .null, .bytes(Array("a\r\n".utf8)),
            .array([.integer(1), .array([.bytes([])])]), .failure(.full), .array([]),
        ]
        #expect(try read(text, piece: piece) == expected)
    }

    @Test("LOG-37: a line, a string and an array have bounds, and each reply has all of them", arguments: [1, 1_000])
    func bounds(piece: Int) throws {
        let line = String(repeating: "x", count: 300)
        #expect(violation("+\(line.prefix(200))", piece: piece) == "a line without an end")
        #expect(violation("$\(String(repeating: "1", count: 100))", piece: piece) == "a line without an end")
        #expect(violation("$1000000\r\n\(line)", piece: piece) == "more than 256 bytes")
        #expect(violation("*17\r\n", piece: piece) == "more than 16 elements")
        #expect(violation("*8\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n*5\r\n", piece: piece) == "more than 16 elements")
        let whole = "$200\r\n\(line.prefix(200))\r\n" + "*16\r\n" + String(repeating: ":1\r\n", count: 16)
        #expect(try read(whole + whole, piece: piece).count == 4)
    }

    @Test("LOG-37: an array of any announced length, in arrays of any depth, costs no memory", arguments: [1, 7, 64])
    func bombs(depth: Int) {
        for length in ["2147483647", "2147483648", "9223372036854775807", "16777217"] {
            let text = String(repeating: "*1\r\n", count: depth - 1) + "*\(length)\r\n"
            #expect(violation(text) != nil, "\(length) at depth \(depth)")
        }
    }
}
