import CoreTestSupport
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

@Suite("Redis log: Redis restarts, forgets, and refuses")
struct RestartTests {
    private static let always = ["--appendonly", "yes", "--appendfsync", "always"]

    @Test("LOG-34: Redis restarts with its data, and the log goes on")
    func restartWithData() throws {
        let bench = try Bench(Self.always)
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        for index in 1...20 { try a.append("\(index)", to: "s") }
        bench.server.kill()
        for index in 21...40 { try a.append("\(index)", to: "s") }
        try bench.loop.run(for: .milliseconds(100))
        try bench.server.start()
        try b.append("b", to: "s")
        try bench.converge("s", count: 41)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
        #expect(a.continued.isEmpty && b.continued.isEmpty)
        #expect(a.log?.inFlightByteCount == 0)
    }

    @Test("LOG-31: Redis restarts empty, and the nodes put back what it has forgotten")
    func restartEmpty() throws {
        let bench = try Bench()
        let a = try bench.node("a") { $0.restoring = .seconds(1) }
        let b = try bench.node("b") { $0.restoring = .seconds(1) }
        for node in [a, b] {
            try node.open("s")
            try node.open("quiet")
        }
        try a.append("quiet", to: "quiet")
        for index in 1...20 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 20)
        try bench.converge("quiet", count: 1)
        try bench.server.killAndForget()
        try a.append("21", to: "s")
        try bench.loop.run(for: .milliseconds(50))
        try bench.server.start()
        try bench.converge("s", count: 21)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
        let c = try bench.node("c")
        try c.open("s")
        #expect(c.texts("s") == (1...21).map(String.init))
        try c.open("quiet")
        #expect(c.texts("quiet") == ["quiet"])
        try c.append("22", to: "s")
        try bench.converge("s", count: 22)
    }

    @Test("LOG-31: Redis is emptied while it runs, and the nodes put everything back")
    func emptied() throws {
        let bench = try Bench()
        let a = try bench.node("a") { $0.restoring = .seconds(1) }
        let b = try bench.node("b") { $0.restoring = .seconds(1) }
        for node in [a, b] { try node.open("s") }
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try bench.server.call("FLUSHALL")
        try a.append("2", to: "s")
        try b.append("3", to: "s")
        try bench.converge("s", count: 3)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    /// The second Redis stands for a replica that took over without the end of the log.
    @Test("LOG-31: a failover loses the end of the log, and a node puts it back")
    func failover() throws {
        let bench = try Bench()
        let a = try bench.node("a") { $0.restoring = .seconds(1) }
        let b = try bench.node("b") { $0.restoring = .seconds(1) }
        for node in [a, b] { try node.open("s") }
        for index in 1...5 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 5)
        let dump = try bench.copyOfRedis()
        for index in 6...9 { try b.append("\(index)", to: "s") }
        try bench.converge("s", count: 9)
        try bench.failOver(to: dump)
        try a.append("10", to: "s")
        try bench.converge("s", count: 10)
        #expect(a.texts("s") == (1...10).map(String.init))
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("LOG-31: a session of an earlier Redis process, for which no node vouches, begins anew")
    func unvouched() throws {
        let bench = try Bench(["--appendonly", "yes", "--appendfsync", "everysec"])
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        a.crash()
        try bench.server.call("CONFIG", "SET", "appendfsync", "always")
        try bench.server.call("SET", "written", "1")
        bench.server.kill()
        try bench.server.start()
        #expect(try bench.server.call("EXISTS", "sb:{s}:meta") == "1")
        let b = try bench.node("b")
        try b.open("s")
        #expect(b.texts("s").isEmpty)
    }

    @Test("LOG-31: a Redis that forgets nothing is trusted")
    func trusted() throws {
        let bench = try Bench(Self.always)
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        a.crash()
        bench.server.kill()
        try bench.server.start()
        let b = try bench.node("b")
        try b.open("s")
        #expect(b.texts("s") == ["1"])
        try b.append("2", to: "s")
        try bench.loop.run { b.texts("s") == ["1", "2"] }
    }

    @Test("LOG-34: Redis is away with commands waiting, and the log says so")
    func away() throws {
        let bench = try Bench(Self.always)
        let a = try bench.node("a")
        try a.open("s")
        bench.server.kill()
        for index in 1...1_000 { try a.append("\(index)", to: "s") }
        a.log?.open("t")
        a.log?.catchUp("s")
        try bench.loop.run { a.isStalled }
        #expect(a.texts("s").isEmpty)
        try bench.server.start()
        try bench.loop.run { a.texts("s").count == 1_000 && a.sessions["t"] != nil && a.caughtUp == ["s"] }
        try bench.loop.run { !a.isStalled }
        #expect(a.healths.last == .keeping)
        #expect(a.lines.all.count { $0.hasPrefix("warning Cannot reach") } == 1, "one line for each outage")
    }

    @Test("LOG-30: the library is removed while the log runs, and is loaded again")
    func functionFlush() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        for index in 1...100 {
            try a.append("a\(index)", to: "s")
            try b.append("b\(index)", to: "s")
            if index % 10 == 0 { try bench.server.call("FUNCTION", "FLUSH") }
            if index % 3 == 0 { try bench.loop.run(for: .milliseconds(2)) }
        }
        try bench.converge("s", count: 200)
        #expect(Set(a.texts("s")).count == 200)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("damaged keys of a session are removed, and it begins anew")
    func damaged() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        try a.open("s")
        for index in 1...3 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 3)
        a.log?.close("s")
        a.sessions["s"] = nil
        try bench.server.call("XDEL", "sb:{s}:log", "2-0")
        try a.open("s")
        #expect(a.texts("s").isEmpty)
        #expect(a.lines.contain("changed the keys of a session"))
    }
}

extension Bench {
    /// A second Redis with the same data.
    func copyOfRedis() throws -> RedisServer {
        let copy = try RedisServer()
        try copy.call("REPLICAOF", "127.0.0.1", "\(server.port)")
        try loop.run { try copy.call("INFO", "replication").contains("master_link_status:up") }
        try copy.call("REPLICAOF", "NO", "ONE")
        return copy
    }

    /// The address of the server leads to another one from now on.
    func failOver(to other: RedisServer) throws {
        server.kill()
        successors.append(other)
        try other.call("CONFIG", "SET", "port", "\(server.port)")
    }
}
