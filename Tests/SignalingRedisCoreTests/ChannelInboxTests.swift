import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: the inbox of a session")
struct FeedTests {
    private func entry(_ number: UInt64, _ run: UInt64 = 1, counter: UInt64? = nil) -> ChannelEntry {
        ChannelEntry(
            position: LogPosition(number: number, id: CommandID(run: RunID(run), counter: counter ?? number)),
            time: MonotonicInstant(nanoseconds: Int64(number)), bytes: [UInt8(number)])
    }

    private func delivered(_ inbox: inout ChannelInbox, now: Int64 = 0) -> [UInt64] {
        var numbers: [UInt64] = []
        while let entry = inbox.next(now: MonotonicInstant(nanoseconds: now)) { numbers.append(entry.position.number) }
        return numbers
    }

    @Test("entries that arrive in any order, and several times, are delivered once and in order")
    func anyOrder() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var inbox = ChannelInbox()
            var arrivals = (1...20).map { UInt64($0) } + (0..<20).map { _ in UInt64.random(in: 1...20, using: &random) }
            arrivals.shuffle(using: &random)
            var numbers: [UInt64] = []
            for number in arrivals {
                let agrees = inbox.receive(entry(number), now: MonotonicInstant(nanoseconds: 0))
                #expect(agrees)
                numbers += delivered(&inbox)
            }
            #expect(numbers == Array(1...20), "seed \(seed)")
            #expect(inbox.gapSince == nil)
        }
    }

    @Test("a gap is known since it began, and ends when it is filled")
    func gap() {
        var inbox = ChannelInbox()
        let start = MonotonicInstant(nanoseconds: 7)
        _ = inbox.receive(entry(3), now: start)
        #expect(inbox.gapSince == start)
        #expect(inbox.missing.first == 1)
        #expect(inbox.missing.last == 2)
        let none = delivered(&inbox)
        #expect(none.isEmpty)
        for number: UInt64 in [1, 2] { _ = inbox.receive(entry(number), now: start) }
        let all = delivered(&inbox)
        #expect(all == [1, 2, 3])
        #expect(inbox.gapSince == nil)
    }

    @Test("LOG-31: an entry that waits behind what Redis has is forgotten, and its number may be given to another")
    func forgotten() {
        var inbox = ChannelInbox()
        let start = MonotonicInstant(nanoseconds: 7)
        for number: UInt64 in [3, 5] { _ = inbox.receive(entry(number), now: start) }
        let hasForgotten = inbox.forgetWaiting(behind: 4)
        #expect(hasForgotten && inbox.waitingEntries.map(\.position.number) == [3])
        let agrees = inbox.receive(entry(5, 2, counter: 1), now: start)
        #expect(agrees)
        for number: UInt64 in [1, 2, 4] { _ = inbox.receive(entry(number), now: start) }
        let numbers = delivered(&inbox)
        #expect(numbers == [1, 2, 3, 4, 5])
    }

    @Test("another id at a number that was delivered, or waits, is a contradiction")
    func contradiction() {
        var inbox = ChannelInbox()
        let now = MonotonicInstant(nanoseconds: 0)
        _ = inbox.receive(entry(1), now: now)
        _ = delivered(&inbox)
        let results = [entry(1), entry(1, 2), entry(5), entry(5, 2)].map { inbox.receive($0, now: now) }
        #expect(results == [true, false, true, false])
    }
}
