import CoreTestSupport
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

/// Another program, or a person, has changed keys of the log.
@Suite("Redis log: keys that another program has changed")
struct DamageTests {
    private static let changes: [[String]] = [
        ["SET", "sb:{s}:meta", "x"], ["SET", "sb:{s}:log", "x"], ["RPUSH", "sb:{s}:snap", "x"],
        ["HSET", "sb:{s}:meta", "n", "x"], ["HSET", "sb:{s}:meta", "at", "x"], ["HSET", "sb:{s}:meta", "id", "x"],
        ["HSET", "sb:{s}:meta", "s", "x"], ["HSET", "sb:{s}:meta", "c:0000000000000001", "x"],
        ["HDEL", "sb:{s}:meta", "n"], ["HDEL", "sb:{s}:meta", "at"], ["HDEL", "sb:{s}:meta", "id"],
        ["HDEL", "sb:{s}:meta", "g"],
    ]

    /// A busy machine is no stall, of which a node would tell.
    private static func calm(_ times: inout LogTimes) { times.stall = .seconds(60) }

    private func change(_ change: [String], on bench: Bench) throws {
        if ["SET", "RPUSH"].contains(change[0]) { try bench.server.call("DEL", change[1]) }
        _ = try bench.server.connect().call(change)
    }

    /// Until a node has the command, opens and appends again as clients do that come back.
    private func append(_ text: String, from node: TestNode, on bench: Bench) throws {
        while !node.texts("s").contains(text) {
            if node.sessions["s"] == nil { try node.open("s") }
            try node.append(text, to: "s")
            do {
                try bench.loop.run { node.sessions["s"] == nil || node.texts("s").contains(text) }
            } catch {
                Issue.record("\(text) is not kept: \(node.lines.all)")
                throw error
            }
        }
    }

    @Test("LOG-38: a session whose keys were changed begins anew, on all nodes", arguments: changes.indices)
    func followed(index: Int) throws {
        let bench = try Bench()
        let a = try bench.node("a", Self.calm)
        let b = try bench.node("b", Self.calm)
        for node in [a, b] { try node.open("s") }
        try append("1", from: a, on: bench)
        try a.keep("s")
        try append("2", from: a, on: bench)
        try bench.converge("s", count: 2)
        try change(Self.changes[index], on: bench)
        try append("3", from: a, on: bench)
        try append("4", from: b, on: bench)
        try append("5", from: a, on: bench)
        try bench.loop.run { a.texts("s") == b.texts("s") }
        for node in [a, b] { #expect(node.lines.all.count <= 6, "\(node.lines.all.count) lines") }
    }

    @Test("LOG-38: a session whose keys were changed while no node had it begins anew", arguments: changes.indices)
    func opened(index: Int) throws {
        let bench = try Bench()
        let a = try bench.node("a", Self.calm)
        try append("1", from: a, on: bench)
        try a.keep("s")
        try append("2", from: a, on: bench)
        a.log?.close("s")
        a.sessions["s"] = nil
        try change(Self.changes[index], on: bench)
        try append("3", from: a, on: bench)
        #expect(a.lines.all.count <= 4)
    }

    @Test("LOG-38: a changed key of no session costs no session: the log stalls, and says which keys to delete")
    func otherKey() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        try append("1", from: a, on: bench)
        try bench.server.call("DEL", "sb:nodes")
        try bench.server.call("SET", "sb:nodes", "x")
        try a.append("2", to: "s")
        try bench.loop.run { a.isStalled }
        #expect(a.lines.contain("whose name begins with sb:"))
        #expect(try bench.server.call("EXISTS", "sb:{s}:meta") == "1")
        try bench.server.call("DEL", "sb:nodes")
        try bench.converge("s", count: 2)
        #expect(a.dropped.isEmpty)
    }
}
