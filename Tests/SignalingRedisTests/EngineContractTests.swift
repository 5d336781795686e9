import CoreTestSupport
import Logging
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

@Suite("The engine over a log in Redis", .serialized)
struct EngineContractTests {
    @Test(
        "G1, G2, G7: it fulfils the contract of every engine",
        arguments: SessionEngineContract.Promise.ofKeptLogs)
    func contract(_ promise: SessionEngineContract.Promise) async throws {
        try await SessionEngineContract {
            let bench = try Bench()
            var times = LogTimes()
            times.restoring = .milliseconds(60)
            times.tick = .milliseconds(5)
            var opened: Result<RedisCommandLog, CommandLogFault>?
            try bench.loop.open(
                [bench.server.address], run: RunID(1), times: times, logger: Logger(label: "test")
            ) { opened = $0 }
            try bench.loop.run { opened != nil }
            let log = try #require(try opened?.get())
            opened = nil
            let node = ClusterEngine(
                log: log, run: log.run, bounds: SessionState.Bounds(), now: .seconds(0), makeEpoch: makeEpochs())
            let engine = SettlingEngine(
                node, run: { try bench.loop.run(until: $0) },
                end: {
                    var isClosed = false
                    log.close { isClosed = true }
                    try? bench.loop.run { isClosed }
                })
            return SessionEngineContract.Subject(engine: engine, settle: { try engine.settle() })
        }.check(promise)
    }
}
