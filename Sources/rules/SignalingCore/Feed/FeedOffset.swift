import SignalingProtocol

/// A position in the feed of a project: behind which entry a reader goes on, in each part of the archive (FEED-3).
///
/// An archive in one place has one part, and one over several servers of Redis a part in each. A position is
/// `milliseconds since 1970 << 20`, and is counted up for entries of the same millisecond. So an archive that was lost, or
/// is an older copy, gives no position a second time, and the reader of another one is recognized.
public struct FeedOffset: Hashable, Sendable {
    public private(set) var parts: [Int64]

    public init(_ parts: [Int64]) { self.parts = parts }

    /// Before the first entry.
    public static func start(partCount: Int = 1) -> FeedOffset {
        FeedOffset(Array(repeating: 0, count: partCount))
    }

    public func with(_ position: Int64, in part: Int) -> FeedOffset {
        var copy = self
        copy.parts[part] = position
        return copy
    }

    /// With as many parts as the archive has: servers of Redis that are new are read from their start.
    public func fitted(to partCount: Int) -> FeedOffset {
        FeedOffset((0..<partCount).map { $0 < parts.count ? parts[$0] : 0 })
    }

    private static let digitCount = 16

    /// Hexadecimal digits of a fixed number, so that a later offset of a reader is greater as text, too.
    public var text: String {
        parts.map { part in
            let digits = String(part, radix: 16)
            return String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits
        }.joined()
    }

    /// - Returns: `nil` for text that no server gives out.
    public init?(text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.digitCount), bytes.count <= Self.digitCount * 1_024
        else { return nil }
        var parts: [Int64] = []
        for start in stride(from: 0, to: bytes.count, by: Self.digitCount) {
            let digits = String(decoding: bytes[start..<(start + Self.digitCount)], as: UTF8.self)
            guard let part = Int64(digits, radix: 16), part >= 0 else { return nil }
            parts.append(part)
        }
        self.init(parts)
        // Of the ways to write a number, one is given out.
        guard self.text == text else { return nil }
    }

    /// No feed gives out a greater position.
    public static let greatest: Int64 = (1 << 62) - 1

    /// When the entry at a position was written.
    public static func time(of position: Int64) -> WallTime { WallTime(milliseconds: position >> 20) }

    /// The position of the next entry.
    ///
    /// - Parameter last: the greatest position that the feed has given out.
    public static func next(after last: Int64, at time: WallTime) -> Int64 {
        max(last + 1, max(0, min(time.milliseconds, (1 << 42) - 1)) << 20)
    }
}

/// What is left of the feed of a project, in one part of the archive.
public struct FeedRange: Hashable, Sendable {
    /// Where the feed began.
    public var start: Int64
    /// Entries up to this position are gone. At first the start.
    public var goneThrough: Int64
    /// The greatest position that was given out, or where the feed began.
    public var last: Int64

    /// - Parameter first: the position of the first entry.
    public init(first: Int64) { (start, goneThrough, last) = (first - 1, first - 1, first - 1) }

    public init(start: Int64, goneThrough: Int64, last: Int64) {
        (self.start, self.goneThrough, self.last) = (start, goneThrough, last)
    }

    /// Whether a reader that has everything up to a position can go on from there without a gap (FEED-4). A reader that got
    /// its position before the first entry has missed nothing if none is gone.
    public func reaches(_ position: Int64) -> Bool {
        position == 0 ? goneThrough == start : (goneThrough...max(goneThrough, last)).contains(position)
    }

    /// The position behind which a reader goes on; `nil` if entries behind its own are gone. For a feed of one part.
    public func position(from start: FeedStart) -> Int64? {
        switch start {
        case .oldest: return goneThrough
        case .newest: return last
        case .after(let offset):
            let position = offset.fitted(to: 1).parts[0]
            return reaches(position) ? max(position, self.start) : nil
        }
    }
}

/// What is read of a feed.
public enum FeedReading: Sendable {
    case page(FeedPage)
    /// Entries behind the offset are gone, or the archive is another one (FEED-4).
    case gone
}

extension FeedReading {
    /// What is read of a feed that has had no entry yet.
    public init(ofEmptyFeedFrom start: FeedStart, partCount: Int = 1) {
        let beginning = FeedOffset.start(partCount: partCount)
        switch start {
        case .oldest, .newest: self = .page(FeedPage(at: beginning))
        case .after(let offset):
            self = offset.parts.allSatisfy { $0 == 0 } ? .page(FeedPage(at: beginning)) : .gone
        }
    }
}

/// Some entries of the feed of a project, in their order.
public struct FeedPage: Sendable {
    public struct Row: Sendable {
        public let session: SessionID
        public let entry: FeedEntry
        /// When it was written.
        public let time: WallTime
        /// Behind this entry.
        public let end: FeedOffset
    }

    public var rows: [Row] = []
    /// Behind the last row, or where the reader was.
    public var end: FeedOffset
    /// Whether entries follow.
    public var more = false

    public init(at offset: FeedOffset) { end = offset }

    /// Adds what one part of the archive has.
    public mutating func add(
        _ rows: [(position: Int64, session: SessionID, entry: FeedEntry)], more: Bool, of part: Int
    ) {
        for row in rows {
            end = end.with(row.position, in: part)
            self.rows.append(
                Row(
                    session: row.session, entry: row.entry, time: FeedOffset.time(of: row.position), end: end))
        }
        self.more = self.more || more
    }
}

/// Where a reader of a feed begins.
public enum FeedStart: Hashable, Sendable {
    /// At the oldest entry that is left.
    case oldest
    /// Behind the newest one.
    case newest
    case after(FeedOffset)
}
