import CSQLite
import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("The archive in a state folder")
struct ArchiveTests {
    // MARK: - Opening again

    @Test(
        "HIS-3: what was answered is there after a crash, and after a stop", arguments: [false, true],
        Durability.allCases)
    func reopens(afterAStop: Bool, durability: Durability) throws {
        let bench = try ArchiveBench()
        try bench.start(bounds: HistoryBounds(messageCount: 290), durability: durability)
        try bench.append(1...300)
        try bench.append(1...3, to: "other")
        try bench.erase(.message(Seq(299)))
        let counts = (try bench.open.messageCount, try bench.open.byteCount)
        if afterAStop { try bench.stop() } else { try bench.kill() }
        try bench.start(bounds: HistoryBounds(messageCount: 290), durability: durability)
        #expect(try bench.seqs() == Array(11...300))
        #expect(try bench.page(limit: 2).messages.map(\.content) == [nil, ArchivedMessage.test(300).content])
        #expect(try bench.open.messageCount == counts.0)
        #expect(try bench.open.byteCount == counts.1)
        // What must not come back is known, too.
        try bench.append(5...12)
        #expect(try bench.seqs() == Array(11...300))
        #expect(bench.lines.all.isEmpty)
    }

    @Test("The files are readable for their owner only")
    func permissions() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...2)
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.file(suffix).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("LOG-23: a removed history is noticed within a second or two", arguments: ["", "-wal"])
    func removed(suffix: String) throws {
        let bench = try ArchiveBench()
        let archive = try bench.start()
        try bench.append(1...100)
        try FileManager.default.removeItem(at: bench.file(suffix))
        try bench.loop.run { archive.health != .keeping }
        #expect(archive.health == .failed(CommandLogFault(.removed, "")))
    }

    @Test("LOG-23: a write-ahead log that another file has replaced is noticed")
    func replacedLog() throws {
        let bench = try ArchiveBench()
        let archive = try bench.start()
        try bench.append(1...100)
        try FileManager.default.copyItem(at: bench.file("-wal"), to: bench.file(".copy"))
        try FileManager.default.removeItem(at: bench.file("-wal"))
        try FileManager.default.moveItem(at: bench.file(".copy"), to: bench.file("-wal"))
        try bench.loop.run { archive.health != .keeping }
        #expect(archive.health == .failed(CommandLogFault(.removed, "")))
    }

    @Test("LOG-21: a history whose newest transactions are missing is told once", arguments: [false, true])
    func lostTail(isDamaged: Bool) throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...100)
        try bench.kill()
        if isDamaged {
            var log = try Data(contentsOf: bench.file("-wal"))
            log[32 + 24 + 100] ^= 1
            try log.write(to: bench.file("-wal"))
        } else {
            try FileManager.default.removeItem(at: bench.file("-wal"))
        }
        try bench.start()
        #expect(bench.lines.all.filter { $0.contains("the history lacks the newest messages") }.count == 1)
        try bench.append(101...102)
        try bench.kill()
        try bench.start()
        #expect(bench.lines.all.count == 1)
        #expect(try bench.seqs().suffix(2) == [101, 102])
    }

    @Test("HIS-2: the next process knows the time of the last sweep")
    func lastSweep() throws {
        let bench = try ArchiveBench()
        #expect(try bench.start().lastSweep == nil)
        try bench.append(1...2)
        _ = try bench.sweep(now: 5_000)
        try bench.kill()
        #expect(try bench.start().lastSweep == WallTime(milliseconds: 5_000_000))
    }

    @Test("HIS-3: each loss of the orders counts, also in later processes, and a new archive has lost none")
    func lostOrders() throws {
        let bench = try ArchiveBench()
        try bench.start().noteLostOrders(of: [], areCertain: false)
        #expect(try bench.open.lostOrderCount == 0)
        try bench.append(1...2)
        try bench.kill()
        try bench.start().noteLostOrders(of: [], areCertain: false)
        try bench.open.noteLostOrders(of: [], areCertain: true)
        try bench.append(3...4)
        try bench.kill()
        #expect(try bench.start().lostOrderCount == 2)
    }

    @Test("HIS-3: a mark with any number of losses is read as one with room for more")
    func manyLostOrders() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.stop()
        var mark = try Data(contentsOf: bench.file("-tail"))
        mark.replaceSubrange(32..<40, with: [UInt8](repeating: 0xff, count: 7) + [0x7f])
        try mark.write(to: bench.file("-tail"))
        try bench.start().noteLostOrders(of: [], areCertain: true)
        #expect(try bench.open.lostOrderCount == 1_000_000)
    }

    @Test("HIS-3: what a process adds at its end is kept when it has closed the archive")
    func finish() throws {
        let bench = try ArchiveBench()
        let archive = try bench.start()
        for number in 0..<2_000 {
            archive.finish(
                [.append([.test(1), .test(2)]), .erase(ErasureScope(.message(Seq(1)), at: Seq(3)))],
                of: SessionID(rawValue: "room-\(number)"))
        }
        try bench.stop()
        try bench.start()
        #expect(try bench.open.messageCount == 4_000)
        #expect(try bench.page(of: "room-1999").messages.map(\.content) == [nil, ArchivedMessage.test(2).content])
    }

    // MARK: - Erasing

    /// Many small and some large messages of many sessions, in an order that makes SQLite move rows from page to page.
    @Test("HIS-9: of an erased message no file has the content any more", arguments: 1...2 as ClosedRange<UInt64>)
    func leavesNoTrace(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = try ArchiveBench()
        let archive = try bench.start()
        let sessions = (0..<30).map { SessionID(rawValue: "room-\($0)") }
        var last = [Int64](repeating: 0, count: sessions.count)
        var answers = 0
        var calls = 0
        for _ in 0..<1_500 {
            let index = Int.random(in: 0..<sessions.count, using: &random)
            let messages = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                last[index] += 1
                let limit = [60, 300, 9_000].randomElement(using: &random) ?? 60
                return ArchivedMessage.test(
                    last[index], of: sessions[index], byteCount: Int.random(in: 0..<limit, using: &random))
            }
            calls += 1
            archive.append(messages, to: sessions[index]) { _ in answers += 1 }
        }
        // Some are edited, several times, in the same and in other transactions.
        for version in 10_000..<11_000 as Range<Int64> {
            let index = Int.random(in: 0..<sessions.count, using: &random)
            let forms = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                ArchivedForm.test(
                    .random(in: 1...last[index], using: &random), of: sessions[index], version: version,
                    byteCount: .random(in: 0..<([60, 300, 9_000].randomElement(using: &random) ?? 60), using: &random))
            }
            calls += 1
            archive.put(forms, of: sessions[index]) { _ in answers += 1 }
        }
        var erased: [[UInt8]] = []
        // Nearly all, since few messages leave a trace if there are any.
        for index in sessions.indices {
            for seq in (11...max(11, last[index] - 5)).shuffled(using: &random) {
                erased.append(ArchivedMessage.marker(seq, of: sessions[index]))
                calls += 1
                archive.erase(ErasureScope(.message(Seq(seq)), at: .greatest), of: sessions[index]) { _ in answers += 1
                }
            }
        }
        for index in 0..<3 {
            erased += (1...10).map { ArchivedMessage.marker($0, of: sessions[index]) }
            calls += 1
            archive.erase(ErasureScope(.through(Seq(10)), at: .greatest), of: sessions[index]) { _ in answers += 1 }
        }
        try bench.loop.run { answers == calls }
        try bench.waitUntilTruncated()
        var left: Set<[UInt8]> = []
        for suffix in ["", "-wal"] { left.formUnion(markers(in: try Data(contentsOf: bench.file(suffix)))) }
        #expect(left.isDisjoint(with: erased), "seed \(seed)")
        #expect(left.count > 5 * sessions.count)
        // And why: content is in overflow pages alone, which begin with a page number below 2²⁴.
        let file = try Data(contentsOf: bench.file(""))
        for page in stride(from: 0, to: file.count, by: 4_096) where file[page] != 0 {
            #expect(markers(in: file[page..<page + 4_096]).isEmpty)
        }
    }

    /// The beginnings of all messages.
    private func markers(in file: Data) -> Set<[UInt8]> {
        var markers: Set<[UInt8]> = []
        var rest = file
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            let text = rest[start...].prefix(24)
            if text.starts(with: "<room-".utf8) {
                markers.insert(Array(text.prefix { $0 != UInt8(ascii: ">") } + ">".utf8))
            }
            rest = rest[(start + 1)...]
        }
        return markers
    }

    @Test("HIS-9: content that was erased just before a crash goes at the next start, also while somebody reads")
    func erasesAfterACrash() throws {
        let faults = InjectedFaults()
        let bench = try ArchiveBench()
        faults.fail("checkpoint", SQLITE_BUSY)
        try bench.start(injectedFault: faults.hook)
        try bench.append(1...3)
        try bench.erase(.message(Seq(2)))
        #expect(
            try Data(contentsOf: bench.file("-wal")).firstRange(of: ArchivedMessage.marker(2, of: "session")) != nil)
        try bench.kill()
        let other = try Database(path: bench.file("").path, access: .readOnly)
        try other.execute("BEGIN")
        #expect(try other.integer("SELECT count(*) FROM chunk") == 1)
        try bench.start()
        try bench.append(4...4)
        #expect(try Data(contentsOf: bench.file("-wal")).count > 0)
        other.rollBack()
        try bench.waitUntilTruncated()
        let files = try ["", "-wal"].map { try Data(contentsOf: bench.file($0)) }
        #expect(!files.contains { $0.firstRange(of: ArchivedMessage.marker(2, of: "session")) != nil })
        #expect(files.contains { $0.firstRange(of: ArchivedMessage.marker(3, of: "session")) != nil })
    }

    // MARK: - Failures

    @Test("HIS-2: while the disk is full nothing is answered, reading goes on, and then everything is there")
    func fullDisk() throws {
        let faults = InjectedFaults()
        let bench = try ArchiveBench()
        let archive = try bench.start(injectedFault: faults.hook)
        var health: [CommandLogHealth] = []
        archive.onHealthChange = { health.append($0) }
        try bench.append(1...3)
        faults.fail("INSERT INTO chunk", SQLITE_FULL)
        var answers = 0
        archive.append([.test(4)], to: "session") { _ in answers += 1 }
        archive.erase(ErasureScope(.message(Seq(4)), at: .greatest), of: "session") { _ in answers += 1 }
        try bench.loop.run { health == [.stalled(CommandLogFault(.full, ""))] }
        #expect(try bench.seqs() == [1, 2, 3])
        #expect(answers == 0)
        faults.stop()
        try bench.loop.run { answers == 2 }
        #expect(health == [.stalled(CommandLogFault(.full, "")), .keeping])
        #expect(try bench.page().messages.last == ArchivedMessage.test(4).erased, "in their order")
        #expect(bench.lines.all.count == 2)
    }

    @Test("HIS-2: after a failure of the disk every write is refused, and a next start has what was answered")
    func failingDisk() throws {
        let faults = InjectedFaults()
        let bench = try ArchiveBench()
        let archive = try bench.start(injectedFault: faults.hook)
        try bench.append(1...3)
        faults.fail("COMMIT", SQLITE_IOERR | (4 << 8))
        #expect(throws: ArchiveFault.self) { try bench.append(4...4) }
        faults.stop()
        #expect(throws: ArchiveFault.self) { try bench.append(4...4) }
        #expect(throws: ArchiveFault.self) { try bench.sweep(now: 1) }
        try bench.loop.run { archive.health == .failed(CommandLogFault(.inputOutput, "")) }
        #expect(try bench.seqs() == [1, 2, 3])
        try bench.stop()
        try bench.start()
        #expect(try bench.seqs() == [1, 2, 3])
    }

    @Test(
        "HIS-2: a damaged archive is set aside with a clear line, and a new one begins",
        arguments: ["header", "text", "later", "state", "other"])
    func setsAside(damage: String) throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...100)
        try bench.stop()
        switch damage {
        case "state":
            try Database(path: bench.file("").path, access: .readWrite).execute("UPDATE state SET bytes = bytes + 1")
        case "other":
            try Database(path: bench.file("").path, access: .readWrite).execute("CREATE TABLE mine (a)")
        default:
            var bytes = try Data(contentsOf: bench.file(""))
            switch damage {
            case "header": for index in 0..<100 { bytes[index] = UInt8(truncatingIfNeeded: index &* 37) }
            case "text": bytes = Data("not a database\n".utf8)
            default: bytes.replaceSubrange(60..<64, with: [0, 0, 0, 9])
            }
            try bytes.write(to: bench.file(""))
        }
        try bench.start()
        #expect(try bench.page().range == nil)
        #expect(FileManager.default.fileExists(atPath: bench.file(damage == "later" ? ".later" : ".damaged").path))
        #expect(bench.lines.all.count == 1)
        #expect(bench.lines.contain("it is set aside as \(bench.file("").path)"))
        try bench.append(101...102)
        #expect(try bench.seqs() == [101, 102])
    }

    @Test("HIS-2: damage that a write finds sets the archive aside, and the write goes to a new one")
    func damageWhileRunning() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...100)
        let second = try Database(path: bench.file("").path, access: .readWrite)
        try second.execute("UPDATE session SET last = last + 1")
        #expect(throws: ArchiveFault.self) { try bench.page() }
        try bench.append(101...103)
        #expect(try bench.seqs() == [101, 102, 103])
        #expect(FileManager.default.fileExists(atPath: bench.file(".damaged").path))
        #expect(try bench.open.messageCount == 3)
    }

    @Test("HIS-2: an error that a new file does not end is reported, and not repeated for ever")
    func damageOfEveryFile() throws {
        let faults = InjectedFaults()
        let bench = try ArchiveBench()
        let archive = try bench.start(injectedFault: faults.hook)
        faults.fail("INSERT INTO chunk", SQLITE_ERROR)
        #expect(throws: ArchiveFault.self) { try bench.append(1...3) }
        try bench.loop.run { archive.health == .failed(CommandLogFault(.inputOutput, "")) }
    }

    @Test("HIS-6: a message that was changed on the disk is left out, and the others are read")
    func changedMessage() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...300)
        try bench.stop()
        var bytes = try Data(contentsOf: bench.file(""))
        let place = try #require(bytes.firstRange(of: ArchivedMessage.marker(150, of: "session")))
        bytes[place.lowerBound + 1] ^= 1
        try bytes.write(to: bench.file(""))
        try bench.start()
        let seqs = try bench.seqs()
        #expect(!seqs.contains(150) && seqs.count > 150 && seqs.first == 1 && seqs.last == 300)
        #expect(bench.lines.contain("are left out"))
        // They count until they are trimmed.
        #expect(try bench.sweep(now: 100_000_000) == ["session"])
        #expect(try bench.open.messageCount == 0)
    }

    @Test("HIS-2: damage of the history leaves the sessions alone, and the other way round", arguments: [true, false])
    func apart(ofHistory: Bool) throws {
        let log = try LogBench()
        try log.start()
        try log.fill(["a"])
        try log.stop()
        let loop = TestLoop()
        func open() throws -> SQLiteArchive {
            try SQLiteArchive(
                folder: log.folder.path, bounds: HistoryBounds(), logger: log.lines.logger, post: loop.post)
        }
        var archive = try open()
        var isDone = false
        archive.append([.test(1)], to: "a") { _ in isDone = true }
        try loop.run { isDone }
        archive.close()
        let damaged = log.folder.appending(path: ofHistory ? "history.sqlite" : "sessions.sqlite")
        try Data("not a database\n".utf8).write(to: damaged)
        try log.start()
        archive = try open()
        defer { archive.close() }
        #expect(log.keptEntries("a").count == (ofHistory ? 1 : 0))
        #expect(archive.messageCount == (ofHistory ? 0 : 1))
        #expect(log.lines.all.count == 1)
    }

    // MARK: - Sweeping

    @Test("HIS-2: the sessions with the most bytes are trimmed to one size")
    func level() {
        #expect(ArchiveShares.level(of: [100, 50, 10], excess: 30, areAll: true) == 70)
        #expect(ArchiveShares.level(of: [100, 50, 10], excess: 70, areAll: true) == 40)
        #expect(ArchiveShares.level(of: [100, 50, 10], excess: 150, areAll: true) == 3)
        #expect(ArchiveShares.level(of: [100, 50, 10], excess: 1_000, areAll: true) == 0)
        #expect(ArchiveShares.level(of: [100, 50, 40], excess: 1_000, areAll: false) == 36)
        #expect(ArchiveShares.level(of: [], excess: 10, areAll: true) == 0)
    }

    @Test(
        "HIS-2: what a session takes on the disk is known from its messages",
        arguments: [(1, 60), (30, 60), (7, 3_000), (5, 5_000), (2, 40_000)])
    func storedByteCount(_ count: Int, _ byteCount: Int) throws {
        let bench = try ArchiveBench()
        let archive = try bench.start()
        let (empty, sessionCount) = (archive.byteCount, 200)
        for number in 0..<sessionCount {
            let id = SessionID("room-\(number) \(String(repeating: "x", count: 60))")
            for seq in 1...Int64(count) { try bench.append(seq...seq, to: id, byteCount: byteCount) }
        }
        let size = ArchivedMessage.test(1, byteCount: byteCount).byteCount
        let expected = sessionCount * ArchiveChunk.storedByteCount(ofMessages: count, byteCount: count * size)
        let used = archive.byteCount - empty
        #expect(used < expected * 5 / 4 && expected < used * 5 / 4, "\(used) bytes, and \(expected) are counted")
        try bench.stop()
        let pages = try #require(FileManager.default.attributesOfItem(atPath: bench.file("").path)[.size] as? Int)
        #expect(pages >= used + empty && pages < (used + empty) * 5 / 4)
    }

    @Test("HIS-2: projects that have less than their share lose nothing, and the others all that they have more")
    func projectShares() {
        var shares = ArchiveShares()
        for (project, byteCount) in [("a", 10), ("b", 500), ("b", 100), ("c", 390)] {
            shares.add(byteCount, of: APIKey(project))
        }
        #expect(shares.excesses(used: 1_000, bound: 1_000).isEmpty)
        #expect(shares.excesses(used: 1_000, bound: 960) == [APIKey("b"): 56])
        #expect(shares.excesses(used: 2_000, bound: 1_280) == [APIKey("b"): 291, APIKey("c"): 81])
        // The second has exactly its share.
        var two = ArchiveShares()
        two.add(500, of: APIKey("a"))
        two.add(490, of: nil)
        #expect(two.excesses(used: 990, bound: 980) == [APIKey("a"): 26])
        #expect(ArchiveShares().excesses(used: 10, bound: 1).isEmpty)
    }

    @Test("HIS-2: a long sweep lets other work through, and forgets every session that has become empty")
    func longSweep() throws {
        let bench = try ArchiveBench()
        let archive = try bench.start(
            bounds: HistoryBounds(age: .seconds(10), messageCount: 100_000, byteCount: 100 << 20))
        var answers = 0
        for index in 0..<600 {
            archive.append([.test(1)], to: SessionID(rawValue: "room-\(index)")) { _ in answers += 1 }
        }
        archive.append((1...1_500).map { .test($0, byteCount: 500) }, to: "long") { _ in answers += 1 }
        try bench.loop.run { answers == 601 }
        var order: [String] = []
        archive.sweep(now: WallTime(milliseconds: 1_505_000)) {
            order.append("swept \((try? $0.get())?.count ?? -1)")
        }
        archive.append([.test(1_501)], to: "long") { _ in order.append("appended") }
        try bench.loop.run { order.count == 2 }
        #expect(order == ["appended", "swept 600"])
        #expect(try bench.seqs(of: "long") == Array(1_495...1_501))
        #expect(archive.messageCount == 7)
    }

    @Test("HIS-2: sessions that come at full speed do not take much more than the common bound")
    func boundAtFullSpeed() throws {
        let bench = try ArchiveBench()
        let bound = 4_000_000
        let archive = try bench.start(bounds: HistoryBounds(totalByteCount: bound))
        var (answers, largest) = (0, 0)
        for number in 0..<4_000 {
            archive.append([.test(1)], to: SessionID("room-\(number)")) { _ in
                answers += 1
                largest = max(largest, archive.byteCount)
            }
        }
        try bench.loop.run { answers == 4_000 }
        #expect(largest > bound && largest < bound * 3 / 2, "\(largest) bytes")
        try bench.stop()
        let size = try #require(FileManager.default.attributesOfItem(atPath: bench.file("").path)[.size] as? Int)
        #expect(size < bound * 3 / 2, "\(size) bytes")
    }

    @Test("HIS-2: an archive that grows fast is trimmed to its common bound before the next sweep")
    func trimsBetweenSweeps() throws {
        let bench = try ArchiveBench()
        let bound = 400_000
        let archive = try bench.start(bounds: HistoryBounds(totalByteCount: bound))
        var largest = 0
        for round in 0..<100 {
            let start = Int64(round * 100 + 1)
            try bench.append(start...start + 99, to: round < 50 ? "early" : "late", byteCount: 150)
            largest = max(largest, archive.byteCount)
        }
        // A sixteenth, and what is written while the sessions are trimmed.
        #expect(largest > bound && largest < bound + bound / 16 + 200_000)
        #expect(try bench.seqs(of: "late").last == 10_000 && !bench.seqs(of: "early").isEmpty)
        let deadline = Date(timeIntervalSinceNow: 300)
        while archive.byteCount > bound + bound / 16, Date() < deadline { usleep(1_000) }
        #expect(archive.byteCount <= bound + bound / 16)
    }
}
