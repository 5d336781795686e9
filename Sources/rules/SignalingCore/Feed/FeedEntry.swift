import SignalingProtocol

/// One thing that a session has for the feed of its project (FEED-1).
public enum Announcement: Hashable, Sendable {
    /// Kept messages. Their content is read from the archive when the entry is delivered, so erased content never leaves.
    case messages(first: Seq, last: Seq, count: Int)
    /// A message says something else, or has other reactions.
    case change(of: Seq)
    /// Presence, moderation or an erasure: ``FeedEvent/members`` and the time.
    case event([UInt8])

    /// How many events a reader gets of it.
    public var eventCount: Int {
        switch self {
        case .messages(_, _, let count): count
        case .change, .event: 1
        }
    }
}

/// What the feed of a project has at one position: a few announcements of one session, in their order.
public struct FeedEntry: Hashable, Sendable {
    /// The most events of an entry: a reader gets whole entries.
    public static let largestCount = 100

    public let announcements: [Announcement]

    public init(_ announcements: [Announcement]) { self.announcements = announcements }

    public var eventCount: Int { announcements.reduce(0) { $0 + $1.eventCount } }

    /// The entry as archives keep it. The form has the version of the archive's tables.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.write(values: announcements)
        return writer.bytes
    }

    /// - Returns: `nil` for other bytes.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let announcements: [Announcement] = try? reader.values(ofAtLeast: 2), (try? reader.end()) != nil else {
            return nil
        }
        self.init(announcements)
        guard (1...Self.largestCount).contains(eventCount) else { return nil }
    }
}

extension Announcement: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .messages(let first, let last, let count):
            writer.write(byte: 0)
            writer.write(first)
            writer.write(last)
            writer.write(count: count)
        case .change(let seq):
            writer.write(byte: 1)
            writer.write(seq)
        case .event(let members):
            writer.write(byte: 2)
            writer.write(bytes: members)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0:
            let (first, last): (Seq, Seq) = (try reader.value(), try reader.value())
            guard let count = Int(exactly: try reader.unsigned()), first <= last,
                (1...FeedEntry.largestCount).contains(count)
            else { throw .malformed }
            self = .messages(first: first, last: last, count: count)
        case 1: self = .change(of: try reader.value())
        case 2: self = .event(try reader.byteArray())
        default: throw .malformed
        }
    }
}

/// Collects what a batch for the archive announces.
struct AnnouncementList {
    private var entries: [FeedEntry] = []
    private var current: [Announcement] = []
    private var count = 0

    mutating func add(message seq: Seq) {
        if case .messages(let first, let last, let known)? = current.last, known < FeedEntry.largestCount,
            count < FeedEntry.largestCount, last < seq
        {
            current[current.count - 1] = .messages(first: first, last: seq, count: known + 1)
            count += 1
        } else {
            add(.messages(first: seq, last: seq, count: 1))
        }
    }

    mutating func add(_ event: [UInt8], at time: WallTime) {
        add(.event(event + Array(#","time":\#(time.milliseconds)"#.utf8)))
    }

    mutating func add(_ announcement: Announcement) {
        // Once is enough: the reader gets the message as it is then.
        if case .change = announcement, current.contains(announcement) { return }
        if count >= FeedEntry.largestCount { endEntry() }
        current.append(announcement)
        count += 1
    }

    private mutating func endEntry() {
        if !current.isEmpty { entries.append(FeedEntry(current)) }
        (current, count) = ([], 0)
    }

    /// Everything, as entries.
    mutating func take() -> [FeedEntry] {
        endEntry()
        defer { entries = [] }
        return entries
    }
}
