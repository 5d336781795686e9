import CoreTestSupport
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingRedisCore
import TestSupport
import Testing

@Suite("Redis log: what an operator reads of a full Redis")
struct FullRedisTests {
    private func bench() throws -> (SimulatedBench, TestNode) {
        let bench = SimulatedBench()
        let a = try bench.node("a") { $0 = LogTimes() }
        for session in ["s", "t"] as [SessionID] {
            try a.open(session)
            try a.append("join", to: session)
            try bench.converge(session, count: 1)
        }
        return (bench, a)
    }

    private func count(_ text: String, _ node: TestNode) -> Int { node.lines.all.count { $0.contains(text) } }

    @Test(
        "LOG-34: a full Redis is told once, and so is its end, however slowly Redis answers", arguments: [false, true])
    func once(delaysAnswers: Bool) throws {
        let (bench, a) = try bench()
        bench.redis.isFull = true
        try bench.links(of: a).delaysAnswers = delaysAnswers
        try a.append("signal", to: "s")
        for index in 1...60 {
            bench.pass(.seconds(1))
            // What frees memory goes through, and says nothing of the rest.
            if index % 3 == 0 { try a.append("leave", to: "t", freesMemory: true) }
        }
        #expect(count("no commands are kept", a) == 1)
        #expect(count("kept again", a) == 0)
        #expect(a.healths.count == 1)
        #expect(a.continued.isEmpty, "signs of life pass")
        bench.redis.isFull = false
        bench.pass(.seconds(5))
        #expect(a.texts("s") == ["join", "signal"])
        #expect(count("no commands are kept", a) == 1 && count("kept again", a) == 1)
        #expect(a.healths.count == 2)
    }

    @Test("LOG-34: a Redis at the limit of its memory is told at most once a minute")
    func flapping() throws {
        let (bench, a) = try bench()
        for index in 1...60 {
            bench.redis.isFull = true
            try a.append("signal \(index)", to: "s")
            bench.pass(.seconds(4))
            bench.redis.isFull = false
            bench.pass(.seconds(1))
        }
        // Five minutes.
        #expect((4...6).contains(count("no commands are kept", a)))
        #expect((4...6).contains(count("kept again", a)))
        #expect(a.healths.count == 120, "the node's readiness follows at once")
        // A stall that was not told, since one was told before, and that lasts.
        bench.redis.isFull = true
        try a.append("signal", to: "s")
        let before = count("no commands are kept", a)
        bench.pass(.seconds(70))
        #expect(count("no commands are kept", a) == before + 1)
    }
}
