import SignalingProtocol

/// The times of a receiver's posts.
public struct WebhookBounds: Sendable {
    /// How long one post may take.
    public var postTime: Duration
    /// The pause after a first failure. It doubles with each failure after it.
    public var firstPause: Duration
    public var longestPause: Duration

    public init(
        postTime: Duration = .seconds(10), firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(60)
    ) {
        self.postTime = postTime
        self.firstPause = firstPause
        self.longestPause = longestPause
    }
}

/// The outcome of an attempt to post.
enum WebhookOutcome: Hashable, Sendable {
    case delivered
    /// The receiver rejects the events for good: a repetition would have the same outcome.
    case refused
    /// A later attempt may succeed.
    case failed

    /// - Parameter status: nil when there was no response.
    init(status: Int?) {
        if let status, (200..<300).contains(status) {
            self = .delivered
            return
        }
        switch status.flatMap(HTTPStatus.init(rawValue:)) {
        case .badRequest, .gone, .contentTooLarge, .unprocessableContent: self = .refused
        // Other statuses, such as redirects, 401 and 404, come from a wrong configuration, which may be corrected.
        default: self = .failed
        }
    }
}
