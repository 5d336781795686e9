import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import SignalingSQLite
import TestSupport

/// `command-log [FOLDER]` prints the cost of a command in the SQLite log, by commands per transaction and durability:
/// the time until it is confirmed, the CPU time of the process, and the bytes that the process writes. FOLDER is on the
/// disk to measure.
enum CommandLogBenchmark {
    private static let sessionCount = 500
    private static let byteCount = 256

    static func run(folder: String?) throws {
        let parent = folder.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        try printOpening(parent)
        print("\(byteCount) bytes a command, \(sessionCount) sessions")
        print("durability  rows/commit   µs/command   µs CPU/command   bytes written/command")
        for durability in Durability.allCases {
            for rows in [1, 10, 100] {
                let count = rows * (durability == .power ? 300 : 3_000)
                let folder = parent.appending(path: "signalbox-benchmark-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: folder) }
                let cost = try measure(folder, durability, rows: rows, count: count)
                let cells = [
                    durability.rawValue, "\(rows)", Tools.text(cost.time, 1), Tools.text(cost.cpu, 1),
                    "\(cost.writtenByteCount)",
                ]
                print(zip(cells, [10, 13, 13, 17, 24]).map { Tools.pad($0, $1) }.joined())
            }
        }
    }

    /// Measures how long a log of 1,000 sessions with 20 kB of commands each takes to open after a crash.
    private static func printOpening(_ parent: URL) throws {
        let folder = parent.appending(path: "signalbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func open(_ loop: TestLoop) throws -> (log: SQLiteCommandLog, kept: KeptCommands) {
            try SQLiteCommandLog.open(
                folder: folder.path, now: { now }, wallTime: WallTime(milliseconds: 1),
                logger: Logger(label: "benchmark"), post: loop.post)
        }
        try autoreleasing {
            let loop = TestLoop()
            let (log, _) = try open(loop)
            let counter = Counter()
            log.observer = counter
            let bytes = [UInt8](repeating: 120, count: byteCount)
            for round in 1...80 {
                log.append(
                    (0..<1_000).map { index in
                        CommandAppend(
                            session: SessionID(rawValue: "session-\(index)"),
                            id: CommandID(run: RunID(1), counter: UInt64(round)), bytes: bytes)
                    }, now: now)
            }
            try loop.run { counter.count >= 80_000 }
        }
        let start = now
        let kept = try open(TestLoop()).kept
        let milliseconds = now.duration(since: start).wholeMilliseconds
        print("opening \(kept.sessions.count) sessions with 80 commands each after a crash: \(milliseconds) ms\n")
    }

    /// Releases the log of `body` before the next one is opened.
    private static func autoreleasing(_ body: () throws -> Void) rethrows { try body() }

    struct Cost {
        let time: Double
        let cpu: Double
        let writtenByteCount: Int
    }

    private static func measure(
        _ folder: URL, _ durability: Durability, rows: Int, count: Int
    ) throws -> Cost {
        let loop = TestLoop()
        let (log, _) = try SQLiteCommandLog.open(
            folder: folder.path, durability: durability, now: { now }, wallTime: WallTime(milliseconds: 1),
            logger: Logger(label: "benchmark"), post: loop.post)
        let counter = Counter()
        log.observer = counter
        let sessions = (0..<sessionCount).map(Tools.session)
        var counters = [UInt64](repeating: 0, count: sessionCount)
        var next = 0
        let bytes = [UInt8](repeating: 120, count: byteCount)
        func append() throws {
            let commands = (0..<rows).map { _ in
                let index = next % sessionCount
                next += 1
                counters[index] += 1
                return CommandAppend(
                    session: sessions[index], id: CommandID(run: RunID(1), counter: counters[index]), bytes: bytes)
            }
            log.append(commands, now: now)
            // One transaction after the other.
            try loop.run { counter.count >= next }
        }
        while next < count / 10 { try append() }
        let first = next
        let written = writtenByteCount
        let start = (now.nanoseconds, cpuNanoseconds)
        while next < first + count { try append() }
        let measured = Double(next - first)
        let cost = Cost(
            time: Double(now.nanoseconds - start.0) / measured / 1_000,
            cpu: Double(cpuNanoseconds - start.1) / measured / 1_000,
            writtenByteCount: (writtenByteCount - written) / (next - first))
        try log.close()
        return cost
    }

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds))
    }

    private static var cpuNanoseconds: Int64 { Int64(clock()) * (1_000_000_000 / Int64(CLOCKS_PER_SEC)) }

    /// The bytes that this process has written to files, as Linux counts them; 0 on other systems.
    private static var writtenByteCount: Int {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }
}

private final class Counter: CommandLogObserver {
    private(set) var count = 0
    func log(confirmed entries: [CommandEntry]) { count += entries.count }
    func log(needsSnapshotsOf sessions: [SessionID]) {}
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {}
}
