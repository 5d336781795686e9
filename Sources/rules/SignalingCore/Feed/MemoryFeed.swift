import DequeModule
import SignalingProtocol

/// The feed of a project in memory.
struct MemoryFeed {
    private typealias Row = (position: Int64, session: SessionID, entry: FeedEntry)

    private var rows: Deque<Row> = []
    private var range: FeedRange
    /// How far the receiver of the project has got.
    var cursor: FeedOffset?

    /// - Parameter time: a reader of an earlier process has lost what was before.
    init(at time: WallTime) { range = FeedRange(first: FeedOffset.next(after: 0, at: time)) }

    mutating func append(_ entries: [FeedEntry], of session: SessionID, at time: WallTime, atMost limit: Int) {
        for entry in entries {
            range.last = FeedOffset.next(after: range.last, at: time)
            rows.append((range.last, session, entry))
        }
        while rows.count > limit { removeOldest() }
    }

    mutating func trim(before time: WallTime, atMost limit: Int) {
        while let first = rows.first, rows.count > limit || FeedOffset.time(of: first.position) < time {
            removeOldest()
        }
    }

    private mutating func removeOldest() {
        if let oldest = rows.popFirst() { range.goneThrough = oldest.position }
    }

    func read(from start: FeedStart, limit: Int) -> FeedReading {
        guard let position = range.position(from: start) else { return .gone }
        let index = firstIndex(after: position)
        let found = rows[index...].prefix(limit)
        var page = FeedPage(at: FeedOffset([position]))
        page.add(Array(found), more: index + found.count < rows.count, of: 0)
        return .page(page)
    }

    private func firstIndex(after position: Int64) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
