import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import Synchronization
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("LOG-22: checkpoints")
struct CheckpointTests {
    private static let pageByteCount = 4_096 + 24

    private func logByteCount(_ bench: LogBench) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: bench.file("-wal").path)[.size] as? Int)
    }

    @Test("LOG-22: the write-ahead log stays bounded while the writer never pauses")
    func bounded() throws {
        let bench = try LogBench()
        try bench.start {
            $0.checkpointPages = 64
            $0.logLimitPages = 256
        }
        var largest = 0
        for round in 1...60 {
            for _ in 0..<40 { try bench.append(["a", "b"], padding: 2_000) }
            try bench.confirm(round * 80)
            largest = max(largest, try logByteCount(bench))
        }
        // Transactions of up to 80 commands of 2 kB come in addition to the limit.
        #expect(largest < (256 + 200) * Self.pageByteCount)
        #expect(largest > 64 * Self.pageByteCount)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").count == 2_400)
    }

    @Test("LOG-22: the other thread copies the write-ahead log, and the writer does not have to")
    func otherThread() throws {
        let bench = try LogBench()
        let writerCheckpoints = Mutex(0)
        try bench.start {
            $0.checkpointPages = 64
            $0.logLimitPages = 100_000
            $0.injectedFault = { statement in
                let isWriters = statement == "checkpoint" && Thread.current.name == "command-log"
                if isWriters { writerCheckpoints.withLock { $0 += 1 } }
                return nil
            }
        }
        for round in 1...300 {
            try bench.append(["a"], padding: 4_000)
            try bench.confirm(round)
        }
        func fileByteCount() throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: bench.database.path)[.size] as? Int)
        }
        // Without a checkpoint, the database itself stays empty.
        let deadline = Date(timeIntervalSinceNow: 300)
        while try fileByteCount() < 500_000, Date() < deadline { usleep(1_000) }
        #expect(try fileByteCount() >= 500_000)
        #expect(writerCheckpoints.withLock { $0 } == 0)
    }

    /// A backup holds a read transaction, so that the log can't begin at its start.
    @Test("LOG-22: a reader delays checkpoints, and neither stops the writer nor loses a command")
    func reader() throws {
        let bench = try LogBench()
        let log = try bench.start {
            $0.checkpointPages = 16
            $0.logLimitPages = 64
        }
        try bench.fill(["a"])
        let reader = try Database.openForReading(DatabaseFiles(folder: bench.folder.path))
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM command") == 1)
        for _ in 0..<200 { try bench.append(["a"], padding: 4_000) }
        try bench.confirm(201)
        #expect(try logByteCount(bench) > 64 * Self.pageByteCount)
        #expect(try reader.integer("SELECT count(*) FROM command") == 1)
        reader.rollBack()
        let before = try logByteCount(bench)
        for _ in 0..<400 { try bench.append(["a"], padding: 4_000) }
        try bench.confirm(601)
        #expect(try logByteCount(bench) <= before + 200 * Self.pageByteCount)
        #expect(log.health == .keeping)
    }

    @Test("LOG-20: the file stays within a multiple of what is kept")
    func fileSize() throws {
        let bench = try LogBench()
        try bench.start { $0.retainedByteCount = 1 << 20 }
        let sessions = (0..<100).map { SessionID(rawValue: "session-\($0)") }
        bench.observer.onAsked = { [unowned bench] asked in
            for session in asked {
                guard let entry = bench.observer.confirmed.last(where: { $0.session == session }) else { continue }
                try? bench.keep(session, at: entry.position, byteCount: 5_000)
            }
        }
        for round in 1...150 {
            try bench.append(sessions, padding: 200)
            try bench.confirm(round * 100)
        }
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: bench.database.path)[.size] as? Int)
        // 3.5 MB of commands were appended. Up to 1 MiB of them, and 500 kB of snapshots, are kept.
        #expect(bench.observer.kept.count >= 100)
        #expect(size < 4 * (1 << 20))
        try bench.crash()
        try bench.start()
        for session in bench.kept.sessions {
            #expect(session.entries.last?.position.number ?? session.snapshot?.position.number == 150)
        }
    }
}
