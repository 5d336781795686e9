import DequeModule

/// Work that may take long if much of it comes at once: a turn of the loop does a bounded number of pieces, and the
/// others wait. All other clients wait until the turn ends. A pure value.
///
/// Sources take turns: a source with thousands of pieces delays the piece of another source by one of its own, and the
/// pieces of one source keep their order.
package struct TurnQueue<Source: Hashable, Element> {
    private let countPerTurn: Int
    /// The elements that wait; no line is empty.
    private var lines: [Source: Deque<Element>] = [:]
    /// The sources of the lines, each once, in the order of their turns.
    private var sources: Deque<Source> = []
    /// The number of elements that wait.
    package private(set) var count = 0
    private var turn: UInt64?
    private var allowance = 0

    package init(countPerTurn: Int) { self.countPerTurn = countPerTurn }

    /// Whether the element is handled now. Otherwise it waits: call ``begin(_:)`` in the next turn, and then ``next()``.
    ///
    /// - Parameter turn: the number of the present turn.
    package mutating func admits(_ element: Element, of source: Source, in turn: UInt64) -> Bool {
        // While others wait, only `begin` gives a new allowance, so that nobody overtakes them.
        if count == 0 { begin(turn) }
        guard allowance > 0 else {
            append(element, of: source)
            return false
        }
        allowance -= 1
        return true
    }

    /// Gives the elements that wait the allowance of the present turn, unless it has been given already.
    package mutating func begin(_ turn: UInt64) {
        if turn == self.turn { return }
        self.turn = turn
        allowance = countPerTurn
    }

    /// The oldest element of the source whose turn it is, if it may be handled in this turn of the loop. Only
    /// ``admits(_:of:in:)`` uses the allowance, so an element that has become needless costs none.
    package mutating func next() -> Element? {
        guard allowance > 0, let source = sources.popFirst(), let element = lines[source]?.popFirst() else {
            return nil
        }
        count -= 1
        if lines[source]?.isEmpty == false { sources.append(source) } else { lines[source] = nil }
        return element
    }

    private mutating func append(_ element: Element, of source: Source) {
        if lines[source] == nil { sources.append(source) }
        lines[source, default: []].append(element)
        count += 1
    }
}
