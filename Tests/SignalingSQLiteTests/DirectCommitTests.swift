import CSQLite
import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("LOG-25: commits on the loop")
struct DirectCommitTests {
    /// A loop that says how much time it has.
    private final class Loop {
        var hasTime = true
        var now = MonotonicInstant.seconds(1)
        /// How often the log has committed on the loop.
        private(set) var commitCount = 0

        init(of log: SQLiteCommandLog) {
            log.commitDirectly(
                SQLiteCommandLog.LoopAccess(
                    hasTime: { [self] in hasTime }, now: { [self] in now }, deliver: { [self] in commitCount += 1 }))
        }
    }

    /// Appends one command after the other until one was committed on the loop: the thread may still be busy.
    private func appendDirectly(_ bench: LogBench, _ loop: Loop) throws {
        let before = loop.commitCount
        try bench.loop.run {
            _ = try? bench.append(["a"])
            return loop.commitCount > before
        }
    }

    @Test("LOG-25: a command that the loop has committed is confirmed after the call, without the thread")
    func confirmed() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let loop = Loop(of: log)
        try appendDirectly(bench, loop)
        log.deliverReports()
        let count = bench.observer.confirmed.count
        #expect(bench.observer.numbers("a") == (1...UInt64(count)).map { $0 })
        try bench.append(["a"])
        #expect(bench.observer.confirmed.count == count, "not from within the call")
        log.deliverReports()
        #expect(bench.observer.confirmed.count == count + 1)
        try bench.kill()
        try bench.start()
        #expect(bench.keptEntries("a").count == count + 1)
    }

    @Test("LOG-1: the order is that of the calls, whoever commits")
    func order() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let loop = Loop(of: log)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<600 {
            loop.hasTime = Bool.random(using: &generator)
            try bench.append(Bool.random(using: &generator) ? ["a"] : ["b", "a"])
            if UInt8.random(in: 0..<8, using: &generator) == 0 { log.writer.signOfLifeIsDue() }
            if UInt8.random(in: 0..<4, using: &generator) == 0 { log.deliverReports() }
        }
        loop.hasTime = true
        try appendDirectly(bench, loop)
        log.deliverReports()
        let count = bench.observer.numbers("a").count
        #expect(count > 600)
        #expect(bench.observer.numbers("a") == (1...UInt64(count)).map { $0 })
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.position.number) == (1...UInt64(count)).map { $0 })
    }

    @Test("LOG-23: the loop does not wait for another program's lock, and passes no command that waits for it")
    func locked() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let loop = Loop(of: log)
        try appendDirectly(bench, loop)
        log.deliverReports()
        let other = try Database(path: bench.database.path, access: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        let count = loop.commitCount
        try bench.append(["a"])
        try bench.loop.run { log.health == .stalled(CommandLogFault(.locked, "")) }
        try bench.append(["a"])
        other.rollBack()
        try bench.append(["a"])
        #expect(loop.commitCount == count)
        log.writer.signOfLifeIsDue()
        try bench.loop.run { log.health == .keeping }
        try appendDirectly(bench, loop)
        log.deliverReports()
        let confirmed = bench.observer.numbers("a")
        #expect(confirmed == (1...UInt64(confirmed.count)).map { $0 })
    }

    @Test("LOG-22: the thread commits where a checkpoint is due, so that the write-ahead log stays short")
    func checkpoints() throws {
        let bench = try LogBench()
        let log = try bench.start { $0.checkpointPages = 8 }
        let loop = Loop(of: log)
        for count in 1...400 {
            try bench.append(["a"], padding: 3_000)
            log.deliverReports()
            try bench.confirm(count)
        }
        #expect(loop.commitCount < 400)
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: bench.file("-wal").path)[.size] as? Int)
        // Commits of the loop alone would make it five hundred pages long. How much shorter it stays is up to the thread.
        #expect(size < 450 * 4_096)
    }
}
