import SignalingProtocol

/// The reactions of the user that are on their way: one request for each message, and behind it the newest set only.
struct ReactionRequests {
    /// A request, by its number: what waits for it ends with its answer.
    struct Turn: Equatable {
        let number: Int
        var request: ReactRequest
    }

    private struct Way {
        var sent: Turn
        var next: Turn?
        /// An event has said the same, so that the answer is no news. It may come after a later event.
        var isTold = false
    }

    private var ways: [Seq: Way] = [:]
    private var lastNumber = 0

    /// Adds the key to the user's reactions to the message, or removes it.
    ///
    /// - Parameter own: the user's set now.
    /// - Returns: the turn that has the new set, and whether to send it now. If not, ``answered(_:hasFailed:)`` does.
    mutating func toggle(_ key: String, of ref: Seq, own: [String]) -> (turn: Turn, isDue: Bool) {
        let way = ways[ref]
        var keys = (way?.next ?? way?.sent)?.request.keys ?? own
        let count = keys.count
        keys.removeAll { $0.isSameKey(as: key) }
        if keys.count == count { keys.append(key) }
        if way?.next == nil { lastNumber += 1 }
        let turn = Turn(number: way?.next?.number ?? lastNumber, request: ReactRequest(ref, keys: keys))
        if way == nil { ways[ref] = Way(sent: turn) } else { ways[ref]?.next = turn }
        return (turn, way == nil)
    }

    /// An event says what the user's set is.
    mutating func told(_ own: OwnReactions) {
        if ways[own.ref]?.sent.request.keys == own.keys { ways[own.ref]?.isTold = true }
    }

    /// The request of a message has its answer. After a failure the next one is not sent: its set was made of the failed
    /// one.
    ///
    /// - Returns: the set that is the user's now, if the answer says so, and the turn that waits.
    mutating func answered(_ ref: Seq, hasFailed: Bool) -> (own: [String]?, next: Turn?) {
        guard let way = ways.removeValue(forKey: ref) else { return (nil, nil) }
        return (hasFailed || way.isTold ? nil : way.sent.request.keys, way.next)
    }

    /// The turn that has waited is sent.
    mutating func start(_ turn: Turn) { ways[turn.request.ref] = Way(sent: turn) }
}
