/// The event streams of a session. Each listener receives all events from its registration on.
struct EventStreams {
    /// The maximum number of events that wait for one listener (G5).
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

    /// Sends an event to every listener.
    ///
    /// - Returns: the streams that end with it. The caller finishes them outside of any lock, because the end of a
    ///   stream calls `remove`.
    mutating func yield(_ event: SessionEvent) -> [Continuation] {
        var ended: [Continuation] = []
        for (id, continuation) in continuations {
            switch continuation.yield(event) {
            case .enqueued(let remaining) where remaining <= 1:
                // The last slot of the buffer reports the overflow, so that it is never silent.
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

    /// Removes all streams. The caller finishes them as ``yield(_:)`` says.
    mutating func removeAll() -> [Continuation] {
        defer { continuations = [:] }
        return Array(continuations.values)
    }
}

/// The streams of the moments at which the network or the app is back.
struct ReturnStreams {
    typealias Continuation = AsyncStream<Void>.Continuation

    private var continuations: [UInt64: Continuation] = [:]
    private var lastID: UInt64 = 0

    /// Use them outside of any lock, because the end of a stream calls `remove`.
    var all: [Continuation] { Array(continuations.values) }

    mutating func add(_ continuation: Continuation) -> UInt64 {
        lastID += 1
        continuations[lastID] = continuation
        return lastID
    }

    mutating func remove(_ id: UInt64) { continuations[id] = nil }
}
