import CoreTestSupport
import RedisSimulation
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingRedisCore
import Testing

/// The real log over a Redis in simulated time: what does not arrive is not waited for.
@Suite("Redis log: lost notifications, and checks of quiet sessions")
struct QuietSessionTests {
    /// Two nodes that have a session with one command.
    private func pair(
        check: Duration = .seconds(60), verification: Duration = .seconds(3_600)
    ) throws -> (bench: SimulatedBench, a: TestNode, b: TestNode) {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        let b = try bench.node("b") { ($0.check, $0.verification) = (check, verification) }
        for node in [a, b] { try node.open("s") }
        return (bench, a, b)
    }

    /// Node `b` misses all notifications of what `a` appends.
    private func miss(_ texts: [String], _ bench: SimulatedBench, _ a: TestNode, _ b: TestNode) throws {
        let before = b.texts("s")
        try bench.links(of: b).losesMessages = true
        for text in texts { try a.append(text, to: "s") }
        try bench.run { texts.allSatisfy { a.texts("s").contains($0) } }
        bench.pass(.milliseconds(20))
        try bench.links(of: b).losesMessages = false
        #expect(b.texts("s") == before)
    }

    @Test("LOG-33: a notification that is lost is asked for")
    func lostNotification() throws {
        let (bench, a, b) = try pair()
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try miss(["2"], bench, a, b)
        try a.append("3", to: "s")
        try bench.converge("s", count: 3)
    }

    @Test("LOG-33: a quiet session that missed its last notification is found by a check")
    func quietSession() throws {
        let (bench, a, b) = try pair(check: .seconds(1))
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try miss(["2"], bench, a, b)
        try bench.converge("s", count: 2)
    }

    @Test("LOG-33: a session without a command that missed the first one is found by a check")
    func emptySession() throws {
        let (bench, a, b) = try pair(check: .milliseconds(100))
        try miss(["1"], bench, a, b)
        try bench.converge("s", count: 1)
    }

    @Test("LOG-33: a session without a command is also compared when its verification would be due")
    func emptySessionLater() throws {
        let (bench, a, b) = try pair(check: .milliseconds(100), verification: .zero)
        try miss(["1"], bench, a, b)
        try bench.converge("s", count: 1)
    }

    @Test("LOG-33: a check of a session that has not changed calls no function until its keys need a longer life")
    func unchangedSession() throws {
        let (bench, a, _) = try pair(check: .milliseconds(100))
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        let before = bench.redis.counts
        bench.pass(.seconds(5))
        #expect(bench.redis.counts["sb1_restore"] == before["sb1_restore"])
        #expect(bench.redis.counts["HMGET", default: 0] >= before["HMGET", default: 0] + 10)

        let (other, c, _) = try pair(check: .milliseconds(100), verification: .zero)
        try c.append("1", to: "s")
        try other.converge("s", count: 1)
        other.pass(.seconds(1))
        #expect(other.redis.counts["sb1_restore", default: 0] > 1)
    }

    @Test("LOG-33: idle sessions share a number of checks in a tick, however many they are")
    func sharedChecks() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a") {
            ($0.check, $0.tick, $0.checksPerTick) = (.milliseconds(100), .milliseconds(100), 2)
        }
        for index in 0..<20 { try a.open(SessionID(rawValue: "s\(index)")) }
        bench.pass(.seconds(1))
        let before = bench.redis.counts["HMGET", default: 0]
        bench.pass(.seconds(1))
        // Ten ticks.
        #expect((18...22).contains(bench.redis.counts["HMGET", default: 0] - before))
    }

    @Test("LOG-33, G5: sessions that were closed take no check from the others")
    func closedSessions() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a") { ($0.check, $0.checksPerTick) = (.milliseconds(100), 1) }
        for index in 0..<2_000 {
            let id = SessionID(rawValue: "s\(index)")
            a.log?.open(id)
            a.log?.close(id)
        }
        try a.open("open")
        bench.pass(.milliseconds(50))
        let before = bench.redis.counts["HMGET", default: 0]
        bench.pass(.seconds(1))
        // Ten checks of the one that is open, each after 100 ms, and none of the others.
        #expect((8...12).contains(bench.redis.counts["HMGET", default: 0] - before))
    }

    @Test("LOG-33: a gap that was trimmed drops the session, which opens from the snapshot")
    func trimmedGap() throws {
        let (bench, a, b) = try pair()
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try miss((2...6).map(String.init), bench, a, b)
        try a.keep("s")
        try a.append("7", to: "s")
        try bench.run { !b.dropped.isEmpty }
        try b.open("s")
        #expect(b.texts("s") == (1...7).map(String.init))
    }

    @Test("relayed bytes reach the other nodes that follow the session, and not the sender")
    func relay() throws {
        let (bench, a, b) = try pair()
        let c = try bench.node("c")
        a.log?.relay(Array("typing\n1".utf8), of: "s")
        try bench.run { b.relayed == ["typing\n1"] }
        bench.pass(.milliseconds(20))
        #expect(a.relayed.isEmpty && c.relayed.isEmpty)
    }

    @Test("the losses of all runs that a session names are known when it is opened")
    func lossesAtOpening() throws {
        let (bench, a, _) = try pair()
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        let run = a.run
        let c = try bench.node("c")
        #expect(c.log?.lossTime(of: run) == nil)
        // As if the message of the loss came later.
        try bench.links(of: c).losesMessages = true
        _ = bench.redis.carryOut("FCALL", "sb1_goodbye", "0", "0", run.hexadecimal)
        try c.open("s")
        #expect(c.log?.lossTime(of: run) != nil)
    }

    @Test("LOG-31: a node that is behind the restored snapshot opens the session anew, and nothing is lost")
    func laggingNode() throws {
        let (bench, a, b) = try pair()
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try miss(["2", "3", "4"], bench, a, b)
        // The network of b fails for longer than a needs to restore the session.
        try bench.links(of: b).isAway = true
        bench.redis.stop()
        bench.redis.start(with: .none)
        try bench.run { bench.redis.lastNumber(of: "s") == 4 }
        try bench.links(of: b).isAway = false
        try bench.run { b.dropped == ["s"] }
        #expect(a.dropped.isEmpty)
        try b.open("s")
        #expect(b.texts("s") == ["1", "2", "3", "4"])
    }

    @Test("G1, LOG-31: entries that waited behind a gap are forgotten with Redis, which gives their numbers to others")
    func forgottenEntries() throws {
        let (bench, a, b) = try pair()
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        // Node b misses 2, and 3 waits there. Only a knew 2, and it dies with Redis.
        try miss(["2"], bench, a, b)
        try a.append("3", to: "s")
        try bench.run { a.texts("s").count == 3 }
        bench.pass(.milliseconds(10))
        #expect(b.texts("s") == ["1"])
        try bench.links(of: a).die()
        a.crash()
        bench.redis.stop()
        bench.redis.start(with: .none)
        try b.append("new", to: "s")
        try bench.run { b.texts("s").contains("new") }
        bench.pass(.seconds(1))
        #expect(b.texts("s") == ["1", "new"])
    }
}
