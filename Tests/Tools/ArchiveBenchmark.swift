import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import SignalingSQLite
import TestSupport

/// `archive [COUNT [FOLDER [EDITED]]]` prints what the history of a state folder costs: writing COUNT messages of 500
/// sessions, of which EDITED in ten are edited (0), the time to open them again, pages of 50 beside 5,000 writes a second,
/// and opening and waking 100,000 sleeping sessions.
enum ArchiveBenchmark {
    private static let sessionCount: Int64 = 500
    /// Messages of one session in an append.
    private static let batch: Int64 = 10

    static func run(count: Int64, folder: String?, editedCount: Int) throws {
        let parent = folder.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let folder = parent.appending(path: "signalbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        var last = try fill(folder, count, editedCount)
        try measurePages(folder, &last)
        try measureSleepers(folder)
    }

    private static func open(_ folder: URL, _ loop: TestLoop) throws -> SQLiteArchive {
        let bounds = HistoryBounds(
            messageCount: 1_000_000_000, byteCount: 1 << 40, totalByteCount: 1 << 40)
        return try SQLiteArchive(
            folder: folder.path, bounds: bounds, logger: Logger(label: "benchmark"), post: loop.post)
    }

    private static func messages(after seq: Int64) -> [ArchivedMessage] {
        (1...batch).map {
            ArchivedMessage(
                seq: Seq(seq + $0), time: WallTime(milliseconds: 1_700_000_000_000 + seq),
                head: [UInt8](repeating: 104, count: 140), content: [UInt8](repeating: 99, count: 80))
        }
    }

    /// Edits of messages among the last 100 of a session, half of them among the last 10.
    private static func forms(_ count: Int, before last: Int64, _ random: inout SeededGenerator) -> [ArchivedForm] {
        (0..<count).map { number in
            ArchivedForm(
                seq: Seq(max(1, last - .random(in: 0..<(number % 2 == 0 ? batch : 100), using: &random))),
                content: [UInt8](repeating: 101, count: 80), version: Seq(last + 1),
                editedAt: WallTime(milliseconds: 1_700_000_000_000 + last))
        }
    }

    /// - Returns: the last seq of each session.
    private static func fill(_ folder: URL, _ count: Int64, _ editedCount: Int) throws -> [Int64] {
        let loop = TestLoop()
        let archive = try open(folder, loop)
        var last = [Int64](repeating: 0, count: Int(sessionCount))
        var (sent, answered) = (0, 0)
        var random = SeededGenerator(seed: 1)
        let (start, before) = (now, writtenByteCount)
        for number in 0..<count / batch {
            let index = Int(number % sessionCount)
            var steps = [ArchiveStep.append(messages(after: last[index]))]
            last[index] += batch
            if editedCount > 0 { steps.append(.put(forms(editedCount, before: last[index], &random))) }
            archive.carryOut(steps, of: Tools.session(index)) { _ in answered += 1 }
            sent += 1
            if sent - answered > 1_000 { try loop.run { sent - answered < 500 } }
        }
        try loop.run { sent == answered }
        let seconds = now.duration(since: start)
        archive.close()
        let path = folder.appending(path: "history.sqlite").path
        let size = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64) ?? 0
        print(
            "written: \(count) messages of 220 bytes in \(seconds), \(size / count) bytes each in the file, "
                + "\((writtenByteCount - before) / Int(count)) bytes each to all files")
        return last
    }

    private static func measurePages(_ folder: URL, _ last: inout [Int64]) throws {
        let loop = TestLoop()
        let opening = now
        let archive = try open(folder, loop)
        print("opened in \(now.duration(since: opening))")
        var times: [Duration] = []
        var random = SeededGenerator(seed: 1)
        let start = now
        var (sent, answered): (Int64, Int64) = (0, 0)
        while times.count < 5_000 {
            // Not more than 5,000 messages a second.
            let due = now.duration(since: start).wholeMilliseconds * 5 / batch
            while sent < due {
                let index = Int(sent % sessionCount)
                archive.append(messages(after: last[index]), to: Tools.session(index)) { _ in answered += 1 }
                last[index] += batch
                sent += 1
            }
            let index = Int.random(in: 0..<Int(sessionCount), using: &random)
            let before = Int64.random(in: 1...last[index], using: &random)
            var isRead = false
            let asked = now
            archive.page(HistoryRequest(.before(Seq(before))), of: Tools.session(index)) { _ in isRead = true }
            try loop.run { isRead }
            times.append(now.duration(since: asked))
        }
        times.sort()
        print(
            "pages of 50 beside \(answered * batch * 1_000 / max(1, now.duration(since: start).wholeMilliseconds)) "
                + "writes/s: p50 \(times[2_500]), p99 \(times[4_950]), greatest \(times[4_999])")
        archive.close()
    }

    private static func measureSleepers(_ folder: URL) throws {
        let snapshot = [UInt8](repeating: 115, count: 700)
        func open(_ loop: TestLoop) throws -> SQLiteCommandLog {
            try SQLiteCommandLog.open(
                folder: folder.path, now: { now }, wallTime: WallTime(milliseconds: 1),
                logger: Logger(label: "benchmark"), post: loop.post
            ).log
        }
        do {
            let loop = TestLoop()
            let log = try open(loop)
            let sleeper = Sleeper(log, snapshot)
            log.observer = sleeper
            for first in stride(from: 0, to: 100_000, by: 1_000) {
                log.append(
                    (first..<first + 1_000).map {
                        CommandAppend(
                            session: Tools.session($0), id: CommandID(run: RunID(1), counter: 1), bytes: snapshot)
                    }, now: now)
                try loop.run { sleeper.count == first + 1_000 }
            }
            try log.close()
        }
        let memory = residentByteCount
        let start = now
        let loop = TestLoop()
        let log = try open(loop)
        print(
            "opened \(log.sleeperCount) sleeping sessions in \(now.duration(since: start)), "
                + "\((residentByteCount - memory) >> 10) KiB more")
        var times: [Duration] = []
        for number in 0..<5_000 {
            var isAwake = false
            let asked = now
            // Each once, and neighbours not one after the other.
            log.wake(Tools.session(number * 7_919 % 100_000)) { isAwake = $0 != nil }
            try loop.run { isAwake }
            times.append(now.duration(since: asked))
        }
        times.sort()
        print("woke 5000 of them: p50 \(times[2_500]), p99 \(times[4_950]), greatest \(times[4_999])")
        try log.close()
    }

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds))
    }

    /// What this process has written to files, as Linux counts it; 0 on other systems.
    private static var writtenByteCount: Int {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
        return line.flatMap { Int($0.dropFirst("wchar: ".count)) } ?? 0
    }

    /// As Linux counts it; 0 on other systems.
    private static var residentByteCount: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
    }
}

/// Puts each session to sleep after its first command.
private final class Sleeper: CommandLogObserver {
    private let log: SQLiteCommandLog
    private let snapshot: [UInt8]
    private(set) var count = 0

    init(_ log: SQLiteCommandLog, _ snapshot: [UInt8]) { (self.log, self.snapshot) = (log, snapshot) }

    func log(confirmed entries: [CommandEntry]) {
        count += entries.count
        for entry in entries {
            let state = CommandSnapshot(session: entry.session, position: entry.position) { [snapshot] in snapshot }
            log.sleep(state, for: SleepReason(hasHistory: true))
        }
    }
    func log(needsSnapshotsOf sessions: [SessionID]) {}
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {}
}
