import CoreTestSupport
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

@Suite("The feed in Redis", .serialized)
struct FeedTests {
    /// Some Redis, and archives over all of them.
    private final class Bench {
        let loop: UVLoop
        let servers: [RedisServer]
        private let bounds: HistoryBounds
        private let times: LogTimes
        private var opened: [RedisArchive] = []
        private(set) var archive: RedisArchive

        init(
            _ count: Int = 1, _ options: [String] = ["--appendonly", "yes", "--appendfsync", "always"],
            _ bounds: HistoryBounds = HistoryBounds(), _ tune: (inout LogTimes) -> Void = { _ in }
        ) throws {
            loop = try UVLoop()
            servers = try (0..<count).map { _ in try RedisServer(options) }
            self.bounds = bounds
            var times = LogTimes.short
            tune(&times)
            self.times = times
            archive = try Self.archive(servers, bounds, times, loop)
        }

        deinit { for archive in opened + [archive] { archive.close() } }

        private static func archive(
            _ servers: [RedisServer], _ bounds: HistoryBounds, _ times: LogTimes, _ loop: UVLoop
        ) throws -> RedisArchive {
            RedisArchive(
                try servers.map { try RedisAddress($0.address) }, bounds: bounds,
                projectOf: MessageArchiveContract.project, loop: loop.eventLoop, logger: LogLines().logger, times: times
            )
        }

        @discardableResult
        func open() throws -> RedisArchive {
            opened.append(archive)
            archive = try Self.archive(servers, bounds, times, loop)
            return archive
        }

        func announce(_ numbers: [Int64], of session: SessionID = "p/s") throws {
            try wait { archive.announce(numbers.map { feedEntry($0) }, of: session, answer: $0) }
        }

        func read(_ start: FeedStart, limit: Int = 100) throws -> FeedPage? {
            let reading: FeedReading = try wait { archive.read(APIKey("p"), from: start, limit: limit, answer: $0) }
            if case .page(let page) = reading { return page }
            return nil
        }

        func page(_ start: FeedStart, limit: Int = 100) throws -> FeedPage {
            try #require(try read(start, limit: limit))
        }

        func cursor() throws -> FeedOffset? { try wait { archive.cursor(of: APIKey("p"), answer: $0) } }

        func keepCursor(_ offset: FeedOffset) throws {
            try wait { archive.keepCursor(offset, of: APIKey("p"), answer: $0) }
        }

        func wait<Value>(_ call: (@escaping (Result<Value, ArchiveFault>) -> Void) -> Void) throws -> Value {
            var answer: Result<Value, ArchiveFault>?
            call { answer = $0 }
            try loop.run { answer != nil }
            return try #require(answer).get()
        }
    }

    @Test(
        "FEED-1, FEED-3, FEED-4: it fulfils the contract of every feed", arguments: MessageFeedContract.withoutDate)
    func contract(_ promise: MessageFeedContract.Promise) throws {
        // The contract opens several archives one after the other.
        var benches: [Bench] = []
        try MessageFeedContract { bounds in
            let bench = try Bench(1, ["--appendonly", "yes", "--appendfsync", "always"], Self.long(bounds))
            benches.append(bench)
            return MessageFeedContract.Subject(
                archive: bench.archive, reopen: { (try bench.open(), isKept: true) }, setDate: nil,
                run: { try bench.loop.run(until: $0) })
        }.check(promise)
    }

    /// The messages of the contract are from 1970.
    private static func long(_ bounds: HistoryBounds) -> HistoryBounds {
        var bounds = bounds
        bounds.age = .seconds(100 * 365 * 86_400)
        return bounds
    }

    // MARK: - Several Redis

