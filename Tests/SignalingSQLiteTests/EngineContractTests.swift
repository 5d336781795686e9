import CoreTestSupport
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("The engine over a log in SQLite")
struct EngineContractTests {
    @Test(
        "G1, G2, G7: it fulfils the contract of every engine",
        arguments: SessionEngineContract.Promise.ofKeptLogs)
    func contract(_ promise: SessionEngineContract.Promise) async throws {
        try await SessionEngineContract {
            let bench = try LogBench()
            let kept = LocalEngine(
                log: try bench.start(), run: bench.run, bounds: SessionState.Bounds(), now: .seconds(0),
                makeEpoch: makeEpochs())
            let engine = SettlingEngine(kept, run: { try bench.loop.run(until: $0) }, end: { try? bench.stop() })
            return SessionEngineContract.Subject(engine: engine, settle: { try engine.settle() })
        }.check(promise)
    }
}
