import CoreTestSupport
import SignalingProtocol
import Testing

@testable import SignalingCore

@Suite("The feed in memory")
struct FeedContractTests {
    private final class Clock {
        var date = WallTime(milliseconds: 0)
    }

    @Test(
        "FEED-1, FEED-3, FEED-4: it fulfils the contract of every feed", arguments: MessageFeedContract.Promise.allCases
    )
    func contract(_ promise: MessageFeedContract.Promise) throws {
        try MessageFeedContract { bounds in
            let clock = Clock()
            func open() -> MemoryArchive {
                MemoryArchive(bounds: bounds, projectOf: MessageArchiveContract.project, date: { clock.date })
            }
            return MessageFeedContract.Subject(
                archive: open(), reopen: { (open(), isKept: false) }, setDate: { clock.date = $0 },
                run: { isDone in #expect(isDone(), "it answers from within the call") })
        }.check(promise)
    }

    @Test("FEED-4: a sweep applies a smaller number of entries to a feed that gets none")
    func sweepCount() {
        let archive = MemoryArchive(projectOf: MessageArchiveContract.project)
        archive.announce((1...5).map { feedEntry($0) }, of: "p/s") { _ in }
        var bounds = HistoryBounds()
        bounds.feedEntryCount = 2
        archive.changeBounds(to: bounds)
        archive.sweep(now: WallTime(milliseconds: 0)) { _ in }
        var numbers: [Int64] = []
        archive.read(APIKey("p"), from: .oldest, limit: 9) { result in
            if case .success(.page(let page)) = result { numbers = page.numbers }
        }
        #expect(numbers == [4, 5])
    }
}
