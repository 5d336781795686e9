import SignalingCore

/// Commands from REST requests that wait for their outcomes.
struct RESTCalls {
    /// An origin above this one is a REST call; a lower one is a socket's ID.
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
