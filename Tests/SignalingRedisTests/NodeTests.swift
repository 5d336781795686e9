import CoreTestSupport
import RedisSimulation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("Redis log: nodes")
struct NodeTests {
    @Test("LOG-32: a node that dies is declared lost, and one other node adopts its sessions")
    func death() throws {
        let bench = try Bench()
        let a = try bench.node("a", LogTimes.mortal)
        let b = try bench.node("b", LogTimes.mortal)
        let c = try bench.node("c", LogTimes.mortal)
        try a.open("s")
        try a.open("t")
        try a.append("1", to: "s")
        try bench.loop.run { a.texts("s").count == 1 }
        let run = a.run
        #expect(b.log?.lossTime(of: run) == nil)
        a.crash()
        try bench.loop.run { b.losses[run] != nil && c.losses[run] != nil }
        #expect(b.losses[run] == c.losses[run])
        #expect(b.log?.lossTime(of: run) == b.losses[run])
        #expect((b.orphans + c.orphans).sorted() == ["s", "t"])
        #expect(b.orphans.isEmpty || c.orphans.isEmpty)
    }

    @Test("LOG-32: a frozen node is declared lost, and continues as another run when it thaws")
    func frozenNode() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a", LogTimes.mortal)
        let b = try bench.node("b", LogTimes.mortal)
        for node in [a, b] { try node.open("s") }
        let run = a.run
        try a.append("1", to: "s")
        try bench.run { a.texts("s") == ["1"] }
        // The loop of a stands still.
        let links = try bench.links(of: a)
        var late: [() -> Void] = []
        links.enter = { late.append($0) }
        try bench.run { b.losses[run] != nil }
        #expect(b.orphans == ["s"])
        try a.append("never", to: "s")
        links.enter = { $0() }
        for event in late { event() }
        try bench.run { !a.continued.isEmpty }
        #expect(a.run != run)
        #expect(a.log?.run == a.run)
        #expect(a.log?.inFlightByteCount == 0)
        #expect(a.log?.lossTime(of: run) != nil)
        try a.open("s")
        #expect(a.texts("s") == ["1"], "LOG-32: a tombstone refuses the run's commands")
        try a.append("2", to: "s")
        try bench.run { a.texts("s") == ["1", "2"] && b.texts("s") == ["1", "2"] }
    }

    @Test("LOG-32: Redis stands still longer than a sign of life is valid, and nobody is declared lost")
    func stalledRedis() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a", LogTimes.mortal)
        let b = try bench.node("b", LogTimes.mortal)
        for node in [a, b] { try node.open("s") }
        // Long enough for a declaration, if there were no pause.
        bench.pass(.seconds(1))
        // Node b comes back after a, when its sign of life has lapsed.
        try bench.links(of: b).isAway = true
        bench.redis.freeze()
        try a.append("1", to: "s")
        try bench.run { a.isStalled && b.isStalled }
        bench.pass(.seconds(1))
        bench.redis.thaw()
        bench.pass(.milliseconds(300))
        try bench.links(of: b).isAway = false
        try bench.converge("s", count: 1)
        try bench.run { !a.isStalled && !b.isStalled }
        bench.pass(.seconds(5))
        #expect(a.losses.isEmpty && b.losses.isEmpty)
        #expect(a.continued.isEmpty && b.continued.isEmpty)
        #expect(a.dropped.isEmpty && b.dropped.isEmpty)
    }

    @Test("LOG-13: a node that stops keeps what was appended, and says goodbye at once")
    func stop() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        let b = try bench.node("b")
        try a.open("s")
        let run = a.run
        for index in 1...100 { try a.append("\(index)", to: "s") }
        try a.stop()
        #expect(a.texts("s").count == 100)
        try bench.run { b.losses[run] != nil && b.orphans == ["s"] }
        try b.open("s")
        #expect(b.texts("s").count == 100)
        #expect(b.log?.lossTime(of: run) != nil)
    }

    @Test("sessions that no node was there to adopt are adopted by the next node")
    func adoptionAtStart() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        let run = a.run
        try a.stop()
        let b = try bench.node("b")
        try bench.run { b.orphans == ["s"] }
        #expect(b.losses[run] != nil)
    }

    @Test("LOG-32: a run that Redis does not know may be late: it is lost only after its time")
    func unknownRun() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a", LogTimes.mortal)
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        let run = a.run
        try bench.links(of: a).die()
        a.crash()
        _ = bench.redis.carryOut("DEL", "sb:nodes", "sb:node:\(run.hexadecimal)")
        let b = try bench.node("b", LogTimes.mortal)
        try b.open("s")
        #expect(b.log?.lossTime(of: run) == nil)
        try bench.run { b.losses[run] != nil && b.orphans == ["s"] }
    }

    @Test("LOG-36: a node with another list of addresses is refused while others run, and accepted afterwards")
    func otherList() throws {
        let bench = try Bench()
        let other = try RedisServer()
        let third = try RedisServer()
        let a = TestNode("a", on: bench.loop)
        try a.start([bench.server.address, other.address])
        try bench.loop.run { a.log != nil }
        let b = TestNode("b", on: bench.loop)
        try b.start([bench.server.address, third.address])
        try bench.loop.run { b.fault != nil }
        #expect(b.fault?.code == .otherList)
        #expect(b.fault?.message.contains("Give all nodes the same list") == true)
        try a.stop()
        try b.start([bench.server.address, third.address])
        try bench.loop.run { b.log != nil }
        b.crash()
    }

    @Test("LOG-36: sessions are spread over several Redis, and a node that is lost on one is lost on all")
    func severalAddresses() throws {
        let servers = try [RedisServer(), RedisServer(), RedisServer()]
        let addresses = servers.map(\.address)
        let loop = try UVLoop()
        let nodes = try (0..<2).map { index in
            let node = TestNode("\(index)", on: loop)
            try node.start(addresses)
            try loop.run { node.log != nil }
            return node
        }
        let sessions = (1...30).map { SessionID(rawValue: "s\($0)") }
        for session in sessions {
            for node in nodes { try node.open(session) }
            try nodes[0].append("a", to: session)
            try nodes[1].append("b", to: session)
        }
        try loop.run { nodes.allSatisfy { node in sessions.allSatisfy { node.texts($0).count == 2 } } }
        #expect(sessions.allSatisfy { nodes[0].texts($0) == nodes[1].texts($0) })
        for server in servers { #expect(try server.call("KEYS", "sb:{*}:meta").split(separator: " ").count > 3) }
        let run = nodes[0].run
        try servers[1].call("FCALL", "sb1_goodbye", "0", "0", run.hexadecimal)
        try loop.run { !nodes[0].continued.isEmpty && nodes[1].losses[run] != nil }
        for server in servers {
            try loop.run { try !server.call("HGET", "sb:nodes", run.hexadecimal).hasPrefix("a") }
        }
        try loop.run { nodes[1].orphans.count + nodes[0].orphans.count == sessions.count }
        for node in nodes { node.crash() }
    }
}
