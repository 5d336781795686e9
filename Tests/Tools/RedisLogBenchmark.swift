import Foundation
import Logging
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedis

/// `redis-log` prints how many commands a second the Redis log confirms, pipelined and one at a time, and the CPU time
/// of this process for each. It starts a `redis-server` of its own, with its append-only file in the temporary folder.
enum RedisLogBenchmark {
    private static let sessionCount = 500
    private static let byteCount = 256

    static func run() throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "everysec"])
        defer { server.kill() }
        let bench = try Bench(port: server.port)
        print("\(byteCount) bytes a command, \(sessionCount) sessions")
        print("in flight   appends/s   µs/append   µs CPU/append (this process)")
        for (inFlight, count) in [(1, 10_000), (10, 30_000), (1_000, 100_000)] {
            try bench.measure(inFlight: inFlight, count: count / 10)
            let cost = try bench.measure(inFlight: inFlight, count: count)
            print(
                Tools.pad("\(inFlight)", 9), Tools.pad(Tools.text(1_000_000 / cost.time, 0), 11),
                Tools.pad(Tools.text(cost.time, 1), 11),
                Tools.pad(Tools.text(cost.cpu, 1), 15))
        }
        bench.end()
    }

    /// A node that appends, and hears all channels.
    private final class Bench: CommandLogObserver, SharedCommandLogObserver {
        private let loop: UVLoop
        private var log: RedisCommandLog?
        private let run = RunID(UInt64.random(in: .min ... .max))
        private var openedCount = 0
        private var confirmedCount = 0
        private var next = 0
        private let sessions = (0..<sessionCount).map(Tools.session)
        private var counters = [UInt64](repeating: 0, count: sessionCount)
        private let bytes = [UInt8](repeating: 120, count: byteCount)

        init(port: Int) throws {
            loop = try UVLoop()
            RedisCommandLog.open(
                [try RedisAddress("redis://127.0.0.1:\(port)")], run: run, loop: loop.eventLoop,
                logger: Logger(label: "benchmark")
            ) { [unowned self] result in
                log = try? result.get()
            }
            try loop.run { log != nil }
            log?.observer = self
            log?.nodeObserver = self
            for session in sessions { log?.open(session) }
            try loop.run { openedCount == sessions.count }
        }

        /// The loop waits until the log's handles have closed.
        func end() { log = nil }

        @discardableResult
        func measure(inFlight: Int, count: Int) throws -> (time: Double, cpu: Double) {
            let target = confirmedCount + count
            let start = (loop.now, clock())
            try loop.run {
                let missing = min(inFlight - (next - confirmedCount), target - next)
                if missing > 0 { log?.append((0..<missing).map { _ in command() }, now: loop.now) }
                return confirmedCount >= target
            }
            let time = Double(loop.now.duration(since: start.0).wholeNanoseconds) / 1_000
            let cpu = Double(clock() - start.1) * 1_000_000 / Double(CLOCKS_PER_SEC)
            return (time / Double(count), cpu / Double(count))
        }

        private func command() -> CommandAppend {
            let index = next % sessionCount
            next += 1
            counters[index] += 1
            return CommandAppend(
                session: sessions[index], id: CommandID(run: run, counter: counters[index]), bytes: bytes)
        }

        func log(confirmed entries: [CommandEntry]) { confirmedCount += entries.count }
        func log(needsSnapshotsOf sessions: [SessionID]) {}
        func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {}
        func log(opened session: KeptCommands.Session) { openedCount += 1 }
        func log(caughtUp session: SessionID) {}
        func log(relayed bytes: [UInt8], of session: SessionID) {}
        func log(lost run: RunID, at time: MonotonicInstant, orphans: [SessionID]) {}
        func log(dropped session: SessionID) {}
        func log(continuesAs run: RunID) {}
        func snapshot(of session: SessionID) -> CommandSnapshot? { nil }
    }
}
