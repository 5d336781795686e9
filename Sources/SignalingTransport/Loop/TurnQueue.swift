/// Work that may take long if much of it comes at once: a turn of the loop does a bounded number of pieces, and the
/// others wait in their order. All other clients wait until the turn ends. A pure value.
struct TurnQueue<Element> {
    private let countPerTurn: Int
    private var waiting: [Element] = []
    /// The index of the first element that still waits.
    private var start = 0
    private var turn: UInt64?
    private var allowance = 0

    init(countPerTurn: Int) { self.countPerTurn = countPerTurn }

    /// The number of elements that wait.
    var count: Int { waiting.count - start }

    /// Whether the element is handled now. Otherwise it waits: call ``begin(_:)`` in the next turn, and then ``next()``.
    ///
    /// - Parameter turn: the number of the present turn.
    mutating func admits(_ element: Element, in turn: UInt64) -> Bool {
        // While others wait, only `begin` gives a new allowance, so that nobody overtakes them.
        if count == 0 { begin(turn) }
        guard allowance > 0 else {
            waiting.append(element)
            return false
        }
        allowance -= 1
        return true
    }

    /// Gives the elements that wait the allowance of the present turn, unless it has been given already.
    mutating func begin(_ turn: UInt64) {
        if turn == self.turn { return }
        self.turn = turn
        allowance = countPerTurn
    }

    /// The element that has waited longest, if it may be handled in this turn. Only ``admits(_:in:)`` uses the
    /// allowance, so an element that has become needless costs none.
    mutating func next() -> Element? {
        guard allowance > 0, start < waiting.count else { return nil }
        let element = waiting[start]
        start += 1
        if start == waiting.count {
            waiting = []
            start = 0
        } else if start > 1024, start > waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
        return element
    }
}
