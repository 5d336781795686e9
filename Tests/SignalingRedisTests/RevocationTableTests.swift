import Logging
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

/// Revocations on a real Redis, as two nodes see them.
@Suite("Revocations in Redis", .serialized)
struct RevocationTableTests {
    private final class Bench {
        let loop: UVLoop
        let server: RedisServer
        let lines = LogLines()
        private(set) var tables: [RedisRevocationTable] = []
        private var openCount = 0

        init(nodes: Int = 2, limit: Int = 10_000, check: Duration = .seconds(60)) throws {
            loop = try UVLoop()
            server = try RedisServer([])
            for _ in 0..<nodes { try addNode(limit: limit, check: check) }
        }

        deinit { for table in tables { table.close() } }

        func addNode(limit: Int = 10_000, check: Duration = .seconds(60)) throws {
            var times = LogTimes.short
            times.check = check
            tables.append(
                RedisRevocationTable(
                    try RedisAddress(server.address), limit: limit, loop: loop.eventLoop, logger: lines.logger,
                    times: times
                ) { [weak self] in self?.openCount += 1 })
            try loop.run { openCount == tables.count }
        }

        @discardableResult
        func raise(
            _ subject: String, _ number: Int64, of project: String = "100", on node: Int = 0
        ) throws -> Result<RevocationTableState.Outcome, RevocationTableState.Failure>? {
            var result: Result<RevocationTableState.Outcome, RevocationTableState.Failure>?
            tables[node].raise(.init(subject, number), of: project) { result = $0 }
            try loop.run { result != nil }
            return result
        }

        func remove(
            _ subject: String, of project: String = "100", on node: Int = 0
        ) throws -> Result<RevocationTableState.Outcome, RevocationTableState.Failure>? {
            var result: Result<RevocationTableState.Outcome, RevocationTableState.Failure>?
            tables[node].remove(subject, of: project) { result = $0 }
            try loop.run { result != nil }
            return result
        }
    }

    @Test("TOK-10: all nodes learn a revocation at once, and that it is taken back")
    func news() throws {
        let bench = try Bench()
        #expect(try bench.raise("user:Zoë 😀", 100) == .success(.raised(100)))
        #expect(bench.tables[0].rows == ["100": ["user:Zoë 😀": 100]])
        // Nobody looks for a minute: the message tells the other node.
        try bench.loop.run { bench.tables[1].rows == ["100": ["user:Zoë 😀": 100]] }
        #expect(try bench.remove("user:Zoë 😀", on: 1) == .success(.removed(true)))
        try bench.loop.run { bench.tables[0].rows.isEmpty }
        #expect(try bench.remove("user:Zoë 😀", on: 1) == .success(.removed(false)))
    }

    @Test("TOK-10: a node that starts later has what was revoked before")
    func later() throws {
        let bench = try Bench(nodes: 1)
        try bench.raise("all", 5)
        try bench.raise("jti:a b", 0, of: "101")
        try bench.addNode()
        #expect(bench.tables[1].rows == ["100": ["all": 5], "101": ["jti:a b": 0]])
    }

    @Test("REST-8: of two nodes that revoke at once, the later moment counts")
    func greatest() throws {
        let bench = try Bench()
        try bench.raise("all", 9)
        #expect(try bench.raise("all", 7, on: 1) == .success(.raised(9)))
        try bench.loop.run { bench.tables[1].rows == ["100": ["all": 9]] }
    }

    @Test("REST-8: the nodes together keep the bound of a project")
    func bound() throws {
        let bench = try Bench(limit: 2)
        try bench.raise("jti:1", 0)
        try bench.raise("jti:2", 0, on: 1)
        #expect(try bench.raise("jti:3", 0) == .success(.full))
        #expect(try bench.raise("jti:2", 0) == .success(.raised(0)))
        #expect(try bench.raise("jti:3", 0, of: "101") == .success(.raised(0)))
    }

    @Test("TOK-10: a change whose message is lost is found by the next look")
    func lostMessage() throws {
        let bench = try Bench(nodes: 1, check: .milliseconds(100))
        // What the function writes, without its message.
        _ = try bench.server.call("HSET", "sb:revoked:100", "all", "7")
        _ = try bench.server.call("HINCRBY", "sb:revoked", "100", "1")
        try bench.loop.run { bench.tables[0].rows == ["100": ["all": 7]] }
    }

    @Test("TOK-10: revocations hold while Redis is away, none can be made then, and a Redis that forgot gets them back")
    func forgotten() throws {
        let bench = try Bench(check: .milliseconds(100))
        for number in 1...1_200 { bench.tables[0].raise(.init("user:\(number)", Int64(number)), of: "100") { _ in } }
        try bench.raise("all", 5)
        try bench.loop.run { bench.tables[1].rows["100"]?.count == 1_201 }
        bench.server.kill()
        try bench.loop.run { bench.lines.contain("cannot be read or changed") }
        #expect(try bench.raise("all", 6) == .failure(.notKept))
        #expect(bench.tables[0].rows["100"]?.count == 1_201)
        try bench.server.killAndForget()
        try bench.server.start()
        try bench.loop.run { try bench.server.call("HLEN", "sb:revoked:100") == "1201" }
        try bench.loop.run { if case .success? = try bench.raise("all", 7) { true } else { false } }
        try bench.loop.run { bench.tables[1].rows["100"]?["all"] == 7 }
        #expect(bench.tables.allSatisfy { $0.rows["100"]?.count == 1_201 })
    }

    @Test("TOK-10: a Redis that was emptied while it ran gets back what the nodes know")
    func emptied() throws {
        let bench = try Bench(check: .milliseconds(50))
        try bench.raise("all", 5)
        try bench.loop.run { bench.tables[1].rows == ["100": ["all": 5]] }
        _ = try bench.server.call("DEL", "sb:revoked", "sb:revoked:100")
        try bench.loop.run { try bench.server.call("HGET", "sb:revoked:100", "all") == "5" }
        #expect(bench.tables.allSatisfy { $0.rows == ["100": ["all": 5]] })
    }
}
