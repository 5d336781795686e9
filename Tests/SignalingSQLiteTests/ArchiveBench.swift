import CoreTestSupport
import Foundation
import Logging
import SignalingCore
import SignalingProtocol
import Synchronization
import TestSupport
import Testing

@testable import SignalingSQLite

/// A folder with an archive, and its loop. One instance per test.
final class ArchiveBench {
    let folder: URL
    let loop = TestLoop()
    let lines = LogLines()
    private var archive: SQLiteArchive?

    private static let parent =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

    init() throws {
        folder = Self.parent.appending(path: "signalbox-archive-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        archive?.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func file(_ suffix: String) -> URL { folder.appending(path: "history.sqlite" + suffix) }

    var open: SQLiteArchive { get throws { try #require(archive) } }

    @discardableResult
    func start(
        bounds: HistoryBounds = HistoryBounds(), durability: Durability = .process,
        injectedFault: (@Sendable (String) -> Int32?)? = nil, clock: (@Sendable () -> WallTime)? = nil
    ) throws -> SQLiteArchive {
        var tuning = ArchiveTuning(injectedFault: injectedFault)
        if let clock { tuning.clock = clock }
        let opened = try SQLiteArchive(
            folder: folder.path, bounds: bounds, durability: durability,
            projectOf: MessageArchiveContract.project, logger: lines.logger, post: loop.post,
            tuning: tuning)
        archive = opened
        return opened
    }

    func stop() throws {
        try open.close()
        archive = nil
    }

    /// Ends the archive as a crash does, with the files as they are now.
    func kill() throws {
        let suffixes = ["", "-wal"]
        // A crash leaves both files as they were at one moment: no checkpoint may come between the two copies.
        var (copies, again): ([Data], [Data]) = ([], try suffixes.map { try Data(contentsOf: file($0)) })
        while copies != again { (copies, again) = (again, try suffixes.map { try Data(contentsOf: file($0)) }) }
        try stop()
        for (suffix, bytes) in zip(suffixes, copies) { try bytes.write(to: file(suffix)) }
        try? FileManager.default.removeItem(at: file("-shm"))
    }

    func append(_ messages: [ArchivedMessage], to session: SessionID = "session") throws {
        try wait { try open.append(messages, to: session, answer: $0) }
    }

    func append(_ seqs: ClosedRange<Int64>, to session: SessionID = "session", byteCount: Int = 100) throws {
        try append(seqs.map { .test($0, byteCount: byteCount) }, to: session)
    }

    func put(_ forms: [ArchivedForm], of session: SessionID = "session") throws {
        try wait { try open.put(forms, of: session, answer: $0) }
    }

    func erase(_ erasure: Erasure, of session: SessionID = "session") throws {
        try wait { try open.erase(ErasureScope(erasure, at: .greatest), of: session, answer: $0) }
    }

    func page(
        _ position: HistoryRequest.Position = .newest, limit: Int = 50, of session: SessionID = "session"
    ) throws -> ArchivePage {
        try wait { try open.page(HistoryRequest(position, limit: limit), of: session, answer: $0) }
    }

    /// The numbers of messages of all chunks, and the bytes of their rows.
    func chunks() throws -> [(count: Int, byteCount: Int)] {
        let database = try Database(path: file("").path, access: .readOnly)
        let chunks = try ArchiveChunks(database)
        let keys = try Statement("SELECT DISTINCT session FROM chunk", in: database)
        let size = try Statement("SELECT length(messages) FROM chunk WHERE session = ? AND first = ?", in: database)
        var found: [(count: Int, byteCount: Int)] = []
        while try keys.step() {
            var rows: [ArchiveChunks.Row] = []
            try chunks.read(.from(.min), keys.integer(0)) {
                rows.append($0)
                return true
            }
            for row in rows {
                size.bind(keys.integer(0), at: 1)
                size.bind(row.first, at: 2)
                defer { size.reset() }
                guard try size.step() else { continue }
                found.append((row.chunk?.messages.count ?? 0, Int(size.integer(0))))
            }
        }
        return found
    }

    /// Waits until the write-ahead log is truncated, which follows the answer to an erasure.
    func waitUntilTruncated() throws {
        let deadline = Date(timeIntervalSinceNow: 300)
        while try !Data(contentsOf: file("-wal")).isEmpty, Date() < deadline { usleep(1_000) }
        #expect(try Data(contentsOf: file("-wal")).isEmpty)
    }

    func seqs(of session: SessionID = "session") throws -> [Int64] {
        var seqs: [Int64] = []
        while true {
            let page = try page(.after(Seq(seqs.last ?? 0)), limit: 200, of: session)
            seqs += page.messages.map(\.seq.rawValue)
            if !page.more { return seqs }
        }
    }

    func sweep(now: Int64) throws -> [SessionID] {
        try wait { try open.sweep(now: WallTime(milliseconds: now * 1_000), answer: $0) }
    }

    func wait<Value>(
        _ call: (@escaping (Result<Value, ArchiveFault>) -> Void) throws -> Void
    ) throws -> Value {
        var answer: Result<Value, ArchiveFault>?
        try call { answer = $0 }
        try loop.run { answer != nil }
        return try #require(answer).get()
    }
}

extension ArchivedMessage {
    /// A message whose time is its seq in seconds, and whose content no other message has.
    static func test(_ seq: Int64, of session: SessionID = "session", byteCount: Int = 100) -> ArchivedMessage {
        let padding = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
        return ArchivedMessage(
            seq: Seq(seq), time: WallTime(milliseconds: seq * 1_000), head: Array("{\"seq\":\(seq)".utf8),
            content: marker(seq, of: session) + padding)
    }

    static func marker(_ seq: Int64, of session: SessionID) -> [UInt8] { Array("<\(session).\(seq)>".utf8) }
}

extension ArchivedForm {
    /// An edit of ``ArchivedMessage/test(_:of:byteCount:)``, with the same marker.
    static func test(
        _ seq: Int64, of session: SessionID = "session", version: Int64, byteCount: Int = 100
    ) -> ArchivedForm {
        ArchivedForm(
            seq: Seq(seq),
            content: ArchivedMessage.marker(seq, of: session) + [UInt8](repeating: UInt8(ascii: "y"), count: byteCount),
            version: Seq(version), editedAt: WallTime(milliseconds: version * 1_000))
    }
}

/// The codes with which the next steps of a statement fail.
final class InjectedFaults: Sendable {
    private let state = Mutex<(statement: String, code: Int32)?>(nil)

    /// Steps of statements that contain the text fail from now on.
    func fail(_ statement: String, _ code: Int32) { state.withLock { $0 = (statement, code) } }

    func stop() { state.withLock { $0 = nil } }

    var hook: @Sendable (String) -> Int32? {
        { [self] sql in state.withLock { $0.flatMap { sql.contains($0.statement) ? $0.code : nil } } }
    }
}
