import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingRedisCore

private func feedEntry(_ number: Int64) -> FeedEntry { FeedEntry([.change(of: Seq(number))]) }

@Suite("The parts of a feed in several Redis")
struct FeedPartTests {
    private func part(_ range: ClosedRange<Int64>?, _ positions: [Int64] = [], more: Bool = false) -> FeedPart {
        var part = FeedPart()
        part.range = range.map { FeedRange(start: 10, goneThrough: $0.lowerBound, last: $0.upperBound) }
        part.clock = 5
        part.rows = positions.map { ($0, "p/s", feedEntry($0)) }
        part.more = more
        return part
    }

    private func page(_ parts: [FeedPart], _ start: FeedStart) -> FeedPage? {
        if case .page(let page) = FeedReading(merging: parts, from: start) { page } else { nil }
    }

    @Test("FEED-3: entries of several parts come in the order of their positions")
    func merging() throws {
        let parts = [part(10...40, [20, 40]), part(nil), part(10...35, [15, 20, 35], more: true)]
        let page = try #require(self.page(parts, .oldest))
        #expect(page.rows.map(\.entry) == [15, 20, 20, 35, 40].map { feedEntry($0) } && page.more)
        #expect(
            page.rows.map(\.end.parts) == [[10, 0, 15], [20, 0, 15], [20, 0, 20], [20, 0, 35], [40, 0, 35]])
        #expect(page.end == FeedOffset([40, 0, 35]))
    }

    @Test("FEED-3, FEED-4: each part has its own start, and a gap of one is a gap")
    func starts() {
        let parts = [part(10...40), part(20...30)]
        #expect(page(parts, .newest)?.end == FeedOffset([40, 30]))
        #expect(page(parts, .oldest)?.end == FeedOffset([10, 20]))
        #expect(page(parts, .after(FeedOffset([40, 20])))?.end == FeedOffset([40, 20]))
        #expect(page(parts, .after(FeedOffset([0, 20])))?.end == FeedOffset([10, 20]), "nothing is gone of it")
        #expect(page(parts, .after(FeedOffset([9, 20]))) == nil)
        #expect(page(parts, .after(FeedOffset([10, 19]))) == nil)
        #expect(page(parts, .after(FeedOffset([10]))) == nil, "a new Redis is read from its start, which is gone")
        #expect(page([part(nil)], .after(FeedOffset([1]))) == nil)
        #expect(page([part(nil)], .after(FeedOffset([0])))?.end == FeedOffset([0]))
    }

    @Test("FEED-3: a reader that is ahead of a feed has no gap, unless it is ahead of the clock")
    func ahead() {
        #expect(page([part(10...40)], .after(FeedOffset([5 << 20 - 1])))?.end == FeedOffset([5 << 20 - 1]))
        #expect(page([part(10...40)], .after(FeedOffset([5 << 20]))) == nil)
        #expect(page([part(10...40)], .after(FeedOffset([.max]))) == nil)
    }

    @Test("FEED-3: a position is the id of an entry in a stream")
    func positions() {
        for position in [0, 1, 1 << 20 - 1, 1 << 20, 1 << 62 - 1] as [Int64] {
            #expect(FeedPosition.read(FeedPosition.text(position)) == position)
        }
        #expect(FeedPosition.text(7 << 20 | 5) == "7-5")
        for text in [
            "", "-", "1", "1-", "-1-1", "1--1", "1-1048576", "4398046511104-0", "1-1-1", "x-1", "\(Int64.max)-0",
        ] {
            #expect(FeedPosition.read(text) == nil, "\(text)")
        }
    }

    @Test("FEED-4: a reply that is none is refused")
    func replies() {
        func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }
        func entry(_ id: String, _ entry: [UInt8] = feedEntry(1).encoded) -> RedisReply {
            .array([text(id), .array([text("session"), text("p/s"), text("entry"), .bytes(entry)])])
        }
        func reply(_ changed: Int = -1, _ new: RedisReply = .null) -> RedisReply {
            var elements = [
                text("feed"), text("1-0"), text("1-5"), text("3-0"), text("4"), .integer(1),
                .array([entry("2-0"), entry("3-0")]),
            ]
            if elements.indices.contains(changed) { elements[changed] = new }
            return .array(elements)
        }
        #expect(FeedPart(reply())?.rows.map(\.position) == [2 << 20, 3 << 20])
        #expect(FeedPart(reply())?.more == true)
        #expect(FeedPart(.array([text("feed"), text("")]))?.range == nil)
        #expect(FeedPart(.array([text("feed"), text("")])) != nil)
        for (index, new) in [
            (0, text("page")), (1, .null), (1, text("2-0")), (2, text("4-0")), (3, text("x")), (4, .null), (6, .null),
            (6, .array([.null])), (6, .array([entry("3-0"), entry("3-0")])), (6, .array([entry("x")])),
            (6, .array([entry("2-0", [1])])), (6, .array([.array([text("2-0"), .array([])])])),
        ] as [(Int, RedisReply)] {
            #expect(FeedPart(reply(index, new)) == nil, "\(index) \(new)")
        }
        #expect(FeedPart(.null) == nil && FeedPart(.integer(1)) == nil)
    }
}
