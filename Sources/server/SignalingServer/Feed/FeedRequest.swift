import SignalingCore
import SignalingProtocol
import SignalingTransport

/// A request for a part of a feed (FEED-3), by the read side of the Durable Streams protocol.
struct FeedRequest {
    enum Live: String {
        /// Waits for an event.
        case longPoll = "long-poll"
        /// Gets events as they come.
        case events = "sse"
    }

    /// How long a reader waits for an event: well below the time in which a request must be answered.
    static let waitingTime = Duration.seconds(20)

    let start: FeedStart
    let limit: Int
    /// `nil`: the answer comes at once.
    let live: Live?

    init(_ exchange: HTTPExchange) throws(SignalingError) {
        switch exchange.queryValue("offset") {
        // The protocol's question for the end.
        case nil where exchange.method == .head: start = .newest
        case nil, "-1": start = .oldest
        case "now": start = .newest
        case let text?:
            guard let offset = FeedOffset(text: text) else {
                throw SignalingError(
                    .invalidParameter, "\"offset\" must be -1, now, or what the server gave as Stream-Next-Offset")
            }
            start = .after(offset)
        }
        limit = try Self.limit(exchange.queryValue("limit"))
        switch exchange.queryValue("live") {
        case nil: live = nil
        case let text?:
            guard let mode = Live(rawValue: text) else {
                throw SignalingError(.invalidParameter, "\"live\" must be long-poll or sse")
            }
            live = mode
        }
    }

    private static func limit(_ text: String?) throws(SignalingError) -> Int {
        guard let text else { return 100 }
        guard let limit = Seq(digits: text).map({ Int($0.rawValue) }), (1...1_000).contains(limit) else {
            throw SignalingError(.invalidParameter, "\"limit\" must be a number from 1 to 1000")
        }
        return limit
    }
}

extension HTTPResponse {
    /// The events of a feed. Nobody may keep a copy: what is erased later must not come out of it.
    static func feed(_ batch: FeedBatch, live: FeedRequest.Live?) -> HTTPResponse {
        var headers = [(name: "Stream-Next-Offset", value: batch.end.text)]
        if batch.isUpToDate { headers.append(("Stream-Up-To-Date", "true")) }
        if live != nil {
            headers.append(("Stream-Cursor", batch.end.text))
            if batch.events.isEmpty {
                return HTTPResponse(
                    status: HTTPStatus.noContent.rawValue, headers: headers + [("Cache-Control", "no-store")])
            }
        }
        return .json(encoded: batch.array, headers: headers)
    }

    static func feed(_ fault: FeedFault) -> HTTPResponse {
        switch fault {
        case .absent: failure(.notFound, "the project has no feed; start the server with --feed")
        case .gone:
            failure(
                .gone,
                "the feed no longer reaches back to this offset, or is another one; begin with offset=-1, and read the "
                    + "histories of your sessions for what was before")
        case .unreadable:
            failure(.serviceUnavailable, "the feed cannot be read at present; repeat the request")
        case .crowded:
            failure(
                .serviceUnavailable, "too many readers wait for events; repeat the request",
                headers: [("Retry-After", "5")])
        }
    }
}
