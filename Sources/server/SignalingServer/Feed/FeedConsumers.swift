import JSONText
import SignalingCore
import SignalingProtocol

/// Who consumes the feeds, and how far each of them is behind, for operators. Confined to the loop.
final class FeedConsumers {
    /// One of them.
    struct Consumer {
        enum Kind: String {
            case pull, push
        }

        let project: APIKey
        /// The project's, or one of its webhook.
        let feed: APIKey
        let kind: Kind
        /// Of a reader what it calls itself, or its address; of a receiver scheme, host and port of its URL.
        let name: String
        /// `nil` if this node does not know it.
        let offset: FeedOffset?
        /// The events that it has got from this server.
        let eventCount: Int
    }

    /// The entries that are counted.
    private static let countedEntries = 200

    private let desk: FeedDesk
    private let webhooks: Webhooks

    init(desk: FeedDesk, webhooks: Webhooks) {
        self.desk = desk
        self.webhooks = webhooks
    }

    /// Passes on a list of the consumers, those of one project, or all (`nil`).
    func describe(_ project: APIKey?, now: WallTime, answer: @escaping (JSONValue) -> Void) {
        let consumers = (desk.readers.all + webhooks.consumers).filter { project == nil || $0.project == project }
        describe(consumers[...], now, []) { items in
            answer(["count": .integer(Int64(items.count)), "items": .array(items)])
        }
    }

    private func describe(
        _ rest: ArraySlice<Consumer>, _ now: WallTime, _ items: [JSONValue], _ answer: @escaping ([JSONValue]) -> Void
    ) {
        guard let consumer = rest.first else { return answer(items) }
        let start = consumer.offset.map { FeedStart.after($0) } ?? .oldest
        desk.readEntries(of: consumer.feed, from: start, limit: Self.countedEntries) { [weak self] reading in
            self?.describe(rest.dropFirst(), now, items + [Self.row(consumer, reading, now)], answer)
        }
    }

    private static func row(_ consumer: Consumer, _ reading: FeedReading?, _ now: WallTime) -> JSONValue {
        var row: JSONObject = [
            "apiKey": .string(consumer.project.rawValue), "kind": .string(consumer.kind.rawValue),
            "name": .string(consumer.name), "events": .integer(Int64(consumer.eventCount)),
        ]
        if let offset = consumer.offset { row.append("offset", .string(offset.text)) }
        switch reading {
        case .page(let page)?:
            let waited = page.rows.first.map { max(0, now.milliseconds - $0.time.milliseconds) } ?? 0
            row.append("waitingEntries", .integer(Int64(page.rows.count)))
            row.append("hasMore", .bool(page.more))
            row.append("waitingSeconds", .double(Double(waited) / 1_000))
        case .gone?: row.append("isGone", .bool(true))
        case nil: break
        }
        return .object(row)
    }
}

/// The readers by pull that were seen in the last hour.
struct FeedReaders {
    static let limit = 100
    static let memory = Duration.seconds(3_600)

    private struct Key: Hashable {
        let project: APIKey
        let name: String
    }

    private struct Reader {
        var offset: FeedOffset
        var seenAt: MonotonicInstant
        var eventCount: Int
    }

    private var readers: [Key: Reader] = [:]

    mutating func note(
        _ name: String, of project: APIKey, at offset: FeedOffset, eventCount: Int, now: MonotonicInstant
    ) {
        let key = Key(project: project, name: name)
        readers[key] = Reader(
            offset: offset, seenAt: now, eventCount: (readers[key]?.eventCount ?? 0) + eventCount)
        readers = readers.filter { now.duration(since: $0.value.seenAt) < Self.memory }
        while readers.count > Self.limit, let oldest = readers.min(by: { $0.value.seenAt < $1.value.seenAt }) {
            readers[oldest.key] = nil
        }
    }

    /// By project and name.
    var all: [FeedConsumers.Consumer] {
        readers.sorted { ($0.key.project.rawValue, $0.key.name) < ($1.key.project.rawValue, $1.key.name) }.map {
            FeedConsumers.Consumer(
                project: $0.key.project, feed: $0.key.project, kind: .pull, name: $0.key.name, offset: $0.value.offset,
                eventCount: $0.value.eventCount)
        }
    }
}
