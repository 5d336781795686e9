import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: the feed of a session")
struct FeedTests {
    private func entry(_ number: UInt64, _ run: UInt64 = 1, counter: UInt64? = nil) -> FeedEntry {
        FeedEntry(
            position: LogPosition(number: number, id: CommandID(run: RunID(run), counter: counter ?? number)),
            time: MonotonicInstant(nanoseconds: Int64(number)), bytes: [UInt8(number)])
    }

    private func delivered(_ feed: inout SessionFeed, now: Int64 = 0) -> [UInt64] {
        var numbers: [UInt64] = []
        while let entry = feed.next(now: MonotonicInstant(nanoseconds: now)) { numbers.append(entry.position.number) }
        return numbers
    }

    @Test("entries that arrive in any order, and several times, are delivered once and in order")
    func anyOrder() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var feed = SessionFeed()
            var arrivals = (1...20).map { UInt64($0) } + (0..<20).map { _ in UInt64.random(in: 1...20, using: &random) }
            arrivals.shuffle(using: &random)
            var numbers: [UInt64] = []
            for number in arrivals {
                let agrees = feed.receive(entry(number), now: MonotonicInstant(nanoseconds: 0))
                #expect(agrees)
                numbers += delivered(&feed)
            }
            #expect(numbers == Array(1...20), "seed \(seed)")
            #expect(feed.gapSince == nil)
        }
    }

    @Test("a gap is known since it began, and ends when it is filled")
    func gap() {
        var feed = SessionFeed()
        let start = MonotonicInstant(nanoseconds: 7)
        _ = feed.receive(entry(3), now: start)
        #expect(feed.gapSince == start)
        #expect(feed.missing.first == 1)
        #expect(feed.missing.last == 2)
        let none = delivered(&feed)
        #expect(none.isEmpty)
        for number: UInt64 in [1, 2] { _ = feed.receive(entry(number), now: start) }
        let all = delivered(&feed)
        #expect(all == [1, 2, 3])
        #expect(feed.gapSince == nil)
    }

    @Test("LOG-31: an entry that waits behind what Redis has is forgotten, and its number may be given to another")
    func forgotten() {
        var feed = SessionFeed()
        let start = MonotonicInstant(nanoseconds: 7)
        for number: UInt64 in [3, 5] { _ = feed.receive(entry(number), now: start) }
        let hasForgotten = feed.forgetWaiting(behind: 4)
        #expect(hasForgotten && feed.waitingEntries.map(\.position.number) == [3])
        let agrees = feed.receive(entry(5, 2, counter: 1), now: start)
        #expect(agrees)
        for number: UInt64 in [1, 2, 4] { _ = feed.receive(entry(number), now: start) }
        let numbers = delivered(&feed)
        #expect(numbers == [1, 2, 3, 4, 5])
    }

    @Test("another id at a number that was delivered, or waits, is a contradiction")
    func contradiction() {
        var feed = SessionFeed()
        let now = MonotonicInstant(nanoseconds: 0)
        _ = feed.receive(entry(1), now: now)
        _ = delivered(&feed)
        let results = [entry(1), entry(1, 2), entry(5), entry(5, 2)].map { feed.receive($0, now: now) }
        #expect(results == [true, false, true, false])
    }
}
