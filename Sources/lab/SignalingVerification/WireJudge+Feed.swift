import JSONText
import SignalingProtocol

/// The consumers of the feed, which read it beside the clients.
extension WireJudge {
    /// What a consumer has got, in numbers.
    public struct FeedTally: Sendable {
        public internal(set) var events = 0
        public internal(set) var gaps = 0
        /// How many events came again.
        public internal(set) var doubles = 0
        /// How often the feed no longer reached back to the place of the consumer.
        public internal(set) var restarts = 0
        /// How long each event took that came while the consumer was up, since it happened.
        public internal(set) var delays: [Duration] = []

        public init() {}
    }

    /// The request of a consumer: what was acknowledged before it, the answer has.
    public struct FeedRequest: Sendable {
        let askedAt: MonotonicInstant
        let boundaries: [String: Int]
    }

    /// - Parameter isPosted: whether the server posts batches to it. Otherwise it reads.
    /// - Returns: the number of the consumer.
    public mutating func addFeedConsumer(_ name: String, isPosted: Bool) -> Int {
        feed.add(name, isPosted: isPosted)
    }

    /// A consumer begins to read.
    public func asksFeed(at now: MonotonicInstant) -> FeedRequest {
        FeedRequest(askedAt: now, boundaries: record.histories.mapValues(\.acknowledgedThrough))
    }

    /// A consumer has got events, and keeps them with its place.
    ///
    /// - Parameters:
    ///   - events: a JSON array, or an object with the member `events`.
    ///   - request: nil for a post.
    ///   - upSince: since when the consumer takes what comes at once.
    public mutating func gotFeed(
        _ events: some Collection<UInt8>, _ consumer: Int, for request: FeedRequest?, upSince: MonotonicInstant,
        at now: MonotonicInstant
    ) {
        guard let lines = WireLine.list(of: events) else {
            return found.add(.f2, .wrong, "a consumer got no list of events (FEED-2)")
        }
        for line in lines {
            guard line.text("event") != "gap" || line.text("sessionId") != nil else {
                feed.begins(consumer, anewIn: record)
                continue
            }
            feed.hear(line, by: consumer, upSince: upSince, at: now, record, &found)
            guard let kind = line.text("event"), kind == "signal" || kind == "change",
                let session = line.text("sessionId")
            else { continue }
            hear(line, of: session, consumer, for: request, at: now)
        }
    }

    /// A message, as in a page (HIS-6).
    private mutating func hear(
        _ line: WireLine, of session: String, _ consumer: Int, for request: FeedRequest?, at now: MonotonicInstant
    ) {
        var described: [(name: WireOrder.Name, details: WireRecord.Details)] = []
        let message = record.message(line, &described)
        let age = Duration.zero - FeedJudge.postAge - terms.tolerance
        var page = WireRecord.PageRequest(.newest, limit: 1, askedAt: request?.askedAt ?? now.advanced(by: age))
        page.boundary = request?.boundaries[session] ?? 0
        let reader = HistoryJudge.Reader(name: "a consumer of the feed", session: session, position: 0)
        sender.judge(described, record, &found)
        history.judge(message, in: page, by: reader, record, &found)
        record.note([message], of: session, now)
        feed.note(message, told: consumer, in: session)
    }

    /// The place of a consumer is gone (410, FEED-4). It begins anew.
    public mutating func feedIsGone(_ consumer: Int) { feed.begins(consumer, anewIn: record) }

    /// A server, a node or its archive was harmed: what it announced before may be announced again.
    public mutating func feedMayRepeat(since begin: MonotonicInstant, at now: MonotonicInstant) {
        feed.noteDisturbance(begin...max(begin, now))
    }

    /// Whether a consumer has not got yet what clients have.
    public var isFeedBehind: Bool { feed.isBehind(record) }

    public func feedTally(of consumer: Int) -> FeedTally { feed.tally(of: consumer) }
}

extension WireLine {
    /// nil for what is neither an array of objects nor an object with one.
    fileprivate static func list(of bytes: some Collection<UInt8>) -> [WireLine]? {
        switch try? JSONValue(parsing: bytes) {
        case .array(let values)?: values.compactMap { $0.objectValue.map { WireLine($0) } }
        case .object(let object)?: WireLine(object).list("events")
        default: nil
        }
    }
}
