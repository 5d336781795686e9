import CoreTestSupport
import Foundation
import Logging
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

/// What the archive in Redis does beyond the contract of every archive.
@Suite("The history in Redis", .serialized)
struct ArchiveTests {
    private final class Bench {
        let loop: UVLoop
        let server: RedisServer
        let archive: RedisArchive
        let lines = LogLines()

        init(
            _ options: [String] = [], _ bounds: HistoryBounds = HistoryBounds(),
            _ tune: (inout LogTimes) -> Void = { _ in }
        ) throws {
            loop = try UVLoop()
            server = try RedisServer(options)
            var times = LogTimes.short
            times.archiveProof = .milliseconds(200)
            times.archiveRetry = .milliseconds(50)
            tune(&times)
            archive = .open(
                [try RedisAddress(server.address)], bounds: bounds, loop: loop.eventLoop, logger: lines.logger,
                times: times)
        }

        deinit { archive.close() }

        func append(_ seqs: [Int64], age: Duration = .zero) throws {
            var isDone = false
            archive.append(seqs.map { message($0, age: age) }, to: "s") { if case .success = $0 { isDone = true } }
            try loop.run { isDone }
        }

        func seqs() throws -> [Int64]? {
            var page: Result<ArchivePage, ArchiveFault>?
            archive.page(HistoryRequest(.newest, limit: 200), of: "s") { page = $0 }
            try loop.run { page != nil }
            return try? page?.get().messages.map(\.seq.rawValue)
        }

        func message(_ seq: Int64, age: Duration = .zero) -> ArchivedMessage {
            ArchivedMessage(
                seq: Seq(seq),
                time: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) - age.wholeMilliseconds),
                head: Array(#"{"seq":\#(seq)"#.utf8), content: Array(#","data":"x""#.utf8))
        }
    }

    @Test("HIS-3: a message counts as archived when the process of Redis that took it still runs a while later")
    func proof() throws {
        let bench = try Bench()
        let start = bench.loop.now
        try bench.append([1])
        #expect(bench.loop.now.duration(since: start) >= .milliseconds(200))
        #expect(try bench.seqs() == [1])
    }

    @Test("HIS-3: what a Redis forgets that stops right after its reply is written once more")
    func forgottenAfterReply() throws {
        let bench = try Bench([], HistoryBounds()) { $0.archiveProof = .milliseconds(600) }
        var isDone = false
        bench.archive.append([1, 2].map { bench.message($0) }, to: "s") { if case .success = $0 { isDone = true } }
        try bench.loop.run { try bench.server.call("ZCARD", "sb:{s}:history") == "2" }
        bench.server.kill()
        #expect(!isDone)
        try bench.server.start()
        try bench.loop.run { isDone }
        #expect(try bench.seqs() == [1, 2])
    }

    @Test("HIS-9: a batch has one proof: a moderator who erases often holds up nobody")
    func oneProof() throws {
        let bench = try Bench([], HistoryBounds()) { $0.archiveProof = .milliseconds(500) }
        var steps: [ArchiveStep] = []
        for seq in 1...40 as ClosedRange<Int64> {
            steps.append(.append([bench.message(2 * seq)]))
            steps.append(.erase(ErasureScope(.message(Seq(2 * seq)), at: Seq(2 * seq + 1))))
        }
        steps.append(.append((100...400).map { bench.message($0) }))
        var isDone = false
        let start = bench.loop.now
        bench.archive.carryOut(steps, of: "s") { if case .success = $0 { isDone = true } }
        try bench.loop.run { isDone }
        // A proof for each step would take longer.
        #expect(bench.loop.now.duration(since: start) < .seconds(40))
        var page: ArchivePage?
        bench.archive.page(HistoryRequest(.after(.zero), limit: 50), of: "s") { page = try? $0.get() }
        try bench.loop.run { page != nil }
        #expect(page?.messages.count == 50)
        #expect(page?.messages.filter { $0.content == nil }.map(\.seq.rawValue) == (1...40).map { 2 * $0 })
        #expect(page?.range == Seq(2)...Seq(400))
    }

    @Test("HIS-3, G5: a read fails while Redis is away, and a write waits for it")
    func away() throws {
        let bench = try Bench([], HistoryBounds()) { $0.connecting = .milliseconds(300) }
        try bench.append([1])
        bench.server.kill()
        #expect(try bench.seqs() == nil)
        var isDone = false
        bench.archive.append([bench.message(2)], to: "s") { if case .success = $0 { isDone = true } }
        try bench.loop.run(for: .milliseconds(100))
        #expect(!isDone)
        try bench.server.start()
        try bench.loop.run { isDone }
        #expect(try bench.seqs() == [2])
        #expect(bench.lines.all.contains { $0.contains("written again") })
    }

    @Test("HIS-3, G5: a full Redis refuses messages, and gets them when it has room")
    func full() throws {
        let bench = try Bench()
        try bench.append([1])
        try bench.server.call("CONFIG", "SET", "maxmemory", "1mb")
        var isDone = false
        bench.archive.append([bench.message(2)], to: "s") { if case .success = $0 { isDone = true } }
        try bench.loop.run { bench.lines.all.contains { $0.contains("memory limit") } }
        #expect(!isDone)
        #expect(try bench.seqs() == [1], "it can still be read")
        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        try bench.loop.run { isDone }
        #expect(try bench.seqs() == [1, 2])
    }

    @Test("HIS-2: messages that are too old are in no page, and the keys go with the newest message")
    func age() throws {
        let bench = try Bench([], HistoryBounds(age: .seconds(100)))
        try bench.append([1, 2], age: .seconds(200))
        try bench.append([3], age: .seconds(99))
        try bench.append([4])
        for suffix in ["history", "kept"] {
            #expect((90...100).contains(Int(try bench.server.call("TTL", "sb:{s}:\(suffix)")) ?? 0))
        }
        try bench.loop.run { try bench.seqs() == [4] }
        try bench.append([1, 2, 3])
        #expect(try bench.seqs() == [4], "what was trimmed does not come back")
    }

    @Test("LOG-30: an archive whose Redis has the library of an older version loads its own")
    func olderLibrary() throws {
        let bench = try Bench()
        let older = FunctionLibrary.code.split(separator: "\n").filter { !$0.hasPrefix("register('archive") }
        try bench.server.call("FUNCTION", "LOAD", "REPLACE", older.joined(separator: "\n"))
        try bench.append([1])
        #expect(try bench.seqs() == [1])
    }

    @Test("LOG-38: keys that another program has changed fail a read, and not the process")
    func changedKeys() throws {
        let bench = try Bench()
        try bench.append([1])
        try bench.server.call("ZADD", "sb:{s}:history", "2", "nonsense")
        #expect(try bench.seqs() == nil)
        try bench.server.call("ZREM", "sb:{s}:history", "nonsense")
        #expect(try bench.seqs() == [1])
    }
}
