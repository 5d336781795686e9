import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("Opening a command log")
struct OpeningTests {
    // MARK: - Is the tail missing?

    @Test("LOG-21: in process mode, another boot without a stop begins new sessions")
    func otherBoot() throws {
        let bench = try LogBench()
        try bench.start(boot: "first")
        try bench.fill(["a"])
        try bench.crash()
        try bench.start(boot: "second")
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.lines.contain("the sessions of the last run begin anew"))
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [1])
        try bench.crash()
        try bench.start(boot: "second")
        #expect(bench.keptEntries("a").map(\.text) == ["a 2 1 "])
    }

    @Test("LOG-21: in process mode, a system without a boot id begins new sessions after a crash")
    func noBootID() throws {
        let bench = try LogBench()
        try bench.start(boot: "")
        try bench.fill(["a"])
        try bench.crash()
        try bench.start(boot: "")
        #expect(bench.kept.sessions.isEmpty)
    }

    @Test("LOG-21: sessions go on after a crash in the same boot, and after a stop in another one")
    func sameBootOrStop() throws {
        let bench = try LogBench()
        try bench.start(boot: "first")
        try bench.fill(["a"])
        try bench.crash()
        try bench.start(boot: "first")
        #expect(bench.keptEntries("a").count == 1)
        try bench.stop()
        try bench.start(boot: "second")
        #expect(bench.keptEntries("a").count == 1)
        // The mark of the stop is used once.
        try bench.crash()
        try bench.start(boot: "third")
        #expect(bench.kept.sessions.isEmpty)
    }

    @Test("LOG-21: in power mode, sessions go on after another boot")
    func powerMode() throws {
        let bench = try LogBench()
        try bench.start(durability: .power, boot: "first")
        try bench.fill(["a"])
        try bench.crash()
        // The mode of the run that wrote the commands decides.
        try bench.start(durability: .process, boot: "second")
        #expect(bench.keptEntries("a").count == 1)
        try bench.crash()
        try bench.start(durability: .power, boot: "third")
        #expect(bench.kept.sessions.isEmpty)
    }

    @Test("LOG-21: a write-ahead log that was removed between two runs begins new sessions")
    func removedLog() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try bench.stop()
        try bench.start()
        try bench.fill(["a"])
        try bench.kill()
        try FileManager.default.removeItem(at: bench.file("-wal"))
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.lines.contain("the last 1 commands are missing"))
    }

    @Test("LOG-13: a run was lost up to a second after its last sign of life, and never after the opening")
    func lastSignOfLife() throws {
        let bench = try LogBench()
        bench.now = .seconds(10)
        try bench.start(wallTime: 1_000)
        bench.now = .seconds(15)
        try bench.fill(["a"])
        #expect(bench.observer.confirmed.last?.time == .seconds(6))
        try bench.crash()
        bench.now = .seconds(30)
        let log = try bench.start(wallTime: 20_000)
        #expect(bench.kept.lostAt == .seconds(7))
        try log.close()
        try bench.start(wallTime: 90_000)
        #expect(bench.kept.lostAt == .seconds(20), "after a clean stop, the stop itself")
        bench.now = .seconds(60)
        try bench.crash()
        try bench.start(wallTime: 90_200)
        #expect(bench.kept.lostAt == .seconds(90.2))
    }

    // MARK: - Files that cannot be used

    @Test("LOG-23: a folder that does not exist or cannot be written to is reported")
    func unusableFolder() throws {
        let bench = try LogBench()
        #expect(throws: CommandLogFault(.unusable, "")) {
            try LogBench.open(bench.folder.appending(path: "missing").path)
        }
        try FileManager.default.createSymbolicLink(
            at: bench.database, withDestinationURL: bench.folder.appending(path: "elsewhere"))
        #expect(throws: CommandLogFault(.unusable, "")) { try LogBench.open(bench.folder.path) }
    }

    @Test("The database is readable for its owner only, also if it was not")
    func permissions() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        for suffix in ["", "-wal", "-shm", "-tail"] { #expect(try bench.permissions(suffix) == 0o600) }
        try bench.stop()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bench.database.path)
        try bench.start()
        #expect(try bench.permissions("") == 0o600)
    }

    @Test("A folder behind a symbolic link can be used")
    func linkedFolder() throws {
        let bench = try LogBench()
        let link = bench.folder.appending(path: "link")
        let real = bench.folder.appending(path: "real")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        try LogBench.open(link.path)
        #expect(FileManager.default.fileExists(atPath: real.appending(path: "sessions.sqlite").path))
    }

    // MARK: - Damage

    @Test(
        "LOG-23: a damaged database is set aside with a clear line, and a new one begins",
        arguments: ["header", "text", "half", "empty", "other", "later"])
    func setsAside(damage: String) throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<200 { try bench.append(["a", "b"], padding: 500) }
        try bench.confirm(400)
        try bench.stop()
        var bytes = try Data(contentsOf: bench.database)
        switch damage {
        case "header": for index in 0..<100 { bytes[index] = UInt8(truncatingIfNeeded: index &* 37) }
        case "text": bytes = Data("not a database\n".utf8)
        case "half": bytes.removeLast(bytes.count / 2)
        case "empty":
            bytes = Data()
            try Data([1]).write(to: bench.file("-wal"))
        case "other": bytes.replaceSubrange(68..<72, with: [0, 0, 0, 1])
        default: bytes.replaceSubrange(60..<64, with: [0, 0, 0, 9])
        }
        try bytes.write(to: bench.database)
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        let reason = damage == "later" ? "later" : "damaged"
        #expect(try Data(contentsOf: bench.file(".\(reason)")) == bytes)
        #expect(bench.lines.all.count == 1)
        #expect(bench.lines.contain("it is set aside as \(bench.database.path).\(reason)"))
        try bench.fill(["a"])
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.text) == ["a 2 1 "])
    }

    @Test("HIS-3: a database from before there were sleeping sessions is continued, with a table for them")
    func migrates() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b"])
        try bench.stop()
        do {
            let old = try Database(path: bench.database.path, access: .readWrite)
            try old.execute("DROP TABLE sleeper")
            try old.execute("DROP TABLE restricted")
            try old.execute("PRAGMA user_version = 1")
        }
        try bench.start()
        #expect(bench.kept.sessions.map(\.id).count == 2 && bench.lines.all.isEmpty)
        let database = try Database(path: bench.database.path, access: .readOnly)
        #expect(try database.integer("PRAGMA user_version") == 3)
        #expect(try database.integer("SELECT count(*) FROM sleeper") == 0)
        #expect(try database.integer("SELECT count(*) FROM restricted") == 0)
    }

    /// Reading the rows does not touch the list of free pages. A writer finds the damage later and stops, and the next
    /// start must not end in the same way.
    @Test("LOG-23: damage outside of the rows is found after a crash")
    func damagedFreePages() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.damageFreePages()
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.lines.contain("it is damaged"))
    }

    /// SQLite checks the structure of its pages, and the checksums of rows check their content.
    @Test("LOG-23: a flipped byte is noticed, or changes nothing", arguments: 0..<60)
    func flippedByte(seed: UInt64) throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<40 { try bench.append(["a", "b"], padding: 200) }
        try bench.confirm(80)
        let confirmed = bench.observer.confirmed
        try bench.keep("a", at: #require(confirmed.last { $0.session == "a" }).position, byteCount: 5_000)
        try bench.stop()
        var random = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: bench.database)
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        try bytes.write(to: bench.database)
        try bench.start()
        let isSetAside =
            FileManager.default.fileExists(atPath: bench.file(".damaged").path)
            || FileManager.default.fileExists(atPath: bench.file(".later").path)
        if bench.kept.sessions.isEmpty {
            #expect(isSetAside)
        } else {
            #expect(bench.kept.sessions.map(\.id) == ["a", "b"])
            #expect(bench.kept.sessions[0].snapshot?.bytes == [UInt8](repeating: 40, count: 5_000))
            #expect(bench.keptEntries("b").map(\.bytes) == confirmed.filter { $0.session == "b" }.map(\.bytes))
        }
    }

    @Test("LOG-23: a flipped byte in the write-ahead log is noticed, or changes nothing", arguments: 0..<40)
    func flippedByteInTheLog(seed: UInt64) throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<20 { try bench.fill(["a", "b"], padding: 200) }
        let confirmed = bench.observer.confirmed
        try bench.kill()
        var random = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: bench.file("-wal"))
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        try bytes.write(to: bench.file("-wal"))
        try bench.start()
        guard !bench.kept.sessions.isEmpty else { return }
        for id in ["a", "b"] as [SessionID] {
            #expect(bench.keptEntries(id).map(\.bytes) == confirmed.filter { $0.session == id }.map(\.bytes))
        }
    }
}
