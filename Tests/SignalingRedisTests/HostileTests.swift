import CoreTestSupport
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

/// What is at the address of Redis may say anything. A process that ended by it would end again after each start.
@Suite("A Redis that lies")
struct HostileTests {
    private static func impatient(_ times: inout LogTimes) {
        times.connecting = .milliseconds(200)
        times.silence = .milliseconds(200)
        times.reconnecting = .milliseconds(10)
    }

    /// A node that appends to a session through a Redis that lies.
    private final class Victim {
        let bench: Bench
        let hostile: HostileRedis
        let node: TestNode
        private var count = 0

        init() throws {
            bench = try Bench()
            hostile = try HostileRedis(before: bench.server.port)
            node = TestNode("a", on: bench.loop)
            try node.start([hostile.address], HostileTests.impatient)
            try bench.loop.run { node.log != nil || node.fault != nil }
            try node.open("s")
        }

        func hear(_ lie: HostileRedis.Lie, on connection: HostileRedis.Connection) throws {
            let count = hostile.toldCount
            hostile.tell(lie, on: connection)
            try bench.loop.run { hostile.toldCount > count }
        }

        /// Works as before. A lie may have cost the session its order: then it begins anew.
        func recover() throws {
            count += 1
            while !node.texts("s").contains("\(count)") {
                if node.sessions["s"] == nil { try node.open("s") }
                try node.append("\(count)", to: "s")
                try bench.loop.run { node.sessions["s"] == nil || node.texts("s").contains("\(count)") }
            }
        }
    }

    @Test("LOG-37: what nothing has asked for ends the link, and the session goes on", arguments: [0, 1])
    func unasked(index: Int) throws {
        let connection = try #require(HostileRedis.Connection(rawValue: index))
        let victim = try Victim()
        #expect(HostileRedis.wrongAnswers.count >= 60)
        for answer in HostileRedis.wrongAnswers {
            let links = victim.hostile.connectionCount
            try victim.hear(.unasked(answer), on: connection)
            try victim.recover()
            // The rest of a string that was announced, and of an array, may be what Redis says next.
            try victim.bench.loop.run { victim.hostile.connectionCount > links }
            try victim.recover()
        }
        victim.node.crash()
    }

    @Test("LOG-37: a wrong answer in the place of a right one costs no more than the link and the session")
    func instead() throws {
        let victim = try Victim()
        for (index, answer) in HostileRedis.wrongAnswers.enumerated() {
            victim.hostile.tell(.instead(answer, skipping: index % 3), on: .commands)
            try victim.recover()
        }
        victim.hostile.stopLying()
        try victim.recover()
        victim.node.crash()
    }

    @Test("LOG-37: a wrong answer at the start refuses the start, and the next one succeeds")
    func start() throws {
        let bench = try Bench()
        let hostile = try HostileRedis(before: bench.server.port)
        let node = TestNode("a", on: bench.loop)
        func start(_ tune: (inout LogTimes) -> Void) throws {
            try node.start([hostile.address], tune)
            try bench.loop.run { node.log != nil || node.fault != nil }
            node.crash()
        }
        for (index, answer) in HostileRedis.wrongAnswers.enumerated() {
            let connection = try #require(HostileRedis.Connection(rawValue: index % 2))
            hostile.tell(.instead(answer, skipping: index / 2 % 4), on: connection)
            try start(Self.impatient)
            hostile.stopLying()
        }
        try start { _ in }
        #expect(node.fault?.message == nil)
    }
}
