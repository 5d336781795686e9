import CoreTestSupport
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

/// The real log over a Redis in simulated time, which has the real functions.
@Suite("Redis log: Redis has forgotten something, or has another order")
struct ForgottenTests {
    /// Another process, with these keys.
    private func restart(_ bench: SimulatedBench, with memory: SimulatedRedis.Memory) {
        bench.redis.stop()
        bench.redis.start(with: memory)
    }

    @Test("LOG-31: Redis restarts with data from before the session's present order, and a node puts that order back")
    func olderOrder() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a") { $0.restoring = .milliseconds(500) }
        try a.open("s")
        try a.append("old", to: "s")
        try bench.converge("s", count: 1)
        bench.redis.save()
        _ = bench.redis.carryOut("DEL", "sb:{s}:meta", "sb:{s}:log")
        a.log?.close("s")
        a.sessions["s"] = nil
        try a.open("s")
        for index in 1...3 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 3)
        restart(bench, with: .saved)
        try a.append("4", to: "s")
        try bench.converge("s", count: 4)
        #expect(a.texts("s") == ["1", "2", "3", "4"] && a.dropped.isEmpty)
    }

    @Test(
        "LOG-31: a Redis that hides the name of its process is used, and a restart of it is noticed",
        arguments: [SimulatedRedis.Memory.none, .saved])
    func hiddenProcess(memory: SimulatedRedis.Memory) throws {
        let bench = SimulatedBench()
        bench.redis.hidesRunID = true
        let a = try bench.node("a") { $0.restoring = .milliseconds(500) }
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        bench.redis.save()
        for index in 2...3 { try b.append("\(index)", to: "s") }
        try bench.converge("s", count: 3)
        restart(bench, with: memory)
        try b.append("4", to: "s")
        try bench.converge("s", count: 4)
        #expect(a.texts("s") == ["1", "2", "3", "4"] && a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("LOG-31: an empty Redis learns from the nodes how far the log's clock is ahead, and still restores all")
    func clockOfEmptyRedis() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a") { $0.restoring = .milliseconds(500) }
        let names: [SessionID] = ["s", "t", "u"]
        for name in names {
            try a.open(name)
            try a.append("1", to: name)
            try bench.converge(name, count: 1)
        }
        // As if Redis' clock had been an hour ahead until now.
        let at = try #require(bench.redis.carryOut("HGET", "sb:{s}:meta", "at").text.flatMap { Int64($0) })
        _ = bench.redis.carryOut("HSET", "sb:{s}:meta", "at", String(at + 3_600_000_000))
        for name in names {
            try a.append("2", to: name)
            try bench.converge(name, count: 2)
        }
        restart(bench, with: .none)
        for name in names {
            try a.append("3", to: name)
            try bench.converge(name, count: 3)
        }
        #expect(a.dropped.isEmpty)
    }

    @Test("LOG-31: a snapshot keeps the counter of a run that an emptied Redis does not know yet")
    func counterOfUnknownRun() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        for node in [a, b] { try node.open("s") }
        try a.append("1", to: "s")
        try b.append("2", to: "s")
        try bench.converge("s", count: 2)
        let counter = "c:\(b.run.hexadecimal)"
        _ = bench.redis.carryOut("HDEL", "sb:nodes", b.run.hexadecimal)
        try a.keep("s")
        #expect(bench.redis.carryOut("HGET", "sb:{s}:meta", counter).text == "1")
    }

    @Test("LOG-31: a node whose commands Redis has forgotten opens the session anew, and does not repeat them for ever")
    func forgottenCounter() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        for index in 1...3 { try a.append("\(index)", to: "s") }
        try bench.converge("s", count: 3)
        _ = bench.redis.carryOut("HDEL", "sb:{s}:meta", "c:\(a.run.hexadecimal)")
        try a.append("4", to: "s")
        try bench.run { a.dropped == ["s"] }
        try a.open("s")
        try a.append("4", to: "s")
        try bench.run { a.texts("s") == ["1", "2", "3", "4"] }
    }

    @Test("LOG-31: nodes that contradict each other drop the session, and it begins anew")
    func contradiction() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a") { $0.restoring = .milliseconds(500) }
        let b = try bench.node("b") { $0.restoring = .milliseconds(500) }
        for node in [a, b] { try node.open("s") }
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        bench.redis.save()
        try a.append("2", to: "s")
        try bench.converge("s", count: 2)
        restart(bench, with: .saved)
        // The copy has gone its own way.
        _ = bench.redis.carryOut("XADD", "sb:{s}:log", "2-0", "at", "5", "id", "00000000000000ff:1", "cmd", "x")
        _ = bench.redis.carryOut("HSET", "sb:{s}:meta", "n", "2", "id", "00000000000000ff:1")
        try bench.run { a.dropped == ["s"] && b.dropped == ["s"] }
        try a.open("s")
        #expect(a.texts("s").isEmpty)
        try a.append("new", to: "s")
        try bench.run { a.texts("s") == ["new"] }
    }

    @Test("LOG-31: commands that only a late node has mean a new beginning, which is told")
    func lateNode() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        a.hidesSnapshots = true
        restart(bench, with: .none)
        try bench.run { a.dropped == ["s"] }
        try a.open("s")
        #expect(a.texts("s").isEmpty)
    }

    @Test("LOG-4: a backward step of Redis' clock counts as zero")
    func clockSteps() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        // As if the command had been ordered before a step of an hour.
        let at = try #require(bench.redis.carryOut("HGET", "sb:{s}:meta", "at").text.flatMap { Int64($0) })
        _ = bench.redis.carryOut("HSET", "sb:{s}:meta", "at", String(at + 3_600_000_000))
        try a.append("2", to: "s")
        try a.open("t")
        try bench.converge("s", count: 2)
        try a.append("t", to: "t")
        try bench.run { a.texts("t").count == 1 }
        let times = try #require(a.sessions["s"]?.times)
        #expect(times[1].duration(since: times[0]) >= .seconds(3_600))
        let other = try #require(a.sessions["t"]?.times.first)
        #expect(other >= times[1], "one clock for all sessions")
        let log = try #require(a.log)
        #expect(log.time(at: bench.now) >= other)
        #expect(log.time(at: bench.now).duration(since: other) < .seconds(1))
    }
}
