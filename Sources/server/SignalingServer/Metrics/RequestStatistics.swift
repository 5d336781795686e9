import SignalingProtocol

/// What a server counts about HTTP requests. Confined to the loop.
final class RequestStatistics {
    struct Answer: Hashable {
        let route: String
        let status: Int
    }

    private(set) var counts: [Answer: Int] = [:]
    private(set) var durations: [String: Histogram] = [:]

    /// Requests to the admin listener with a token.
    private(set) var adminTokens: [TokenGuesses.Verdict: Int] = [:]

    func note(adminToken verdict: TokenGuesses.Verdict) { adminTokens[verdict, default: 0] += 1 }

    func note(route: String, status: Int, took duration: Duration) {
        counts[Answer(route: route, status: status), default: 0] += 1
        durations[route, default: Histogram(.durations)].observe(duration)
    }
}
