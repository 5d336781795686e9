import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: messages and numbers")
struct WireTests {
    private let run = RunID(1)

    @Test("a message of any bytes is read, or ignored")
    func messages() {
        func read(_ text: String, omitsOwn: Bool = true) -> ChannelMessage? {
            Array(text.utf8).withUnsafeBytes { ChannelMessage($0, reader: run, omitsOwn: omitsOwn) }
        }
        let other = "00000000000000ff"
        guard case .entries("g", let entries)? = read("e g 5 \(other) 7 9 2 0 1\nab\n") else {
            Issue.record("not read")
            return
        }
        #expect(entries.map(\.position.number) == [5, 6, 7])
        #expect(entries.map(\.position.id.counter) == [7, 8, 9])
        #expect(entries.map(\.bytes) == [[97, 98], [], [10]])
        #expect(entries[0].time == MonotonicInstant(nanoseconds: 9_000))
        guard case .entries(_, let own)? = read("e g 5 \(run.hexadecimal) 7 9 2\nab") else {
            Issue.record("not read")
            return
        }
        #expect(own[0].bytes == nil)
        #expect(read("x g") == .removed(generation: "g"))
        #expect(read("r \(other)\na\nb") == .relayed(from: RunID(0xff), Array("a\nb".utf8)))
        for text in [
            "", "\n", "e", "e g 5 \(other) 7 9 3\nab", "e g 5 \(other) 7 9 -1\nab", "e g x \(other) 7 9 2\nab",
            "e g 5 zz 7 9 2\nab", "r zz\nx", "x", "q 1",
            // Numbers that are not of Redis' functions.
            "e g \(UInt64.max) \(other) 7 9 1 1\nab", "e g 5 \(other) \(UInt64.max) 9 1 1\nab",
            "e g 5 \(other) 7 \(Int64.max) 2\nab", "e g 5 \(other) 7 -1 2\nab", "e g -5 \(other) 7 9 2\nab",
            "e g 5 \(other) 7 9 \(Int64.max)\nab",
        ] {
            #expect(read(text) == nil, "\(text)")
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = bytes.withUnsafeBytes { ChannelMessage($0, reader: run, omitsOwn: false) }
        }
    }

    @Test("a number above 2^53 is none of the log's, wherever Redis gives it")
    func largeNumbers() {
        let large = String(LogNumber.largest + 1)
        #expect(LogNumber.read("9007199254740992") == LogNumber.largest)
        #expect(LogNumber.read(large) == nil && LogNumber.read("-1") == nil && LogNumber.read("") == nil)
        #expect(RedisReply.integer(-1).logNumber == nil && RedisReply.integer(.max).logNumber == nil)
        #expect(RedisReply.bytes(Array(large.utf8)).logNumber == nil)
        #expect(CommandID(text: "\(run.hexadecimal):\(large)") == nil)
        #expect(MonotonicInstant(microseconds: large) == nil && MonotonicInstant(microseconds: "-1") == nil)
        let entry = RedisReply.array([
            .bytes(Array("\(UInt64.max)-0".utf8)),
            .array(["at", "9", "id", CommandID(run: run, counter: 1).text, "cmd", "x"].map { .bytes(Array($0.utf8)) }),
        ])
        #expect(CommandEntry(SessionID("1_s"), entry) == nil)
    }

    @Test("what Redis says about itself decides whether it is suitable")
    func facts() throws {
        func fault(_ lines: String...) -> CommandLogFault.Code? {
            ServerFacts(info: (["redis_version:7.0.15", "role:master"] + lines).joined(separator: "\r\n"))
                .fault(at: "redis://host")?.code
        }
        #expect(fault() == nil)
        #expect(fault("maxmemory:10", "used_memory:9", "maxmemory_policy:noeviction") == nil)
        #expect(fault("maxmemory:10", "used_memory:10", "maxmemory_policy:noeviction") == .full)
        #expect(fault("maxmemory:10", "used_memory:9", "maxmemory_policy:volatile-ttl") == .unsuitable)
        #expect(fault("cluster_enabled:1") == .unsuitable)
        #expect(fault("loading:1") == .loading)
        #expect(fault("role:slave") == .readOnly)
        #expect(ServerFacts(info: "").fault(at: "redis://host")?.code == .unsuitable)
        let promoted = ServerFacts(info: "master_replid2:00a0")
        #expect(promoted.hasTakenOver)
        #expect(!ServerFacts(info: "master_replid2:0000").hasTakenOver)
    }
}
