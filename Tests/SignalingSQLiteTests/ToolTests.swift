import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("LOG-24: tools of the command log")
struct ToolTests {
    private struct Undecodable: Error {}

    // MARK: - Backup

    @Test("LOG-24: a backup has what was confirmed, while the log goes on")
    func backup() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("a")
        let other = try LogBench()
        try SQLiteCommandLog.backup(folder: bench.folder.path, to: other.database.path)
        try bench.fill(["a"])
        #expect(try other.permissions("") == 0o600)
        let copy = try SQLiteCommandLog.contents(folder: other.folder.path)
        #expect(copy.sessions.map(\.id) == ["a", "b"])
        #expect(copy.sessions.map(\.entries.count) == [0, 1])
        #expect(copy.sessions.map(\.lastNumber) == [2, 1])
        #expect(copy.obstacle?.contains("is a copy") == true)
        let original = try SQLiteCommandLog.contents(folder: bench.folder.path)
        #expect(original.sessions.map(\.lastNumber) == [3, 1])
        #expect(original.obstacle?.contains("is a copy") != true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.folder.path) == ["sessions.sqlite"])
    }

    @Test("LOG-24: a server that opens a backup begins new sessions, and continues those")
    func restore() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        let other = try LogBench()
        try SQLiteCommandLog.backup(folder: bench.folder.path, to: other.database.path)
        #expect(try SQLiteCommandLog.check(folder: other.folder.path) { _ in }.copies == ["sessions.sqlite"])
        let log = try other.start()
        // SQLite's copy has no write-ahead log, and the sign of life would take that for a removal.
        try other.signOfLife()
        #expect(log.health == .keeping)
        #expect(other.kept.sessions.isEmpty)
        #expect(other.lines.contain("the database is a copy"))
        try other.fill(["a"])
        try other.crash()
        try other.start()
        #expect(other.keptEntries("a").map(\.position.number) == [1])
    }

    @Test("LOG-24, HIS-2: a backup has the history of a running server, and a check finds what is wrong with it")
    func backupOfHistory() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        let archive = try SQLiteArchive(
            folder: bench.folder.path, bounds: HistoryBounds(), logger: bench.lines.logger, post: bench.loop.post)
        defer { archive.close() }
        var isDone = false
        archive.append((1...100).map { .test($0) }, to: "a") { _ in isDone = true }
        try bench.loop.run { isDone }
        let other = try ArchiveBench()
        let file = other.folder.appending(path: "sessions.sqlite").path
        #expect(try SQLiteCommandLog.backup(folder: bench.folder.path, to: file) == [file, file + ".history"])
        #expect(throws: CommandLogFault(.notWritten, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
        }
        try FileManager.default.moveItem(atPath: file + ".history", toPath: other.file("").path)
        let attributes = try FileManager.default.attributesOfItem(atPath: other.file("").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let summary = SQLiteArchive.Summary(sessionCount: 1, messageCount: 100, byteCount: archive.messageByteCount)
        #expect(try SQLiteCommandLog.contents(folder: other.folder.path).history == summary)
        let report = try SQLiteCommandLog.check(folder: other.folder.path) { _ in }
        #expect(report.faults == [] && report.history == summary)
        try other.start()
        #expect(try other.seqs(of: "a") == Array(1...100))
        try other.stop()
        try Database(path: other.file("").path, access: .readWrite).execute(
            "UPDATE chunk SET checksum = 1 WHERE first = 1")
        let faults = try SQLiteCommandLog.check(folder: other.folder.path) { _ in }.faults
        #expect(faults.count == 1 && faults[0].contains("history.sqlite: messages of the session a are missing"))
    }

    @Test("LOG-24: a backup of a damaged history leaves no file behind")
    func backupOfDamagedHistory() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try Data("not a database, but long enough to have a header".utf8).write(
            to: bench.folder.appending(path: "history.sqlite"))
        let file = bench.folder.appending(path: "backup").path
        #expect(throws: CommandLogFault(.damaged, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(!left.contains { $0.hasPrefix("backup") })
    }

    @Test("LOG-24: a backup of a folder whose server was killed has the newest commands")
    func backupAfterACrash() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try bench.kill()
        let file = bench.folder.appending(path: "backup")
        try SQLiteCommandLog.backup(folder: bench.folder.path, to: file.path)
        #expect(try SQLiteCommandLog.contents(folder: bench.folder.path).sessions.map(\.lastNumber) == [2])
        try bench.start()
        #expect(bench.keptEntries("a").count == 2)
    }

    @Test("LOG-24: a backup replaces no file, and leaves none behind when it fails")
    func backupFails() throws {
        let bench = try LogBench()
        let file = bench.folder.appending(path: "backup").path
        #expect(throws: CommandLogFault(.unusable, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
        }
        try bench.start()
        try bench.fill(["a"])
        try Data("mine".utf8).write(to: URL(filePath: file))
        #expect(throws: CommandLogFault(.notWritten, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
        }
        #expect(throws: CommandLogFault(.notWritten, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: bench.folder.path + "/missing/backup")
        }
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("mine".utf8))
        try bench.stop()
        try Data("not a database, but long enough to have a header".utf8).write(to: bench.database)
        #expect(throws: CommandLogFault(.damaged, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file + "2")
        }
        #expect(!FileManager.default.fileExists(atPath: file + "2"))
        #expect(!FileManager.default.fileExists(atPath: file + "2.new"))
    }

    @Test("LOG-24: a database with damage that a copy would not have is not backed up")
    func backupOfDamagedPages() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.damageFreePages()
        let file = bench.folder.appending(path: "backup").path
        #expect(throws: CommandLogFault(.damaged, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
        }
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    // MARK: - Contents and check

    @Test("The contents are each session's snapshot and later commands, and the sizes of the files")
    func contents() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("b", byteCount: 77)
        let contents = try SQLiteCommandLog.contents(folder: bench.folder.path)
        #expect(contents.sessions.map(\.id) == ["a", "b"])
        #expect(contents.sessions.map(\.entries.count) == [2, 0])
        #expect(contents.sessions.map { $0.snapshot?.bytes.count } == [nil, 77])
        #expect(contents.sessions.map(\.lastNumber) == [2, 1])
        #expect(
            contents.files.map(\.name)
                == ["sessions.sqlite", "sessions.sqlite-wal", "sessions.sqlite-shm", "sessions.sqlite-tail"])
        #expect(contents.files.last?.byteCount == 40)
        let empty = try LogBench()
        #expect(throws: CommandLogFault(.unusable, "")) { try SQLiteCommandLog.contents(folder: empty.folder.path) }
    }

    @Test("A check reports that confirmed commands are missing at the end")
    func checkMissingTail() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try bench.stop()
        try Data([9, 0, 0, 0, 0, 0, 0, 0]).write(to: bench.file("-tail"))
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults == ["the last 7 commands are missing in the database"])
        #expect(report.obstacle == report.faults.first)
    }

    @Test("A check finds an intact database intact, while the log is open")
    func checkIntact() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("b", byteCount: 77)
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults == [])
        let counts = [report.sessionCount, report.commandCount, report.byteCount]
        #expect(counts == [2, 2, 12 + 77])
    }

    @Test(
        "A check finds changed rows, gaps, and sessions that cannot be decoded",
        arguments: [
            ("UPDATE command SET bytes = x'00' WHERE position = 2", "was changed, position 2"),
            ("UPDATE command SET time = time + 1 WHERE position = 3", "was changed, position 3"),
            ("DELETE FROM command WHERE position = 2", "missing before position 3"),
            ("DELETE FROM command WHERE position = 1", "missing in a session, before position 2"),
            ("UPDATE session SET snapshot = x'01' WHERE key = 2", "was changed, key 2"),
            ("UPDATE session SET id = x'63' WHERE key = 2", "was changed, key 2"),
            ("UPDATE state SET alive = alive + 1", "state was changed"),
        ])
    func checkDamaged(sql: String, expected: String) throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a", "a", "b"])
        try bench.keepNewest("b")
        try bench.stop()
        try Database(path: bench.database.path, access: .readWrite).execute(sql)
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults.count == 1)
        #expect(report.faults.first?.contains(expected) == true)
        // The server does not continue it either.
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.lines.contain("set aside"))
    }

    @Test(
        "A check finds numbers that no server counts to, with which the next sum would overflow",
        arguments: [
            LogPosition(number: .max, id: CommandID(run: RunID(1), counter: 1)),
            LogPosition(number: 2, id: CommandID(run: RunID(1), counter: .max)),
        ])
    func checkNumbers(covered: LogPosition) throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try bench.stop()
        try bench.cover(key: 1, "a", through: covered)
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults.first?.contains("the table session contradicts itself, key 1") == true)
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        try bench.fill(["a"])
    }

    @Test("A value over the limit is damage when it is read, and is not written as NULL")
    func valueLimit() throws {
        let bench = try LogBench()
        let (path, bytes) = (bench.database.path, [UInt8](repeating: 7, count: 2_000))
        let database = try Database(path: path, access: .readWrite)
        try database.execute("CREATE TABLE t (value BLOB)")
        func insert(in database: Database) throws(DatabaseError) {
            let row = try Statement("INSERT INTO t VALUES (?)", in: database)
            try bytes.withBytes { (bytes) throws(DatabaseError) in
                row.bind(borrowing: bytes, at: 1)
                try row.run()
            }
        }
        try insert(in: database)
        let limited = try Database(path: path, access: .readWrite, valueByteLimit: 1_000)
        let refused = #expect(throws: DatabaseError.self) { try insert(in: limited) }
        #expect(refused?.kind == .inputOutput)
        #expect(try limited.integer("SELECT count(*) FROM t") == 1)
        let read = #expect(throws: DatabaseError.self) { _ = try limited.integer("SELECT value FROM t") }
        #expect(read?.kind == .damaged)
    }

    @Test("A view is not read, and a trigger does nothing, also if another program adds it while the file is open")
    func laterSchema() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        let other = try Database(path: bench.database.path, access: .readWrite)
        try other.execute("CREATE TRIGGER forget AFTER INSERT ON command BEGIN DELETE FROM command; END")
        try bench.fill(["a"])
        let database = try Database(path: bench.database.path, access: .readOnly)
        #expect(try database.integer("SELECT count(*) FROM command") == 2)
        try other.execute("CREATE VIEW other AS SELECT 1")
        #expect(throws: DatabaseError.self) { _ = try database.integer("SELECT * FROM other") }
    }

    @Test("A check reports sessions that cannot be decoded")
    func checkUndecodable() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b"])
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { session in
            if session.id == "b" { throw Undecodable() }
        }
        #expect(report.faults == ["the session b cannot be decoded: Undecodable()"])
        #expect(report.sessionCount == 2)
    }
}

extension KeptCommands.Session {
    fileprivate var lastNumber: UInt64? { entries.last?.position.number ?? snapshot?.position.number }
}
