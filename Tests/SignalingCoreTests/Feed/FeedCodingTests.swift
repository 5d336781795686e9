import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Offsets and entries of feeds")
struct FeedCodingTests {
    @Test("FEED-3: an offset is read as it was written, and is ordered as text")
    func offsets() {
        let positions: [Int64] = [0, 1, 15, 16, 1 << 20, 1 << 61, .max]
        for (one, next) in zip(positions, positions.dropFirst()) {
            #expect(FeedOffset([one]).text < FeedOffset([next]).text)
            #expect(FeedOffset([7, one, 9]).text < FeedOffset([7, next, 3]).text)
        }
        for parts in [[0], [1, .max, 0], positions] {
            let offset = FeedOffset(parts)
            #expect(FeedOffset(text: offset.text) == offset)
        }
        #expect(FeedOffset([255, 1]).text == "00000000000000ff0000000000000001")
        #expect(FeedOffset([5, 6]).fitted(to: 3) == FeedOffset([5, 6, 0]))
        #expect(FeedOffset([5, 6]).fitted(to: 1) == FeedOffset([5]))
    }

    @Test(
        "FEED-3: an offset that no server gives out is refused",
        arguments: [
            "", "0", "-1", "now", "000000000000000", "00000000000000000", "00000000000000fg", "00000000000000FF",
            "ffffffffffffffff", "8000000000000000", "-000000000000001", "+000000000000001", "000000000000000 ",
            " 000000000000001", "0x00000000000001", "00000000000000\u{e9}", "0000000000000001000000000000000",
            "\u{661}\u{661}\u{661}\u{661}\u{661}\u{661}\u{661}\u{661}", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            String(repeating: "0", count: 16 * 1_025),
        ])
    func badOffset(_ text: String) {
        #expect(FeedOffset(text: text) == nil)
    }

    @Test("FEED-3: positions increase, whatever the clock says")
    func positions() {
        var last: Int64 = 0
        for milliseconds in [0, 5, 5, 4, .max, .max, 0, .min, 6] as [Int64] {
            let next = FeedOffset.next(after: last, at: WallTime(milliseconds: milliseconds))
            #expect(next > last && next <= FeedOffset.greatest)
            last = next
        }
        #expect(FeedOffset.time(of: FeedOffset.next(after: 7, at: WallTime(milliseconds: 99))).milliseconds == 99)
    }

    @Test("FEED-4: any bytes are an entry or are refused")
    func entries() {
        let entry = FeedEntry([
            .messages(first: Seq(3), last: Seq(900), count: 90), .change(of: Seq(2)), .event(Array("{\"é".utf8)),
            .event([]),
        ])
        #expect(FeedEntry(decoding: entry.encoded) == entry && entry.eventCount == 93)
        for count in entry.encoded.indices { #expect(FeedEntry(decoding: Array(entry.encoded[..<count])) == nil) }
        #expect(FeedEntry(decoding: entry.encoded + [0]) == nil)
        for bad in [
            FeedEntry([]), FeedEntry([.messages(first: Seq(1), last: Seq(1), count: 0)]),
            FeedEntry([.messages(first: Seq(2), last: Seq(1), count: 1)]),
            FeedEntry([.messages(first: Seq(1), last: Seq(500), count: 101)]),
            FeedEntry([.messages(first: Seq(1), last: Seq(500), count: 100), .change(of: Seq(1))]),
        ] {
            #expect(FeedEntry(decoding: bad.encoded) == nil, "\(bad)")
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            var bytes = entry.encoded
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            guard let read = FeedEntry(decoding: bytes) else { continue }
            #expect((1...FeedEntry.largestCount).contains(read.eventCount) && read.encoded == bytes)
        }
    }
}
