import SignalingCore
import SignalingProtocol

/// What one Redis has of the feed of a project (FEED-3).
package struct FeedPart {
    /// Where a reader of this part begins.
    package enum Start {
        case oldest
        case newest
        case after(Int64)

        /// As the function reads it.
        var kind: String {
            switch self {
            case .oldest: "oldest"
            case .newest: "newest"
            case .after: "after"
            }
        }

        /// Zero unless the start is behind one.
        var position: Int64 { if case .after(let position) = self { position } else { 0 } }
    }

    typealias Row = (position: Int64, session: SessionID, entry: FeedEntry)

    /// `nil` if there was no entry yet.
    var range: FeedRange?
    /// The time by which the next entry gets its position, in milliseconds.
    var clock: Int64 = 0
    var rows: [Row] = []
    var more = false

    /// The position behind which a reader goes on; `nil` if entries behind its position are gone.
    ///
    /// Redis may forget an entry that a reader has got, and then gets it once more at a later position. So a reader that
    /// is ahead of the feed has no gap, unless it is ahead of the clock.
    func position(from start: Start) -> Int64? {
        guard let range else {
            if case .after(let position) = start, position != 0 { return nil }
            return 0
        }
        switch start {
        case .oldest: return range.goneThrough
        case .newest: return range.last
        case .after(let position):
            let isAhead = position > range.last && position >> 20 < clock
            return isAhead || range.reaches(position) ? max(position, range.start) : nil
        }
    }
}

extension FeedStart {
    /// Where a reader begins in one of several parts.
    package func part(_ index: Int, of count: Int) -> FeedPart.Start {
        switch self {
        case .oldest: .oldest
        case .newest: .newest
        case .after(let offset): .after(offset.fitted(to: count).parts[index])
        }
    }
}

extension FeedReading {
    /// Puts together what was read of each part. Entries of several parts are in the order of their positions, so that no
    /// part holds up another one.
    package init(merging parts: [FeedPart], from start: FeedStart) {
        var page = FeedPage(at: .start(partCount: parts.count))
        for (index, part) in parts.enumerated() {
            guard let position = part.position(from: start.part(index, of: parts.count)) else {
                self = .gone
                return
            }
            page.end = page.end.with(position, in: index)
        }
        let rows = parts.enumerated().flatMap { index, part in part.rows.map { (row: $0, part: index) } }
        // Within a part positions increase.
        for (row, part) in rows.sorted(by: { ($0.row.position, $0.part) < ($1.row.position, $1.part) }) {
            page.add([row], more: false, of: part)
        }
        page.more = parts.contains(where: \.more)
        self = .page(page)
    }
}

// MARK: - The form in Redis

/// A position as the id of an entry of a stream: `<ms>-<n>`.
enum FeedPosition {
    static func text(_ position: Int64) -> String { "\(position >> 20)-\(position & (1 << 20 - 1))" }

    /// - Returns: `nil` for another text.
    static func read(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let number = Int64(parts[1]),
            (0..<(1 << 42)).contains(milliseconds), (0..<(1 << 20)).contains(number)
        else { return nil }
        return milliseconds << 20 | number
    }
}

extension FeedPart {
    /// `nil` if the reply is not that of the function, or if another program has changed the feed.
    init?(_ reply: RedisReply) {
        guard reply[0].text == "feed" else { return nil }
        if reply[1].text == "" { return }
        guard let start = reply[1].position, let gone = reply[2].position, let last = reply[3].position, start <= gone,
            gone <= last, let clock = reply[4].number, let values = reply[6].array
        else { return nil }
        range = FeedRange(start: start, goneThrough: gone, last: last)
        (self.clock, more) = (clock, reply[5].number == 1)
        for value in values {
            let fields = value[1].fields
            guard let position = value[0].position, position > rows.last?.position ?? -1,
                let session = fields["session"]?.text, let bytes = fields["entry"]?.bytes,
                let entry = FeedEntry(decoding: bytes)
            else { return nil }
            rows.append((position, SessionID(session), entry))
        }
    }
}

extension RedisReply {
    /// Of an entry of a feed.
    var position: Int64? { text.flatMap(FeedPosition.read) }
}
