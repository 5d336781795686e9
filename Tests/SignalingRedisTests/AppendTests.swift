import CoreTestSupport
import RedisSimulation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("Redis log: order")
struct AppendTests {
    @Test("LOG-1: two nodes append to one session, and both get all commands in one order")
    func oneOrder() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        for index in 1...50 {
            try a.append("a\(index)", to: "s")
            try b.append("b\(index)", to: "s")
        }
        try bench.converge("s", count: 100)
        // The order of each sender is kept.
        #expect(a.texts("s").filter { $0.hasPrefix("a") } == (1...50).map { "a\($0)" })
        #expect(a.texts("s").filter { $0.hasPrefix("b") } == (1...50).map { "b\($0)" })
        #expect(a.log?.inFlightByteCount == 0)
    }

    @Test("a session that is opened has its commands, its snapshot, and the counter of the run")
    func opening() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        for index in 1...10 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 10)
        try a.keep("s")
        try a.append("11", to: "s")
        try bench.converge("s", count: 11)
        let b = try bench.node("b")
        try b.open("s")
        #expect(b.texts("s") == (1...11).map(String.init))
        try b.append("12", to: "s")
        try bench.converge("s", count: 12)
        // LOG-3: a run that opens a session again continues its counter.
        a.log?.close("s")
        a.sessions["s"] = nil
        try a.open("s")
        #expect(a.sessions["s"]?.counter == 11)
        try a.append("13", to: "s")
        try bench.converge("s", count: 13)
    }

    @Test("LOG-30: commands of any bytes and sizes come back as they were")
    func anyBytes() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("{s} }~") }
        let texts = ["", "\n", "a b\r\n", String(repeating: "é", count: 100_000), "$5\r\n*1\r\n"]
        for text in texts { try a.append(text, to: "{s} }~") }
        try bench.converge("{s} }~", count: texts.count)
        #expect(b.texts("{s} }~") == texts)
    }

    @Test("LOG-3: a node whose connections break sends again, and nothing is in the log twice")
    func brokenConnections() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        let breaker = try bench.server.connect()
        for index in 1...300 {
            try a.append("a\(index)", to: "s")
            try b.append("b\(index)", to: "s")
            if index % 20 == 0 { try breaker.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") }
            if index % 33 == 0 { try breaker.call("CLIENT", "KILL", "TYPE", "pubsub") }
            if index % 7 == 0 { try bench.loop.run(for: .milliseconds(3)) }
        }
        try bench.converge("s", count: 600)
        #expect(Set(a.texts("s")).count == 600)
        #expect(a.texts("s").filter { $0.hasPrefix("b") } == (1...300).map { "b\($0)" })
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("LOG-10: a session is removed if nothing follows its end, and its next life begins at 1")
    func removal() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        try a.append("end", to: "s")
        try bench.converge("s", count: 1)
        let end = try #require(a.sessions["s"]?.position)
        // Something follows before the removal is carried out.
        a.log?.remove("s", through: end)
        try b.append("begin", to: "s")
        try bench.converge("s", count: 2)
        bench.pass(.seconds(5))
        #expect(bench.redis.keptSessions == ["s"])
        let last = try #require(a.sessions["s"]?.position)
        a.log?.remove("s", through: last)
        a.log?.close("s")
        a.sessions["s"] = nil
        try bench.run { b.dropped == ["s"] }
        #expect(bench.redis.keys.allSatisfy { !$0.hasPrefix("sb:{s}") })
        try b.open("s")
        #expect(b.sessions["s"]?.counter == 0)
        try b.append("again", to: "s")
        try bench.run { b.sessions["s"]?.position?.number == 1 }
        #expect(a.dropped.isEmpty)
    }

    @Test("a session that is closed and opened at once is followed")
    func reopening() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        for round in 1...10 {
            b.log?.close("s")
            b.sessions["s"] = nil
            b.log?.open("s")
            b.log?.open("s")
            try a.append("\(round)", to: "s")
            try bench.run { b.texts("s").count == round }
        }
        #expect(b.openedCount == 11)
    }

    @Test("LOG-9: a snapshot trims the log, and an older one changes nothing")
    func snapshots() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        try a.open("s")
        for index in 1...5 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 5)
        let early = try #require(a.snapshot(of: "s"))
        for index in 6...9 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 9)
        try a.keep("s")
        #expect(try bench.server.call("XLEN", "sb:{s}:log") == "0")
        a.log?.keep(early)
        try bench.loop.run { a.kept == [9, 5] }
        #expect(try bench.server.call("HGET", "sb:{s}:meta", "s") == "9")
    }

    private static func text(of reply: RedisReply) -> String {
        reply.text ?? (reply.array ?? []).map(text).joined(separator: " ")
    }

    @Test("HIS-9, LOG-9: nothing has erased content once a snapshot replaced it, and the nodes that lag had their time")
    func erased() throws {
        let bench = SimulatedBench(seed: 1)
        let log = { Self.text(of: bench.redis.carryOut("XRANGE", "sb:{s}:log", "0-0", "+")) }
        let a = try bench.node("a") { $0.retention = .seconds(60) }
        try a.open("s")
        for text in ["secret", "erase"] { try a.append(text, to: "s") }
        try bench.run { a.texts("s").count == 2 }
        try a.keep("s")
        try a.append("later", to: "s")
        try bench.run { a.texts("s").count == 3 }
        let position = try #require(a.sessions["s"]?.position)
        let count = a.kept.count
        a.log?.keep(CommandSnapshot(session: "s", position: position, replacesErased: true) { Array("clean".utf8) })
        try bench.run { a.kept.count > count }
        try a.append("last", to: "s")
        try bench.run { a.texts("s").count == 4 }
        // The call may be lost with its link.
        bench.redis.freeze()
        bench.pass(.seconds(59))
        #expect(log().contains("secret"))
        try bench.links(of: a).breakLinks()
        bench.redis.thaw()
        bench.pass(.seconds(120))
        #expect(!log().contains("secret") && !log().contains("later") && log().contains("last"))
        #expect(bench.redis.carryOut("GET", "sb:{s}:snap").text == "clean")
        let b = try bench.node("b")
        try b.open("s")
        #expect(b.texts("s") == ["clean", "last"])
    }
}
