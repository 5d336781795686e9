/// The streams of a session's events: each listener gets all of them from the moment that it asked.
struct EventStreams {
    /// Events that may wait for one listener (G5).
    static let bufferCount = 10_000

    typealias Continuation = AsyncStream<SessionEvent>.Continuation

    private var continuations: [UInt64: Continuation] = [:]
    private var lastID: UInt64 = 0

    mutating func add(_ continuation: Continuation) -> UInt64 {
        lastID += 1
        continuations[lastID] = continuation
        return lastID
    }

    mutating func remove(_ id: UInt64) { continuations[id] = nil }

    /// Gives an event to everybody.
    ///
    /// - Returns: the streams that end with it. The caller finishes them outside of any lock, since the end of a stream
    ///   calls back to take it off this list.
    mutating func yield(_ event: SessionEvent) -> [Continuation] {
        var ended: [Continuation] = []
        for (id, continuation) in continuations {
            switch continuation.yield(event) {
            case .enqueued(let remaining) where remaining <= 1:
                // The last place tells that there was no place for more: an overflow is never silent.
                continuation.yield(.overflowed)
                ended.append(continuation)
                continuations[id] = nil
            case .enqueued: break
            case .dropped, .terminated: continuations[id] = nil
            @unknown default: break
            }
        }
        return ended
    }

    /// Takes all streams off the list, to be finished as ``yield(_:)`` says.
    mutating func removeAll() -> [Continuation] {
        defer { continuations = [:] }
        return Array(continuations.values)
    }
}
