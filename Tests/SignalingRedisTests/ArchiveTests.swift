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
            archive = RedisArchive(
                [try RedisAddress(server.address)], bounds: bounds, projectOf: MessageArchiveContract.project,
                loop: loop.eventLoop, logger: lines.logger, times: times)
        }

        deinit { archive.close() }

        func append(_ seqs: [Int64], age: Duration = .zero) throws {
            var isDone = false
            archive.append(seqs.map { message($0, age: age) }, to: "s") { if case .success = $0 { isDone = true } }
            try loop.run { isDone }
        }

        /// Appends large messages to each of the sessions, and waits until Redis has them.
        func append(_ seqs: ClosedRange<Int64>, byteCount: Int, to sessions: [SessionID]) throws {
            var doneCount = 0
            for session in sessions {
                archive.append(seqs.map { message($0, byteCount: byteCount) }, to: session) {
                    if case .success = $0 { doneCount += 1 }
                }
            }
            try loop.run { doneCount == sessions.count }
        }

        func form(_ seq: Int64, version: Int64, byteCount: Int = 1) -> ArchivedForm {
            ArchivedForm(
                seq: Seq(seq), content: Array(#","data":"\#(String(repeating: "y", count: byteCount))""#.utf8),
                version: Seq(version), editedAt: WallTime(milliseconds: version))
        }

        func put(_ seq: Int64, version: Int64, byteCount: Int = 1) throws {
            var isDone = false
            archive.put([form(seq, version: version, byteCount: byteCount)], of: "s") {
                if case .success = $0 { isDone = true }
            }
            try loop.run { isDone }
        }

        func memory() throws -> Int {
            let info = try server.call("INFO", "memory")
            let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
            return try #require(line.flatMap { Int($0.dropFirst("used_memory:".count)) })
        }

        func page(of session: SessionID = "s") throws -> ArchivePage? {
            var page: Result<ArchivePage, ArchiveFault>?
            archive.page(HistoryRequest(.newest, limit: 200), of: session) { page = $0 }
            try loop.run { page != nil }
            return try? page?.get()
        }

        func seqs(of session: SessionID = "s") throws -> [Int64]? {
            try page(of: session)?.messages.map(\.seq.rawValue)
        }

        func message(_ seq: Int64, age: Duration = .zero, byteCount: Int = 1) -> ArchivedMessage {
            ArchivedMessage(
                seq: Seq(seq),
                time: WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) - age.wholeMilliseconds),
                head: Array(#"{"seq":\#(seq)"#.utf8),
                content: Array(#","data":"\#(String(repeating: "x", count: byteCount))""#.utf8))
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

    @Test("HIS-2, G5: a Redis that is full of something else has a tenth for histories: no message waits for long")
    func full() throws {
        let bench = try Bench { $0.archiveProof = .milliseconds(1) }
        try bench.append([1])
        try bench.server.call("CONFIG", "SET", "maxmemory", "1mb")
        #expect(try bench.server.call("SET", "joins", "and signals").contains("OOM"))
        // It looks at the memory from time to time.
        var last: Int64 = 1
        while bench.archive.trimmedCount == 0 {
            try bench.append(last + 1...last + 50, byteCount: 1_000, to: ["s"])
            last += 50
        }
        try bench.append(last + 1...last + 300, byteCount: 1_000, to: ["s"])
        #expect(try bench.seqs()?.last == last + 300)
        let count = Int(try bench.server.call("ZCARD", "sb:{s}:history")) ?? 0
        #expect((50...100).contains(count), "\(count) of 1,200 bytes each")
        // An edit finds room in the same way.
        for version in 1...40 as ClosedRange<Int64> {
            try bench.put(last + 300, version: last + 300 + version, byteCount: 1_000 * Int(version))
        }
        #expect(try bench.page()?.messages.last?.version == Seq(last + 340))
        #expect(try bench.memory() < 2 << 20)
    }

    @Test("HIS-2: one project does not fill Redis: its largest histories lose the oldest messages, and the others none")
    func shares() throws {
        let bench = try Bench(["--maxmemory", "60mb"]) { $0.archiveProof = .milliseconds(1) }
        let large = (0..<10).map { SessionID("loud/\($0)") }
        let small = (0..<500).map { SessionID("loud/small-\($0)") }
        try bench.append(1...150, byteCount: 8_000, to: ["quiet/s"])
        try bench.append(1...1, byteCount: 100, to: small)
        for start in stride(from: 1, to: 800, by: 100) as StrideTo<Int64> {
            try bench.append(start...start + 99, byteCount: 8_000, to: large)
            // What comes within a tenth of a second, and buffers of connections, come on top of the 70 %.
            #expect(try bench.memory() < 54 << 20)
        }
        #expect(try bench.server.call("SET", "joins", "and signals") == "OK")
        #expect(try bench.server.call("ZCARD", "sb:{quiet/s}:history") == "150")
        for session in large { #expect(try bench.seqs(of: session)?.last == 800) }
        for session in [small[0], small[499]] { #expect(try bench.seqs(of: session) == [1]) }
        #expect(bench.archive.trimmedCount > 1_000)
        #expect(bench.lines.all.filter { $0.contains("70 % of its maxmemory") }.count == 1)
        // What is counted is what it takes.
        let counted = try (["loud", "quiet"]).reduce(0) { sum, project in
            sum + (Int(try bench.server.call("ZSCORE", "sb:histories", project)) ?? 0)
        }
        let used = try bench.memory()
        #expect(counted < used && counted * 3 / 2 > used, "\(counted) of \(used)")
    }

    @Test("HIS-2, HIS-3: many small histories do not fill Redis, and a session that slept for its history ends with it")
    func sharesOfSmall() throws {
        let bench = try Bench(["--maxmemory", "20mb"]) { $0.archiveProof = .milliseconds(1) }
        func sleeps(_ session: String, until end: Int) throws {
            try bench.server.call("HSET", "sb:{\(session)}:meta", "z", "1", "u", "\(end)")
            try bench.server.call("SET", "sb:{\(session)}:snap", "state")
            for key in ["meta", "snap"] { try bench.server.call("EXPIRE", "sb:{\(session)}:\(key)", "1000") }
        }
        func life(_ session: String) throws -> Int { Int(try bench.server.call("TTL", "sb:{\(session)}:meta")) ?? 0 }
        try bench.append(1...20, byteCount: 8_000, to: ["quiet/s"])
        // The last by name goes first.
        try bench.append(1...1, byteCount: 4_001, to: ["loud/z-1", "loud/z-2"])
        try sleeps("loud/z-1", until: 0)
        try sleeps("loud/z-2", until: Int(Date().timeIntervalSince1970) + 500)
        for start in stride(from: 0, to: 4_000, by: 500) {
            try bench.append(1...1, byteCount: 4_000, to: (start..<start + 500).map { SessionID("loud/\($0)") })
            #expect(try bench.memory() < 16 << 20)
        }
        #expect(try bench.server.call("ZCARD", "sb:{quiet/s}:history") == "20")
        #expect(try bench.seqs(of: "loud/z-1") == [])
        #expect(try life("loud/z-1") <= 1)
        #expect((400...500).contains(try life("loud/z-2")), "its restrictions hold")
    }

    @Test("HIS-2: what Redis has forgotten by itself counts no longer")
    func forgottenShares() throws {
        let bench = try Bench()
        try bench.append(1...1, byteCount: 100, to: ["a/1", "b/1", "b/2"])
        #expect(try bench.server.call("ZCARD", "sb:histories") == "2")
        for session in ["a/1", "b/1"] {
            try bench.server.call("DEL", "sb:{\(session)}:history", "sb:{\(session)}:kept")
        }
        // It looks for some at each append.
        var seq: Int64 = 1
        try bench.loop.run {
            seq += 1
            try bench.append(seq...seq, byteCount: 1, to: ["b/2"])
            return try bench.server.call("ZCARD", "sb:histories") == "1"
                && bench.server.call("ZCARD", "sb:histories:b") == "1"
        }
        #expect(try bench.server.call("EXISTS", "sb:histories:a") == "0")
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

    @Test("LOG-30, CHG-8: an edit loads the library where Redis has one without edits, and both libraries read it")
    func olderLibraryAtAnEdit() throws {
        let bench = try Bench()
        let older = FunctionLibrary.code.split(separator: "\n").filter { !$0.hasPrefix("register('archive_put'") }
        func loadOlder() throws { try bench.server.call("FUNCTION", "LOAD", "REPLACE", older.joined(separator: "\n")) }
        try bench.append([1, 2])
        for version in [10, 11] as [Int64] {
            try loadOlder()
            try bench.put(1, version: version)
            #expect(try bench.page()?.messages.map(\.version) == [Seq(version), nil])
        }
        try loadOlder()
        #expect(try bench.page()?.messages.map(\.version) == [Seq(11), nil])
        try bench.append([1, 3])
        #expect(try bench.page()?.messages.map(\.version) == [Seq(11), nil, nil])
    }

    @Test("HIS-2, CHG-8: an edit lets no key live longer")
    func editKeepsLife() throws {
        let bench = try Bench()
        try bench.append([1, 2])
        for suffix in ["history", "kept"] { try bench.server.call("EXPIRE", "sb:{s}:\(suffix)", "50") }
        for version in 10...12 as ClosedRange<Int64> { try bench.put(2, version: version) }
        #expect(try bench.page()?.messages.map(\.version) == [nil, Seq(12)])
        for suffix in ["history", "kept"] {
            #expect((1...50).contains(Int(try bench.server.call("TTL", "sb:{s}:\(suffix)")) ?? 0), "\(suffix)")
        }
        // And none is there again after its end.
        for suffix in ["history", "kept"] { try bench.server.call("DEL", "sb:{s}:\(suffix)") }
        try bench.put(2, version: 13)
        #expect(try bench.server.call("EXISTS", "sb:{s}:history", "sb:{s}:kept") == "0")
    }

    @Test("HIS-3: an edit that a Redis forgets right after its reply is written once more")
    func forgottenEdit() throws {
        let bench = try Bench([], HistoryBounds()) { $0.archiveProof = .milliseconds(600) }
        var isDone = false
        bench.archive.carryOut([.append([bench.message(1)]), .put([bench.form(1, version: 10)])], of: "s") {
            if case .success = $0 { isDone = true }
        }
        try bench.loop.run { try bench.page()?.messages.map(\.version) == [Seq(10)] }
        bench.server.kill()
        #expect(!isDone)
        try bench.server.start()
        try bench.loop.run { isDone }
        #expect(try bench.page()?.messages.map(\.version) == [Seq(10)])
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
