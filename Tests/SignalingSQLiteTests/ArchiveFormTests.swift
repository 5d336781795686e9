import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

/// What edited messages do to the chunks and the files of an archive.
@Suite("Edited messages in a state folder")
struct ArchiveFormTests {
    /// What a row may have unless it is one large message: two overflow pages and the zeros.
    private static let largestRow = 2 * 4_092 + 489

    @Test("CHG-8, HIS-9: a message that is edited a thousand times does not make its file grow, and leaves no trace")
    func thousandEdits() throws {
        let bench = try ArchiveBench()
        let archive = try bench.start()
        try bench.append(1...60, byteCount: 200)
        try bench.append((1...60).map { .test($0, of: "other", byteCount: 200) }, to: "other")
        let before = archive.byteCount
        for version in 1_000..<2_000 as Range<Int64> {
            try bench.put([.test(15, version: version, byteCount: Int(version - 1_000) * 8)])
        }
        let page = try bench.page(.after(Seq(14)), limit: 1)
        #expect(page.messages.first?.content == ArchivedForm.test(15, version: 1_999, byteCount: 7_992).content)
        #expect(page.messages.first?.version == Seq(1_999))
        // The message of 8 kB, and pages that are not full.
        #expect(archive.byteCount - before <= 6 * 4_096, "\(archive.byteCount - before) bytes more")
        for chunk in try bench.chunks() { #expect(chunk.byteCount <= Self.largestRow, "\(chunk)") }
        #expect(try bench.seqs() == Array(1...60))
        // Every edition is in the write-ahead log, if not in a checkpoint.
        #expect(try !bench.traces(of: 15).isEmpty)
        try bench.erase(.message(Seq(15)))
        try bench.waitUntilTruncated()
        #expect(try bench.traces(of: 15).isEmpty)
        #expect(try bench.traces(of: 16) == [""])
        let size = try #require(FileManager.default.attributesOfItem(atPath: bench.file("").path)[.size] as? Int)
        #expect(size - before <= 12 * 4_096, "\(size - before) bytes more")
        #expect(try archive.messageByteCount == bench.byteCount(of: ["session", "other"]))
    }

    @Test("HIS-9: an edition that was written just before the erasure leaves no trace either, also after a crash")
    func crashAfterErasure() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...40)
        var answers = 0
        for version in 100..<200 as Range<Int64> {
            try bench.open.put([.test(7, version: version)], of: "session") { _ in answers += 1 }
        }
        try bench.open.erase(ErasureScope(.message(Seq(7)), at: .greatest), of: "session") { _ in answers += 1 }
        try bench.open.put([.test(7, version: 300)], of: "session") { _ in answers += 1 }
        try bench.loop.run { answers == 102 }
        try bench.kill()
        try bench.start()
        try bench.waitUntilTruncated()
        #expect(try bench.traces(of: 7).isEmpty)
        #expect(try bench.page(.after(Seq(6)), limit: 1).messages == [ArchivedMessage.test(7).erased])
    }

    @Test("CHG-8: messages that grow and shrink divide their chunks, and join them again")
    func growAndShrink() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...300, byteCount: 150)
        let before = try bench.chunks().count
        var version: Int64 = 1_000
        for seq in 1...300 as ClosedRange<Int64> {
            for byteCount in [8_000, 150] {
                version += 1
                try bench.put([.test(seq, version: version, byteCount: byteCount)])
            }
        }
        let chunks = try bench.chunks()
        #expect(chunks.count <= before * 2, "\(chunks.count) chunks instead of \(before)")
        for chunk in chunks { #expect(chunk.byteCount <= Self.largestRow, "\(chunk)") }
        #expect(try bench.seqs() == Array(1...300))
    }

    @Test("CHG-8: edits of a whole history at once make no chunk of a few messages")
    func allEdited() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...1_000, byteCount: 150)
        let before = try bench.chunks().count
        for start in stride(from: 1, through: 1_000, by: 50) as StrideThrough<Int64> {
            try bench.put((start..<start + 50).map { .test($0, version: 2_000 + $0, byteCount: 150) })
        }
        let after = try bench.chunks().count
        #expect(after <= before * 2, "\(after) chunks instead of \(before)")
        #expect(try bench.seqs() == Array(1...1_000))
    }

    @Test("LOG-24, CHG-8: a backup has the edits of a history and those that wait, and a check counts them")
    func copied() throws {
        let (bench, other) = (try ArchiveBench(), try ArchiveBench())
        try bench.start()
        try bench.append(1...60)
        try bench.put([.test(2, version: 100), .test(60, version: 101, byteCount: 9_000)])
        try bench.stop()
        let waiting: [ArchiveStep] = [
            .append([.test(61)]), .put([.test(2, version: 99), .test(3, version: 102), .test(61, version: 103)]),
            .erase(ErasureScope(.message(Seq(60)), at: Seq(104))), .put([.test(60, version: 105)]),
        ]
        try SQLiteArchive.copy(
            DatabaseFiles(folder: bench.folder.path, name: DatabaseFiles.archive), adding: [("session", waiting)],
            to: other.file("").path)
        let checked = try SQLiteArchive.check(
            DatabaseFiles(folder: other.folder.path, name: DatabaseFiles.archive))
        #expect(checked?.faults == [])
        #expect(checked?.summary.messageCount == 61)
        #expect(try other.traces(of: 60).isEmpty)
        try other.start()
        #expect(try other.seqs() == Array(1...61))
        let messages = try other.page(.after(.zero), limit: 200).messages
        #expect(messages.filter { $0.version != nil }.map(\.seq.rawValue) == [2, 3, 61])
        #expect(messages[1].content == ArchivedForm.test(2, version: 100).content)
        #expect(messages[59] == ArchivedMessage.test(60).erased)
    }

    @Test("LOG-21: a lost edit is told, also if it has the length of the text before it")
    func lostEdit() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.append(1...3)
        try bench.put([.test(2, version: 10)])
        try bench.stop()
        try bench.start()
        try bench.put([.test(2, version: 11)])
        try bench.kill()
        try FileManager.default.removeItem(at: bench.file("-wal"))
        try bench.start()
        #expect(bench.lines.all.filter { $0.contains("the history lacks the newest messages") }.count == 1)
    }
}

extension ArchiveBench {
    /// Names the files that have content of a message.
    func traces(of seq: Int64) throws -> [String] {
        try ["", "-wal"].filter {
            // There is no log after a stop.
            guard FileManager.default.fileExists(atPath: file($0).path) else { return false }
            return try Data(contentsOf: file($0)).firstRange(of: ArchivedMessage.marker(seq, of: "session")) != nil
        }
    }

    /// What all messages of some sessions count, read page by page.
    func byteCount(of sessions: [SessionID]) throws -> Int {
        var sum = 0
        for session in sessions {
            var page = try page(.after(.zero), limit: 200, of: session)
            while let last = page.messages.last {
                sum += page.messages.reduce(0) { $0 + $1.byteCount }
                page = try self.page(.after(last.seq), limit: 200, of: session)
            }
        }
        return sum
    }
}
