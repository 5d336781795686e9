/// The streams of a session's events: each listener gets all of them from the moment that it asked.
struct EventStreams {
    /// Events that may wait for one listener (G5).
    static let bufferCount = 10_000

    private var continuations: [UInt64: AsyncStream<SessionEvent>.Continuation] = [:]
    private var lastID: UInt64 = 0

    mutating func add(_ continuation: AsyncStream<SessionEvent>.Continuation) -> UInt64 {
        lastID += 1
        continuations[lastID] = continuation
        return lastID
    }

    mutating func remove(_ id: UInt64) { continuations[id] = nil }

    mutating func yield(_ event: SessionEvent) {
        for (id, continuation) in continuations {
            switch continuation.yield(event) {
            case .enqueued(let remaining) where remaining <= 1:
                // The last place tells that there was no place for more: an overflow is never silent.
                continuation.yield(.overflowed)
                continuation.finish()
                continuations[id] = nil
            case .enqueued: break
            case .dropped, .terminated: continuations[id] = nil
            @unknown default: break
            }
        }
    }

    mutating func finish() {
        for continuation in continuations.values { continuation.finish() }
        continuations = [:]
    }
}
