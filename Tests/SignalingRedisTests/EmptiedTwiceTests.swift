import CoreTestSupport
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@Suite("Redis log: Redis is emptied again and again")
struct EmptiedTwiceTests {
    /// The times of a server.
    private func bench(seed: UInt64) throws -> SimulatedBench {
        let bench = SimulatedBench(seed: seed)
        for name in ["a", "b", "c"] {
            let node = try bench.node(name) { $0 = LogTimes() }
            // Each node beats at a time of its own.
            bench.pass(.milliseconds(Int(seed) * 97 % 500))
            for session in ["s", "t"] as [SessionID] { try node.open(session) }
        }
        for session in ["s", "t"] as [SessionID] {
            try bench.nodes[0].append("1", to: session)
            try bench.converge(session, count: 1)
        }
        return bench
    }

    @Test("LOG-31: a Redis that is emptied twice within some seconds gets everything back", arguments: 1...12)
    func twice(seed: UInt64) throws {
        for pause in stride(from: 100, through: 4_000, by: 300) {
            let bench = try bench(seed: seed)
            bench.redis.flush()
            bench.pass(.milliseconds(pause))
            bench.redis.flush()
            bench.pass(.seconds(20))
            for node in bench.nodes { #expect(node.dropped.isEmpty, "\(node.name) after \(pause) ms, seed \(seed)") }
            try bench.nodes[1].append("2", to: "s")
            try bench.converge("s", count: 2)
            try bench.converge("t", count: 1)
        }
    }

    @Test("LOG-31: a Redis that is emptied ten times in a row gets everything back", arguments: 1...4)
    func often(seed: UInt64) throws {
        let bench = try bench(seed: seed)
        for _ in 1...10 {
            bench.redis.flush()
            bench.pass(.milliseconds(100 + bench.time.random(below: 2_000)))
        }
        bench.pass(.seconds(20))
        for node in bench.nodes { #expect(node.dropped.isEmpty) }
        try bench.converge("s", count: 1)
        try bench.converge("t", count: 1)
    }
}
