import CoreTestSupport
import RedisSimulation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

/// LOG-36: a Redis that has reached `maxmemory` must be able to recover.
@Suite("A full Redis", .serialized)
struct MemoryTests {
    private func fill(_ bench: Bench) throws { try bench.server.call("CONFIG", "SET", "maxmemory", "1mb") }

    @Test("LOG-36: what frees memory goes through, with what stands before it; the rest waits, and nothing is lost")
    func full() throws {
        let bench = try Bench()
        let a = try bench.node("a")
        for session in ["quiet", "busy", "waiting"] as [SessionID] {
            try a.open(session)
            try a.append("join", to: session)
            try bench.loop.run { a.texts(session) == ["join"] }
        }
        try fill(bench)
        try a.append("signal", to: "waiting")
        try a.append("signal", to: "busy")
        try bench.loop.run { a.log?.health == .stalled(CommandLogFault(.full, "")) }
        #expect(a.texts("busy") == ["join"] && a.texts("waiting") == ["join"])

        try a.append("leave", to: "quiet", freesMemory: true)
        try bench.loop.run { a.texts("quiet") == ["join", "leave"] }
        // The order stays, so the signal before the departure goes, too.
        try a.append("leave", to: "busy", freesMemory: true)
        try bench.loop.run { a.texts("busy") == ["join", "signal", "leave"] }
        #expect(a.texts("waiting") == ["join"])

        // A snapshot trims the log, and an ended session goes.
        try a.keep("busy")
        #expect(try bench.server.call("XLEN", "sb:{busy}:log") == "0")
        a.log?.remove("quiet", through: try #require(a.sessions["quiet"]?.position))
        try bench.loop.run { (try? bench.server.call("EXISTS", "sb:{quiet}:meta")) == "0" }

        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        try bench.loop.run { a.texts("waiting") == ["join", "signal"] }
        #expect(!a.dropped.contains("waiting") && !a.dropped.contains("busy"))
    }

    @Test("LOG-30: a node whose Redis has the library of an older version loads its own")
    func olderLibrary() throws {
        let bench = SimulatedBench()
        let a = try bench.node("a")
        try a.open("s")
        let line = "register('append_freeing', append, { 'allow-oom' })\n"
        let older = FunctionLibrary.code.replacing(line, with: "")
        #expect(older != FunctionLibrary.code)
        _ = bench.redis.carryOut("FUNCTION", "LOAD", "REPLACE", older)
        try a.append("leave", to: "s", freesMemory: true)
        try bench.run { a.texts("s") == ["leave"] }
        #expect(a.dropped.isEmpty)
    }
}
