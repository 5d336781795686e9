import SignalingProtocol

/// How long to wait before coming back (RES-13): full jitter, so that those who were cut off together do not return together.
struct ReconnectPolicy: Sendable {
    /// The longest wait before the first attempt; it doubles with each.
    static let base = Duration.milliseconds(250)
    static let longest = Duration.seconds(5)

    /// - Parameters:
    ///   - attempt: 0 for the first.
    ///   - random: from 0 up to 1.
    static func wait(attempt: Int, random: Double) -> Duration {
        // From here on the doubled base is beyond the longest wait anyway.
        let doubled = base * (1 << min(attempt, 10))
        return min(longest, doubled) * random
    }
}
