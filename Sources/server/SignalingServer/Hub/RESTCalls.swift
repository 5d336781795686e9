import SignalingCore

/// Commands from REST requests that wait for their outcomes.
struct RESTCalls {
    /// Origins from this one on are REST calls; lower ones are IDs of sockets.
    private static let firstOrigin: UInt64 = 1 << 63

    private var answers: [UInt64: (SessionOutcome) -> Void] = [:]
    private var lastOrigin = RESTCalls.firstOrigin

    static func isOrigin(_ origin: UInt64) -> Bool { origin >= firstOrigin }

    /// - Returns: the ticket's origin for this call.
    mutating func add(answer: @escaping (SessionOutcome) -> Void) -> UInt64 {
        lastOrigin += 1
        answers[lastOrigin] = answer
        return lastOrigin
    }

    mutating func remove(_ origin: UInt64) -> ((SessionOutcome) -> Void)? { answers.removeValue(forKey: origin) }
}
