import CoreTestSupport
import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

/// A folder with a log, its loop, and everything that the log reports. One instance per test.
final class LogBench {
    let folder: URL
    let loop = TestLoop()
    let lines = LogLines()
    let observer = RecordingObserver()
    private(set) var kept = KeptCommands(lostAt: .seconds(0))
    private var log: SQLiteCommandLog?
    var now = MonotonicInstant.seconds(1)
    private var counters: [SessionID: UInt64] = [:]
    private(set) var run = RunID(0)

    /// In memory where the system has such a folder, since a busy disk takes its time to synchronize.
    private static let parent =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

    /// - Parameter folder: by default a new one for this test.
    init(folder: URL? = nil) throws {
        self.folder = folder ?? Self.parent.appending(path: "signalbox-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // The folder is removed when the thread has closed its files.
        if log != nil { try? crash() }
        try? FileManager.default.removeItem(at: folder)
    }

    var database: URL { folder.appending(path: "sessions.sqlite") }
    func file(_ suffix: String) -> URL { folder.appending(path: "sessions.sqlite" + suffix) }

    var open: SQLiteCommandLog {
        get throws { try #require(log) }
    }

    /// Opens the log as the next process. The boot id is fixed, and no timer runs.
    @discardableResult
    func start(
        durability: Durability = .process, boot: String = "boot", wallTime: Int64 = 1_000_000,
        _ tune: (inout LogTuning) -> Void = { _ in }, clock: (@Sendable () -> MonotonicInstant)? = nil
    ) throws -> SQLiteCommandLog {
        var tuning = LogTuning()
        tuning.bootID = boot
        tuning.ticks = false
        tune(&tuning)
        run = RunID(run.rawValue + 1)
        counters = [:]
        let fixed = now
        let result = try SQLiteCommandLog.open(
            folder: folder.path, durability: durability, now: clock ?? { fixed },
            wallTime: WallTime(milliseconds: wallTime),
            logger: lines.logger, post: loop.post, tuning: tuning)
        kept = result.kept
        log = result.log
        result.log.observer = observer
        return result.log
    }

    /// Ends the log as a crash does, with everything that is confirmed.
    func crash() throws {
        let writer = try open.writer
        log = nil
        // The thread closes its connection before the files are used again. Nothing is marked.
        try? writer.close()
        observer.reset()
    }

    /// Ends the log as a crash does, with the write-ahead log as it is: closing a connection would copy and remove it.
    func kill() throws {
        let copies = try ["", "-wal", "-tail"].map { (file($0), try Data(contentsOf: file($0))) }
        try crash()
        for (file, bytes) in copies { try bytes.write(to: file) }
        try? FileManager.default.removeItem(at: file("-shm"))
    }

    /// Opens the log of a folder, and closes it.
    static func open(_ folder: String) throws {
        try SQLiteCommandLog.open(
            folder: folder, now: { .seconds(1) }, wallTime: WallTime(milliseconds: 1), logger: Logger(label: "test"),
            post: { _ in }
        ).log.close()
    }

    /// Replaces a session's row by one that covers its commands up to a position, with the checksum for it.
    func cover(key: Int64, _ session: SessionID, through position: LogPosition) throws {
        let id = Array(session.rawValue.utf8)
        let checksum = id.withUnsafeBytes {
            CommandSchema.checksum(key: SessionKey(key), id: $0, position: 2, at: position, snapshot: nil)
        }
        let numbers = [position.number, position.id.run.rawValue, position.id.counter].map { Int64(bitPattern: $0) }
        try Database(path: database.path, access: .readWrite).execute(
            """
            UPDATE session SET position = 2, number = \(numbers[0]), run = \(numbers[1]), counter = \(numbers[2]),
                checksum = \(checksum) WHERE key = \(key)
            """)
    }

    /// Ends the log as a crash does, with damage that reading the rows does not touch: in the list of free pages.
    func damageFreePages() throws {
        for _ in 0..<200 { try append(["a", "b"], padding: 500) }
        try confirm(400)
        try keepNewest("a")
        try keepNewest("b")
        try signOfLife()
        try crash()
        var bytes = try Data(contentsOf: database)
        // The first page of the list is at this offset of the header. Its first field is the number of the next page.
        let first = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
        try #require(first > 0)
        bytes.replaceSubrange((first - 1) * 4_096..<(first - 1) * 4_096 + 4, with: [0x7f, 0, 0, 0])
        try bytes.write(to: database)
    }

    func permissions(_ suffix: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(suffix).path)[.posixPermissions] as? Int
    }

    func stop() throws {
        try open.close()
        log = nil
        observer.reset()
    }

    /// Appends one command per session, in one step. The text of a command is its session, run and counter.
    @discardableResult
    func append(_ sessions: [SessionID], padding: Int = 0) throws -> [CommandAppend] {
        let commands = sessions.map { command($0, padding: padding) }
        try open.append(commands, now: now)
        return commands
    }

    func command(_ session: SessionID, padding: Int = 0) -> CommandAppend {
        let counter = counters[session, default: 0] + 1
        counters[session] = counter
        let text = "\(session) \(run.rawValue) \(counter) " + String(repeating: "x", count: padding)
        return CommandAppend(session: session, id: CommandID(run: run, counter: counter), bytes: Array(text.utf8))
    }

    /// Forgets the counter of a session, which begins again.
    func forget(_ session: SessionID) { counters[session] = nil }

    /// Runs the loop until this many commands were confirmed.
    func confirm(_ count: Int) throws { try loop.run { self.observer.confirmed.count >= count } }

    /// Appends commands one after the other, and waits until all are confirmed.
    func fill(_ sessions: [SessionID], padding: Int = 0) throws {
        let count = observer.confirmed.count
        for session in sessions { try append([session], padding: padding) }
        try confirm(count + sessions.count)
    }

    func keep(_ session: SessionID, at position: LogPosition, byteCount: Int = 10) throws {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: position.number), count: byteCount)
        try open.keep(CommandSnapshot(session: session, position: position) { bytes })
    }

    /// Keeps a snapshot at the newest command that was confirmed, and waits for it.
    func keepNewest(_ session: SessionID, byteCount: Int = 10) throws {
        let entry = try #require(observer.confirmed.last { $0.session == session })
        let count = observer.kept.count
        try keep(session, at: entry.position, byteCount: byteCount)
        try loop.run { self.observer.kept.count > count }
    }

    /// Causes a sign of life, and waits until a later command is confirmed.
    func signOfLife() throws {
        try open.writer.signOfLifeIsDue()
        try fill(["sign-of-life"])
    }

    func keptEntries(_ session: SessionID) -> [CommandEntry] {
        kept.sessions.first { $0.id == session }?.entries ?? []
    }
}

final class RecordingObserver: CommandLogObserver {
    private(set) var confirmed: [CommandEntry] = []
    private(set) var asked: [SessionID] = []
    private(set) var kept: [(session: SessionID, number: UInt64, byteCount: Int)] = []
    /// Answers requests for snapshots.
    var onAsked: (([SessionID]) -> Void)?

    func log(confirmed entries: [CommandEntry]) { confirmed += entries }
    func log(needsSnapshotsOf sessions: [SessionID]) {
        asked += sessions
        onAsked?(sessions)
    }
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {
        kept.append((session, position.number, byteCount))
    }

    func reset() { (confirmed, asked, kept) = ([], [], []) }

    var texts: [String] { confirmed.map { String(decoding: $0.bytes, as: UTF8.self) } }
    func numbers(_ session: SessionID) -> [UInt64] {
        confirmed.filter { $0.session == session }.map(\.position.number)
    }
}

extension CommandEntry {
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// As `#expect(value == expected)`, for calls that change their object.
func expectEqual<Value: Equatable>(_ value: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation)
{
    #expect(value == expected, sourceLocation: sourceLocation)
}
