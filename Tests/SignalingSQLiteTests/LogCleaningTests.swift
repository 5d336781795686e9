import Foundation
import Synchronization
import Testing

@testable import SignalingSQLite

@Suite("HIS-9: erased content in the write-ahead log")
struct LogCleaningTests {
    /// A database with a write-ahead log that has erased content, and what cleans it.
    private final class Bench {
        private static let content = String(repeating: "swordfish ", count: 300)

        let folder: URL
        let database: Database
        private let checkpoints: Checkpoints
        private var cleaning = LogCleaning()
        /// How often the writer's own connection made a checkpoint: the writer waits meanwhile.
        let waits = WaitCount()

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-log-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "test.sqlite").path
            database = try Database(path: path, access: .readWrite)
            try database.execute(
                "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL")
            try database.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            checkpoints = Checkpoints(try Database(path: path, access: .readWrite), interval: 1_000, limit: 10_000)
            for _ in 0..<2_000 {
                try database.execute("INSERT INTO message (text) VALUES ('\(Self.content)')")
            }
            try database.execute("UPDATE message SET text = 'gone'")
            database.injectedFault = { [waits] in
                if $0 == "checkpoint" { waits.count.add(1, ordering: .relaxed) }
                return nil
            }
        }

        deinit {
            checkpoints.stop()
            try? FileManager.default.removeItem(at: folder)
        }

        final class WaitCount: Sendable { let count = Atomic(0) }

        func log() throws -> Data { try Data(contentsOf: folder.appending(path: "test.sqlite-wal")) }
        func hasContent() throws -> Bool { try log().range(of: Data("swordfish".utf8)) != nil }
        var isCleaning: Bool { cleaning.needsCommit }

        func begin() { cleaning.begin(database, checkpoints) }

        func commit(isSignOfLife: Bool = true) throws {
            let deadline = ContinuousClock.now + .seconds(300)
            while checkpoints.isRunning { try #require(ContinuousClock.now < deadline) }
            try database.execute("INSERT INTO message (text) VALUES ('new')")
            try cleaning.committed(isSignOfLife: isSignOfLife, database, checkpoints)
        }

        func openReader() throws -> Database {
            let reader = try Database(path: folder.appending(path: "test.sqlite").path, access: .readOnly)
            try reader.execute("BEGIN")
            #expect(try reader.integer("SELECT count(*) FROM message") >= 2_000)
            return reader
        }

        func expectIntact(_ count: Int64) throws {
            #expect(try database.integer("SELECT count(*) FROM message WHERE text IN ('gone', 'new')") == count)
            #expect(try database.damage(in: .structureAndContent).isEmpty)
        }
    }

    @Test("HIS-9: erased content leaves the log in parts, and the writer waits for no checkpoint")
    func quiet() throws {
        let bench = try Bench()
        let size = try bench.log().count
        #expect(try bench.hasContent())
        bench.begin()
        var commits = 0
        while bench.isCleaning, commits < 100 {
            commits += 1
            try bench.commit()
        }
        #expect(try !bench.hasContent())
        // A part of 2 MiB after each commit; freeing blocks would take long.
        #expect(commits > size / (2 << 20) && commits < 100)
        #expect(try bench.log().count == size)
        #expect(bench.waits.count.load(ordering: .relaxed) == 0)
        try bench.expectIntact(2_000 + Int64(commits))
    }

    @Test("HIS-9: while another connection reads, the content stays in the log, and it goes afterwards")
    func reader() throws {
        let bench = try Bench()
        let reader = try bench.openReader()
        bench.begin()
        for _ in 0..<30 { try bench.commit() }
        #expect(try bench.isCleaning && bench.hasContent())
        reader.rollBack()
        var commits = 30
        while bench.isCleaning, commits < 200 {
            commits += 1
            try bench.commit()
        }
        #expect(try !bench.hasContent())
        try bench.expectIntact(2_000 + Int64(commits))
    }

    @Test("HIS-9: after ten seconds without a pause the writer itself copies the last commits")
    func busy() throws {
        let bench = try Bench()
        bench.begin()
        // The reader stands for commits during each checkpoint: no checkpoint can copy all.
        var reader = try bench.openReader()
        for _ in 0..<11 {
            #expect(bench.waits.count.load(ordering: .relaxed) == 0)
            try bench.commit()
            let next = try bench.openReader()
            reader.rollBack()
            reader = next
        }
        try bench.commit(isSignOfLife: false)
        #expect(bench.waits.count.load(ordering: .relaxed) == 1)
        // Only once for each of the checkpoints that follow.
        try bench.commit(isSignOfLife: false)
        #expect(bench.waits.count.load(ordering: .relaxed) == 1)
        reader.rollBack()
        try bench.commit()
        try bench.commit(isSignOfLife: false)
        var commits = 0
        while bench.isCleaning, commits < 100 {
            commits += 1
            try bench.commit(isSignOfLife: false)
        }
        #expect(try !bench.hasContent())
        try bench.expectIntact(2_000 + 15 + Int64(commits))
    }
}
