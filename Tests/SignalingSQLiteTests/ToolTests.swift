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
        let sessions = try SQLiteCommandLog.list(folder: other.folder.path)
        #expect(sessions.map(\.id) == ["a", "b"])
        #expect(sessions.map(\.commandCount) == [0, 1])
        #expect(sessions.map(\.lastNumber) == [2, 1])
        #expect(try SQLiteCommandLog.list(folder: bench.folder.path).map(\.lastNumber) == [3, 1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.folder.path) == ["sessions.sqlite"])
    }

    @Test("LOG-24: a server that opens a backup begins new sessions, and continues those")
    func restore() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        let other = try LogBench()
        try SQLiteCommandLog.backup(folder: bench.folder.path, to: other.database.path)
        try other.start()
        #expect(other.kept.sessions.isEmpty)
        #expect(other.lines.contain("the database is a copy"))
        try other.fill(["a"])
        try other.crash()
        try other.start()
        #expect(other.keptEntries("a").map(\.position.number) == [1])
    }

    @Test("LOG-24: a backup of a folder whose server was killed has the newest commands")
    func backupAfterACrash() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try bench.kill()
        let file = bench.folder.appending(path: "backup")
        try SQLiteCommandLog.backup(folder: bench.folder.path, to: file.path)
        #expect(try SQLiteCommandLog.list(folder: bench.folder.path).map(\.lastNumber) == [2])
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
        #expect(throws: CommandLogFault(.unusable, "")) {
            try SQLiteCommandLog.backup(folder: bench.folder.path, to: file)
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

    // MARK: - Check and list

    @Test("A list has the size of each session's commands and snapshot")
    func list() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("b", byteCount: 77)
        let sessions = try SQLiteCommandLog.list(folder: bench.folder.path)
        #expect(
            sessions == [
                .init(id: "a", commandCount: 2, commandByteCount: 12, snapshotByteCount: nil, lastNumber: 2),
                .init(id: "b", commandCount: 0, commandByteCount: 0, snapshotByteCount: 77, lastNumber: 1),
            ])
        let empty = try LogBench()
        #expect(throws: CommandLogFault(.unusable, "")) { try SQLiteCommandLog.list(folder: empty.folder.path) }
    }

    @Test("A check finds an intact database intact, while the log is open")
    func checkIntact() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("b", byteCount: 77)
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report == .init(sessionCount: 2, commandCount: 2, byteCount: 12 + 77, faults: []))
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
