import CoreTestSupport
import Foundation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("Redis log: start")
struct StartTests {
    private func failedStart(_ address: String, _ tune: (inout LogTimes) -> Void = { _ in }) throws -> CommandLogFault {
        let loop = try UVLoop()
        let node = TestNode("a", on: loop)
        try node.start([address], tune)
        try loop.run { node.fault != nil || node.log != nil }
        node.crash()
        return try #require(node.fault)
    }

    @Test("Redis cannot be reached")
    func unreachable() throws {
        // The system gives this port to no program.
        let fault = try failedStart("redis://:secret@127.0.0.1:1")
        #expect(fault.code == .unreachable)
        #expect(fault.message.contains("Cannot reach redis://127.0.0.1:1: connection refused"))
        #expect(!fault.message.contains("secret"))
    }

    @Test("the host's name cannot be resolved")
    func unknownHost() throws {
        let fault = try failedStart("redis://host.invalid:6379")
        #expect(fault.code == .unreachable)
        #expect(fault.message.contains("host.invalid") && fault.message.contains("cannot be resolved"))
    }

    @Test("a host's name is resolved")
    func namedHost() throws {
        let server = try RedisServer()
        let loop = try UVLoop()
        let node = TestNode("a", on: loop)
        try node.start(["redis://localhost:\(server.port)"])
        try loop.run { node.fault != nil || node.log != nil }
        #expect(node.log != nil)
        node.crash()
    }

    @Test("Redis accepts the connection and says nothing")
    func silent() throws {
        let server = try RedisServer()
        try server.freeze()
        let fault = try failedStart(server.address) { $0.connecting = .milliseconds(200) }
        #expect(fault.code == .silent)
        server.thaw()
    }

    @Test("a password is missing, wrong, or right")
    func password() throws {
        let server = try RedisServer(["--requirepass", "p@ss word"])
        let missing = try failedStart(server.address)
        #expect(missing.code == .refused)
        let wrong = try failedStart("redis://:wrong@127.0.0.1:\(server.port)")
        #expect(wrong.code == .refused)
        #expect(wrong.message.contains("refuses the user or the password"))
        #expect(!wrong.message.contains("wrong@"))
        let loop = try UVLoop()
        let node = TestNode("a", on: loop)
        try node.start(["redis://:p%40ss%20word@127.0.0.1:\(server.port)/3"])
        try loop.run { node.log != nil }
        try node.open("s")
        try node.append("1", to: "s")
        try loop.run { node.texts("s") == ["1"] }
        node.crash()
    }

    @Test("a user of an access control list, who may only do what the log needs")
    func user() throws {
        let server = try RedisServer()
        try server.call(
            "ACL", "SETUSER", "signalbox", "on", ">secret", "~sb:*", "&sb:*", "-@all", "+@hash", "+@stream", "+@set",
            "+@string", "+@keyspace", "-@dangerous", "+info", "+ping", "+select", "+publish", "+subscribe",
            "+unsubscribe",
            "+fcall", "+function|load", "+time")
        let loop = try UVLoop()
        let node = TestNode("a", on: loop)
        try node.start(["redis://signalbox:secret@127.0.0.1:\(server.port)"])
        try loop.run { node.log != nil || node.fault != nil }
        #expect(node.fault?.message == nil)
        try node.open("s")
        try node.append("1", to: "s")
        try loop.run { node.texts("s") == ["1"] }
        try node.keep("s")
        node.crash()
    }

    @Test("Redis is too old", arguments: ["6.2.14", "5.0.3"])
    func tooOld(version: String) throws {
        let fake = try FakeRedis(info: "redis_version:\(version)\r\nrole:master\r\n")
        let fault = try failedStart("redis://127.0.0.1:\(fake.port)")
        #expect(fault.code == .unsuitable)
        #expect(fault.message.contains("runs Redis \(version)"))
        #expect(fault.message.contains("Use Redis 7.0 or later"))
    }

    @Test("Redis has no functions")
    func noFunctions() throws {
        let fake = try FakeRedis(info: "redis_version:7.0.15\r\nrole:master\r\n")
        let fault = try failedStart("redis://127.0.0.1:\(fake.port)")
        #expect(fault.code == .unsuitable)
        #expect(fault.message.contains("does not accept functions"))
    }

    @Test("Redis is a replica")
    func replica() throws {
        let server = try RedisServer()
        try server.call("REPLICAOF", "127.0.0.1", "1")
        #expect(try failedStart(server.address).code == .readOnly)
    }

    @Test("Redis has reached its memory limit, or deletes keys when it reaches it")
    func memory() throws {
        let server = try RedisServer()
        try server.call("CONFIG", "SET", "maxmemory", "100kb")
        let full = try failedStart(server.address)
        #expect(full.code == .full)
        #expect(full.message.contains("Raise maxmemory"))
        try server.call("CONFIG", "SET", "maxmemory", "1gb")
        try server.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        let evicting = try failedStart(server.address)
        #expect(evicting.code == .unsuitable)
        #expect(evicting.message.contains("noeviction"))
    }

    @Test("Redis is in cluster mode")
    func cluster() throws {
        let server = try RedisServer(["--cluster-enabled", "yes"])
        let fault = try failedStart(server.address)
        #expect(fault.code == .unsuitable)
        #expect(fault.message.contains("cluster mode"))
    }

    @Test("the primary becomes a replica while the log runs, and a primary again")
    func demoted() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        try a.open("s")
        try a.append("1", to: "s")
        try bench.converge("s", count: 1)
        try bench.server.call("REPLICAOF", "127.0.0.1", "1")
        try a.append("2", to: "s")
        try bench.loop.run { a.log?.health == .stalled(CommandLogFault(.readOnly, "")) }
        try bench.server.call("REPLICAOF", "NO", "ONE")
        try bench.converge("s", count: 2)
        #expect(a.dropped.isEmpty)
    }

    @Test("LOG-37: an error of Redis is quoted in one short line without control characters")
    func longError() throws {
        let text = "\u{1b}[2J\u{7}\u{9b}\u{2028}\u{202e}" + String(repeating: "x", count: 500_000)
        for word in ["ERR", "NOAUTH", "MISCONF", "WRONGTYPE"] {
            let fake = try FakeRedis(raw: "-\(word) \(text)\r\n")
            let message = try failedStart("redis://127.0.0.1:\(fake.port)").message
            #expect(message.contains("\(word) ") && message.utf8.count < 1_500)
            #expect(!message.unicodeScalars.contains { $0.value < 32 || (0x7f...0x9f).contains($0.value) })
            #expect(!message.contains("\u{2028}") && !message.contains("\u{202e}"))
        }
        let fake = try FakeRedis(info: "redis_version:5\(text)\r\nrole:master\r\n")
        #expect(try failedStart("redis://127.0.0.1:\(fake.port)").message.utf8.count < 1_500)
    }

    @Test("another program's server answers")
    func notRedis() throws {
        let fake = try FakeRedis(raw: "HTTP/1.1 400 Bad Request\r\n\r\n")
        let fault = try failedStart("redis://127.0.0.1:\(fake.port)")
        #expect(fault.code == .failing)
        #expect(fault.message.contains("another program"))
    }
}
