import CoreTestSupport
import Logging
import RedisSimulation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

/// HIS-3: a session with a history sleeps in Redis when nobody is left.
@Suite("Sleeping sessions in Redis", .serialized)
struct SleepTests {
    private func fallAsleep(
        _ node: TestNode, _ session: SessionID = "s", for reason: SleepReason = SleepReason(hasHistory: true)
    ) throws {
        let log = try #require(node.log)
        log.sleep(try #require(node.snapshot(of: session)), for: reason)
        log.close(session)
        node.sessions[session] = nil
    }

    private func begin(_ bench: SimulatedBench, _ texts: [String]) throws -> TestNode {
        let a = try bench.node("a")
        try a.open("s")
        for text in texts { try a.append(text, to: "s") }
        try bench.run { a.texts("s") == texts }
        return a
    }

    @Test("HIS-3: a sleeper is its last state, lives as long as its history, and goes on where it stopped")
    func sleepAndWake() throws {
        let bench = try Bench()
        func isAsleep() throws -> Bool { try bench.server.call("HGET", "sb:{s}:meta", "z") == "1" }
        let a = try bench.node("a")
        try a.open("s")
        for text in ["join", "end"] { try a.append(text, to: "s") }
        try bench.converge("s", count: 2)
        a.log?.sleepingLife = .seconds(700_000)
        try fallAsleep(a)
        try bench.loop.run { try isAsleep() }
        #expect(try bench.server.call("EXISTS", "sb:{s}:log") == "0")
        // A read opens it, and does not shorten its life.
        let b = try bench.node("b")
        try b.open("s")
        #expect(b.texts("s") == ["join", "end"])
        for suffix in ["meta", "snap"] {
            let life = Int(try bench.server.call("TTL", "sb:{s}:\(suffix)")) ?? 0
            #expect((600_000...700_000).contains(life), "\(suffix)")
        }
        try b.append("wake", to: "s")
        try a.open("s")
        try bench.converge("s", count: 3)
        #expect(try !isAsleep())
        for suffix in ["meta", "snap", "log"] {
            let life = Int(try bench.server.call("TTL", "sb:{s}:\(suffix)")) ?? 0
            #expect((80_000...86_400).contains(life), "\(suffix) lives as long as that of any session")
        }
        // Its commands count on from where they were (LOG-3).
        try a.append("more", to: "s")
        try bench.converge("s", count: 4)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("MOD-9: a sleeper lives as long as its restriction, or its history if that is longer")
    func restricted() throws {
        func life(hasHistory: Bool, _ end: (MonotonicInstant) -> RestrictionEnd) throws -> Int64 {
            let bench = SimulatedBench()
            let a = try begin(bench, ["join", "end"])
            let log = try #require(a.log)
            log.sleepingLife = .seconds(5_000)
            let reason = SleepReason(hasHistory: hasHistory, restrictionsEnd: end(log.time(at: bench.now)))
            try fallAsleep(a, for: reason)
            try bench.run { bench.redis.isAsleep("s") }
            let lives = ["meta", "snap"].map { bench.redis.carryOut("TTL", "sb:{s}:\($0)").number ?? 0 }
            #expect(abs(lives[0] - lives[1]) <= 1)
            return lives[0]
        }
        #expect((999...1_001).contains(try life(hasHistory: false) { .at($0.advanced(by: .seconds(1_000))) }))
        #expect((4_999...5_000).contains(try life(hasHistory: true) { .at($0.advanced(by: .seconds(1_000))) }))
        #expect((8_999...9_001).contains(try life(hasHistory: true) { .at($0.advanced(by: .seconds(9_000))) }))
        #expect(try life(hasHistory: false) { _ in .whenLifted } > 90 * 365 * 86_400)
    }

    @Test("HIS-3: Redis lists the sessions that sleep, in parts, and forgets the names of those that it has forgotten")
    func listed() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        let archive = RedisArchive(
            [try RedisAddress(bench.server.address)], bounds: HistoryBounds(), loop: bench.loop.eventLoop,
            logger: Logger(label: "test"))
        defer { archive.close() }
        func read(_ limit: Int = 9, in range: Range<SessionID> = .all) throws -> String {
            var read: Result<SleepingSessions, SleepersUnread>?
            archive.readSleepers(in: range, atMost: limit) { read = $0 }
            try bench.loop.run { read != nil }
            let part = try #require(try read?.get())
            return (part.rows.map(\.id.rawValue) + [part.next.map { "below \($0.rawValue)" } ?? "end"])
                .joined(separator: " ")
        }
        let names: [SessionID] = ["b", "d", "e", "g", "s"]
        for name in names {
            try a.open(name)
            try a.append("end", to: name)
            try bench.loop.run { a.texts(name) == ["end"] }
        }
        for name in names { try fallAsleep(a, name) }
        try bench.loop.run { try bench.server.call("ZCARD", "sb:sleepers") == "5" }
        #expect(try read() == "s g e d b end")
        #expect(try read(2) == "s g below g" && read(2, in: .all.below("g") ?? .all) == "e d below d")
        #expect(
            try read(in: "d"..<"g") == "e d end" && read(in: .only("b")) == "b end" && read(in: .only("c")) == "end")
        // Redis forgets one, another program changes the keys of one, and one is woken.
        try bench.server.call("DEL", "sb:{b}:meta")
        try bench.server.call("SET", "sb:{d}:meta", "not a hash")
        try a.open("e")
        #expect(try read(2) == "s g below g", "to open a session for a read does not wake it")
        try a.append("wake", to: "e")
        try bench.loop.run { a.texts("e") == ["end", "wake"] }
        #expect(try read() == "s g end")
        #expect(try bench.server.call("ZCARD", "sb:sleepers") == "2")
        // Without anybody who reads the list, each that falls asleep finds some that are gone.
        try bench.server.call("DEL", "sb:{g}:meta")
        try fallAsleep(a, "e")
        try bench.loop.run { try bench.server.call("ZRANGE", "sb:sleepers", "0", "-1") == "e s" }
        // An older library has listed nothing.
        try bench.server.call("DEL", "sb:sleepers")
        try a.open("s")
        try bench.loop.run { a.texts("s") == ["end"] }
        #expect(try read() == "s end")
    }

