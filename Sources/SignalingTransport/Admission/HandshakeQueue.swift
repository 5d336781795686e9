/// Which TLS connections may begin their handshakes in a turn of the loop.
///
/// A handshake takes about a millisecond, and thousands of greetings can arrive in one turn, which would then last for
/// seconds. So one handshake begins in a turn, and the others wait in the order of their greetings. A pure value.
struct HandshakeQueue {
    static let countPerTurn = 1

    private var waiting: [UInt64] = []
    /// The index of the first connection that still waits.
    private var start = 0
    private var allowance = countPerTurn

    /// The number of connections that wait.
    var count: Int { waiting.count - start }

    /// What to do with a connection whose greeting is complete.
    enum Decision {
        /// It begins now. If it is the first of its turn, call `nextTurn` in the next one.
        case begin(isFirstOfTurn: Bool)
        /// It waits; `next` returns it later.
        case wait
    }

    mutating func decide(_ id: UInt64) -> Decision {
        guard allowance > 0 else {
            waiting.append(id)
            return .wait
        }
        allowance -= 1
        return .begin(isFirstOfTurn: allowance == Self.countPerTurn - 1)
    }

    mutating func nextTurn() { allowance = Self.countPerTurn }

    /// The connection that has waited longest, if a handshake may begin in this turn. It may be closed by now: only
    /// `decide` uses the allowance.
    mutating func next() -> UInt64? {
        guard allowance > 0, start < waiting.count else { return nil }
        let id = waiting[start]
        start += 1
        if start == waiting.count {
            waiting = []
            start = 0
        } else if start > 1024, start > waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
        return id
    }
}
