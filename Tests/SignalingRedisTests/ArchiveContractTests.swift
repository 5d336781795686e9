import CoreTestSupport
import Logging
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import Testing

@testable import SignalingRedis

@Suite("The archive in Redis")
struct ArchiveContractTests {
    /// What Redis itself does: keys expire, and each session has its own bounds (HIS-2).
    private static let withoutSweep = MessageArchiveContract.Promise.allCases.filter { promise in
        switch promise {
        case .keepsWhatWasAppended, .keepsAMessageOnce, .ordersBySeq, .readsPagesInBothDirections, .endsAPageAtItsBytes,
            .erasesOneMessage, .erasesThroughASeq, .erasesTheMessagesOfAUser, .bringsNothingTrimmedBack,
            .knowsTheLastSeq, .keepsSessionsApart, .putsNewerForms, .putsNothingErasedBack, .boundsWhatItPuts,
            .agreesWithAModel, .endsAlikeInAnyOrder:
            true
        case .forgetsEmptySessions, .boundsTheAge, .boundsASession, .boundsAllSessions, .sharesTheBound,
            .countsItsMessages:
            false
        }
    }

    @Test("HIS-2, HIS-3, HIS-6, HIS-9, CHG-8: it fulfils the contract of every archive", arguments: withoutSweep)
    func contract(_ promise: MessageArchiveContract.Promise) throws {
        let bench = try ArchiveServer()
        try MessageArchiveContract { bounds in
            try bench.server.call("FLUSHALL")
            // The messages of the contract are from 1970.
            var bounds = bounds
            bounds.age = .seconds(100 * 365 * 86_400)
            let archive = try bench.open(bounds)
            return MessageArchiveContract.Subject(
                archive: archive,
                counts: { $0.joined().reduce(0) { $0 + $1.byteCount } == archive.byteCount },
                run: { try bench.loop.run(until: $0) })
        }.check(promise)
    }
}

/// A Redis, and archives in it.
private final class ArchiveServer {
    let loop: UVLoop
    let server: RedisServer
    private var opened: [CountedArchive] = []

    init() throws {
        loop = try UVLoop()
        // A reply is a proof then, so nothing has to be waited for.
        server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"])
    }

    deinit { for archive in opened { archive.close() } }

    func open(_ bounds: HistoryBounds) throws -> CountedArchive {
        let archive = RedisArchive(
            [try RedisAddress(server.address)], bounds: bounds, loop: loop.eventLoop, logger: Logger(label: "test"))
        let counted = CountedArchive(archive, server)
        opened.append(counted)
        return counted
    }
}

/// Counts what is in Redis, which the archive of one node cannot know.
private final class CountedArchive: MessageArchive {
    private let archive: RedisArchive
    private let server: RedisServer

    init(_ archive: RedisArchive, _ server: RedisServer) { (self.archive, self.server) = (archive, server) }

    func close() { archive.close() }

    private func sum(_ command: String, _ suffix: String, _ more: String...) -> Int {
        ["session", "a", "b", "c", "unknown"].reduce(0) { sum, session in
            let words = [command, "sb:{\(session)}:\(suffix)"] + more
            return sum + (Int((try? server.connect().call(words)) ?? "") ?? 0)
        }
    }

    var isEmpty: Bool { sum("EXISTS", "kept") == 0 }
    var messageCount: Int { sum("ZCARD", "history") }
    var byteCount: Int { sum("HGET", "kept", "bytes") }
    var largestBatchCount: Int { archive.largestBatchCount }

    func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        archive.append(messages, to: session, answer: answer)
    }

    func put(_ forms: [ArchivedForm], of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        archive.put(forms, of: session, answer: answer)
    }

    func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        archive.page(request, of: session, answer: answer)
    }

    func erase(_ erasure: ErasureScope, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void) {
        archive.erase(erasure, of: session, answer: answer)
    }

    func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        archive.lastSeq(of: session, answer: answer)
    }

    func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        archive.sweep(now: now, answer: answer)
    }

    func changeBounds(to new: HistoryBounds) { archive.changeBounds(to: new) }
    var feed: any MessageFeed { archive.feed }
}