    @Test("FEED-1, FEED-3: a reader gets the entries of every Redis, those of a session in their order")
    func shards() throws {
        let bench = try Bench(3)
        let sessions = (0..<12).map { SessionID("p/\($0)") }
        #expect(Set(sessions.map { JumpHash.bucket(of: $0, count: 3) }).count == 3)
        let beginning = try bench.page(.newest).end
        for round in 1...10 as ClosedRange<Int64> {
            for session in sessions { try bench.announce([round], of: session) }
        }
        var (page, rows) = (try bench.page(.oldest, limit: 7), [FeedPage.Row]())
        rows += page.rows
        while page.more {
            page = try bench.page(.after(page.end), limit: 7)
            rows += page.rows
        }
        for session in sessions {
            #expect(rows.filter { $0.session == session }.map(\.entry) == (1...10).map { feedEntry($0) })
        }
        #expect(rows.count == 120)
        for (one, next) in zip(rows, rows.dropFirst()) { #expect(one.end.text < next.end.text) }
        // A reader may stop behind any entry.
        let whole = try bench.page(.after(beginning), limit: 100)
        #expect(whole.rows.count == 120 && !whole.more)
        for row in [whole.rows[0], whole.rows[50], whole.rows[118]] {
            let rest = try bench.page(.after(row.end), limit: 200)
            let index = try #require(whole.rows.firstIndex { $0.end == row.end })
            #expect(rest.rows.map(\.end).last == whole.end && rest.rows.count == 119 - index)
        }
        #expect(try bench.page(.newest).end == whole.end)
        #expect(try bench.page(.after(whole.end)).rows.isEmpty)
        try bench.keepCursor(whole.rows[50].end)
        #expect(try bench.cursor() == whole.rows[50].end)
        // One of them forgets everything: its readers have a gap, and its part of the cursor is the start.
        try bench.servers[1].call("FLUSHALL")
        #expect(try bench.read(.after(whole.end)) == nil)
        #expect(try bench.cursor() == whole.rows[50].end.with(0, in: 1))
        bench.servers[1].kill()
        #expect(throws: ArchiveFault.self) { try bench.read(.oldest) }
    }

    // MARK: - What Redis forgets

    @Test("FEED-1: what is announced is told at the first reply, and answered with the proof of its messages")
    func proof() throws {
        let bench = try Bench(1, [], Self.long(HistoryBounds())) { $0.archiveProof = .milliseconds(500) }
        var (told, isDone): ([SessionID], Bool) = ([], false)
        bench.archive.onAnnounced = { told.append($0) }
        bench.archive.carryOut([.append([archived(1)]), .announce([feedEntry(1)])], of: "p/s") {
            if case .success = $0 { isDone = true }
        }
        try bench.loop.run { !told.isEmpty }
        #expect(!isDone && told == ["p/s"])
        #expect(try bench.page(.oldest).numbers == [1])
        #expect(try bench.servers[0].call("ZCARD", "sb:{p/s}:history") == "1", "it is behind what it announces")
        // Redis forgets everything.
        bench.servers[0].kill()
        try bench.servers[0].start()
        try bench.loop.run { isDone }
        #expect(try bench.page(.oldest).numbers == [1])
    }

    @Test("FEED-3: a reader that has got what Redis then forgets goes on, and gets it at its new position")
    func forgotten() throws {
        let bench = try Bench()
        try bench.announce([1])
        let last = try bench.servers[0].call("HGET", "sb:feed-state:p", "last")
        try bench.announce([2, 3])
        let end = try bench.page(.newest).end
        let copy = try bench.servers[0].call("XRANGE", "sb:feed:p", "(" + last, "+", "COUNT", "2").split(separator: " ")
        for id in copy where id.contains("-") { try bench.servers[0].call("XDEL", "sb:feed:p", String(id)) }
        try bench.servers[0].call("HSET", "sb:feed-state:p", "last", last)
        // Within the millisecond of its position, the clock is not beyond it.
        for _ in 0..<10_000 { if try bench.read(.after(end)) != nil { break } }
        #expect(try bench.page(.after(end)).rows.isEmpty)
        #expect(try bench.page(.after(end)).end == end)
        try bench.announce([2, 3])
        #expect(try bench.page(.after(end)).numbers == [2, 3])
        #expect(try bench.page(.oldest).numbers == [1, 2, 3])
    }

    @Test("FEED-4: old entries go when they are read, and all of them expire")
    func age() throws {
        let bench = try Bench()
        try bench.announce([1])
        let state = try bench.servers[0].call("TTL", "sb:feed:p")
        #expect((29 * 86_400...30 * 86_400).contains(Int(state) ?? 0))
        try bench.servers[0].call("DEL", "sb:feed:p")
        try bench.servers[0].call("HSET", "sb:feed-state:p", "start", "999-5", "gone", "999-5", "last", "1000-2")
        let entry = String(decoding: feedEntry(1).encoded, as: UTF8.self)
        for id in ["1000-0", "1000-1", "1000-2"] {
            try bench.servers[0].call("XADD", "sb:feed:p", id, "session", "p/s", "entry", entry)
        }
        #expect(try bench.page(.oldest).rows.isEmpty)
        #expect(try bench.servers[0].call("XLEN", "sb:feed:p") == "0")
        func offset(_ number: Int64) -> FeedOffset { FeedOffset([1_000 << 20 | number]) }
        #expect(try bench.read(.after(offset(1))) == nil)
        #expect(try bench.page(.after(offset(2))).rows.isEmpty)
        try bench.announce([2])
        #expect(try bench.page(.after(offset(2))).numbers == [2])
        // A feed whose entries have all expired.
        let end = try bench.page(.newest).end
        try bench.servers[0].call("DEL", "sb:feed:p")
        #expect(try bench.read(.after(offset(2))) == nil)
        #expect(try bench.page(.after(end)).rows.isEmpty)
        try bench.announce([3])
        #expect(try bench.page(.after(end)).numbers == [3])
    }

    @Test("FEED-3: positions go on when the clock of Redis stands still or was set back, and count on in a millisecond")
    func clock() throws {
        let bench = try Bench()
        try bench.announce([1])
        try bench.servers[0].call("HSET", "sb:feed-state:p", "last", "4000000000000-1048574")
        try bench.announce([2, 3, 4])
        #expect(try bench.page(.oldest).numbers == [1, 2, 3, 4])
        #expect(try bench.servers[0].call("HGET", "sb:feed-state:p", "last") == "4000000000001-1")
    }

    // MARK: - Damage and memory

    @Test(
        "FEED-4: a feed that another program has changed begins anew",
        arguments: [
            ["SET", "sb:feed:p", "x"], ["SET", "sb:feed-state:p", "x"], ["HSET", "sb:feed-state:p", "last", "x"],
            ["HSET", "sb:feed-state:p", "gone", "99999999999999999999-0"], ["HDEL", "sb:feed-state:p", "start"],
            ["HSET", "sb:feed-state:p", "gone", "4000000000000-0"], ["HDEL", "sb:feed-state:p", "last"],
            ["XADD", "sb:feed:p", "4000000000000-0", "session", "p/s", "entry", "x"],
            ["XADD", "sb:feed:p", "4000000000000-0", "x", "y"], ["XADD", "sb:feed:p", "*", "session", "p/s"],
        ])
    func damage(_ command: [String]) throws {
        for readsFirst in [true, false] {
            let bench = try Bench()
            try bench.announce([1, 2])
            let end = try bench.page(.newest).end
            _ = try bench.servers[0].connect().call(command)
            if readsFirst { for _ in 0..<3 { _ = try bench.read(.oldest) } }
            try bench.announce([3])
            for _ in 0..<2 { _ = try bench.read(.oldest) }
            try bench.announce([4])
            #expect(try bench.page(.oldest).numbers.last == 4)
            #expect(try bench.read(.after(end)).map { $0.numbers.suffix(1) == [4] } ?? true)
            let now = try bench.page(.newest).end
            try bench.announce([5])
            #expect(try bench.page(.after(now)).numbers == [5])
        }
    }

    @Test("FEED-4, G5: a feed grows no further while Redis has no room")
    func full() throws {
        let bench = try Bench(1, ["--maxmemory", "20mb"]) { $0.archiveProof = .milliseconds(1) }
        let entry = FeedEntry([.event([UInt8](repeating: 7, count: 4_000))])
        for _ in 0..<80 {
            try bench.wait {
                bench.archive.announce(Array(repeating: entry, count: 100), of: "p/s", answer: $0)
            }
        }
        let count = Int(try bench.servers[0].call("XLEN", "sb:feed:p")) ?? 0
        #expect((1_000...4_500).contains(count))
        #expect(try bench.servers[0].call("SET", "joins", "and signals") == "OK")
        try bench.announce([1])
        #expect(try bench.page(.oldest, limit: 5_000).rows.count > 100, "a page has a bound of bytes")
    }
}
