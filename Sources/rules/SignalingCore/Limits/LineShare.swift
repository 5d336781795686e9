/// How many lines of each client the server handles in a turn of the loop.
///
/// A turn must stay short, since every other client waits until it ends. A client alone may use ``Bounds/perClient``. If
/// many send more than that at once, they share ``Bounds/shared``.
package struct LineShare {
    package struct Bounds: Sendable {
        /// The maximum number of lines of one client in one turn. A normal client sends fewer at once. One message of the
        /// largest size may have thousands, and other clients must not wait for all of them.
        package var perClient: Int
        /// The maximum number of lines in one turn before each further client gets only one line. Members that flood a
        /// session together would make a turn as long as one that floods alone may.
        package var shared: Int

        package init(perClient: Int = 32, shared: Int = 64) {
            self.perClient = perClient
            self.shared = shared
        }
    }

    private let bounds: Bounds
    private var turn: UInt64?
    private var share = 0
    private var handledCount = 0

    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// The number of lines that a client may have handled in this turn; at least one.
    ///
    /// - Parameters:
    ///   - turn: the number of the turn.
    ///   - waitingCount: how many clients have lines left from earlier turns. Counts at the first call of a turn.
    package mutating func allowance(in turn: UInt64, waitingCount: @autoclosure () -> Int) -> Int {
        if turn != self.turn {
            self.turn = turn
            share = max(1, min(bounds.perClient, bounds.shared / max(1, waitingCount())))
            handledCount = 0
        }
        return handledCount < bounds.shared ? share : 1
    }

    package mutating func noteHandled() { handledCount += 1 }
}
