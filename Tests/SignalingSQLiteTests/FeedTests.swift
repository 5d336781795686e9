import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import Synchronization
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("The feed in SQLite")
struct FeedTests {
    @Test(
        "FEED-1, FEED-3, FEED-4: it fulfils the contract of every feed", arguments: MessageFeedContract.Promise.allCases
    )
    func contract(_ promise: MessageFeedContract.Promise) throws {
        // The contract opens several archives one after the other.
        var benches: [ArchiveBench] = []
        try MessageFeedContract { bounds in
            let (bench, clock) = (try ArchiveBench(), TestDate())
            benches.append(bench)
            return MessageFeedContract.Subject(
                archive: try bench.start(bounds: bounds, clock: clock.now),
                reopen: {
                    try bench.stop()
                    return (try bench.start(bounds: bounds, clock: clock.now), isKept: true)
                },
                setDate: { clock.date = $0 }, run: { try bench.loop.run(until: $0) })
        }.check(promise)
    }

    // MARK: - Damage

    @Test("FEED-4: a reader meets a damaged entry as one gap, and loses nothing else")
    func damagedEntry() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.announce(1...6)
        let ends = try #require(try bench.read(.oldest)).rows.map(\.end)
        try bench.change("UPDATE feed SET entry = x'0100' WHERE position = \(ends[2].parts[0])")
        let before = try #require(try bench.read(.oldest))
        #expect(before.numbers == [1, 2] && before.more)
        #expect(try bench.read(.after(before.end)) == nil)
        // What is damaged is gone now.
        try bench.announce(7...7)
        #expect(try bench.read(.oldest)?.numbers == [4, 5, 6, 7])
        #expect(try bench.read(.after(ends[2]))?.numbers == [4, 5, 6, 7])
        #expect(try bench.read(.after(ends[1])) == nil)
        #expect(bench.lines.all.contains { $0.contains("an entry of a feed was changed on the disk") })
    }

    @Test("FEED-4: a reader that begins goes on behind a damaged entry")
    func damagedFirst() throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.announce(1...3)
        let ends = try #require(try bench.read(.oldest)).rows.map(\.end)
        for (column, position) in [("session = x'ff'", ends[0]), ("checksum = checksum + 1", ends[1])] {
            try bench.change("UPDATE feed SET \(column) WHERE position = \(position.parts[0])")
        }
        #expect(try bench.read(.oldest)?.numbers == [3])
        #expect(try bench.read(.after(.start())) == nil)
    }

    @Test("FEED-4: a sweep ends, whatever the state says")
    func sweepEnds() throws {
        let bench = try ArchiveBench()
        var bounds = HistoryBounds()
        bounds.feedEntryCount = 1
        try bench.start(bounds: bounds)
        try bench.announce(1...3_000)
        try bench.change("UPDATE feed_state SET gone = last")
        #expect(try bench.sweep(now: 1) == [])
    }

    @Test(
        "FEED-4: a state that no archive writes is damage, and no crash",
        arguments: ["last = 9223372036854775807", "start = -5", "gone = last + 1", "start = gone + 1"])
    func damagedState(_ change: String) throws {
        let bench = try ArchiveBench()
        try bench.start()
        try bench.announce(1...3)
        try bench.change("UPDATE feed_state SET \(change)")
        try bench.stop()
        try bench.start()
        #expect(throws: ArchiveFault.self) { try bench.read(.oldest) }
        // The archive begins anew: new messages are worth more than a stop.
        try bench.announce(4...5)
        #expect(try bench.read(.oldest)?.numbers == [4, 5])
    }
}

/// A date that a test sets.
private final class TestDate: Sendable {
    private let shown = Mutex(WallTime(milliseconds: 0))

    var date: WallTime {
        get { shown.withLock { $0 } }
        set { shown.withLock { $0 = newValue } }
    }

    var now: @Sendable () -> WallTime { { [self] in date } }
}

extension ArchiveBench {
    fileprivate func announce(_ numbers: ClosedRange<Int64>) throws {
        try wait { try open.announce(numbers.map { feedEntry($0) }, of: "p/s", answer: $0) }
    }

    fileprivate func read(_ start: FeedStart) throws -> FeedPage? {
        let reading: FeedReading = try wait { try open.read(APIKey("p"), from: start, limit: 100, answer: $0) }
        if case .page(let page) = reading { return page }
        return nil
    }

    fileprivate func change(_ sql: String) throws {
        try Database(path: file("").path, access: .readWrite).execute(sql)
    }
}