    @Test("HIS-3: a command that overtakes the last state keeps the session awake")
    func overtaken() throws {
        let bench = SimulatedBench()
        let a = try begin(bench, ["join", "end"])
        let snapshot = try #require(a.snapshot(of: "s"))
        let b = try bench.node("b")
        try b.open("s")
        try b.append("join again", to: "s")
        try bench.converge("s", count: 3)
        a.log?.sleep(snapshot, for: SleepReason(hasHistory: true))
        // Commands of one link are carried out in their order.
        try a.append("signal", to: "s")
        try bench.converge("s", count: 4)
        #expect(!bench.redis.isAsleep("s"))
        #expect(bench.redis.carryOut("XRANGE", "sb:{s}:log", "0-0", "+").array?.count == 4)
    }

    /// With some seeds, the call arrives although its link breaks.
    @Test("HIS-3: a last state that the network loses is sent again", arguments: 1...8 as ClosedRange<UInt64>)
    func lostOnItsWay(seed: UInt64) throws {
        let bench = SimulatedBench(seed: seed)
        let a = try begin(bench, ["end"])
        bench.redis.freeze()
        try fallAsleep(a)
        bench.pass(.milliseconds(50))
        try bench.links(of: a).breakLinks()
        bench.redis.thaw()
        try bench.run { bench.redis.carryOut("HGET", "sb:{s}:meta", "z").text == "1" }
        #expect(bench.redis.carryOut("EXISTS", "sb:{s}:log") == .integer(0))
    }

    @Test("LOG-30: a node whose Redis has the library of an older version loads its own")
    func olderLibrary() throws {
        let bench = SimulatedBench()
        let a = try begin(bench, ["end"])
        let line = "register('sleep_listed', sleep, { 'allow-oom' })\n"
        let older = FunctionLibrary.code.replacing(line, with: "")
        #expect(older != FunctionLibrary.code)
        _ = bench.redis.carryOut("FUNCTION", "LOAD", "REPLACE", older)
        try fallAsleep(a)
        try bench.run { bench.redis.isAsleep("s") }
    }
}
