import SignalingProtocol

extension SessionState {
    /// Keeps an event for the feed of the project, if it has one (FEED-1). It waits among what the archive has not
    /// confirmed, in the order of the session.
    mutating func announce(_ event: @autoclosure () -> FeedEvent, _ now: MonotonicInstant) {
        guard bounds.announces, rules >= .changes else { return }
        unarchived.announce(event(), at: log.lastSeq, now)
    }
}
