/// How many lines of each client the hub handles in a turn of the loop. A pure value.
///
/// A turn must stay short, since every other client waits until it ends. A client alone may use
/// ``HubLimits/linesPerTurn``. If many send more than that at once, they share ``HubLimits/sharedLinesPerTurn``.
struct LineShare {
    private var turn: UInt64?
    private var share = 0
    private var handledCount = 0

    /// The number of lines that a client may have handled in this turn; at least one.
    ///
    /// - Parameters:
    ///   - turn: the number of the turn.
    ///   - waitingCount: how many clients have lines left from earlier turns. Counts at the first call of a turn.
    mutating func allowance(in turn: UInt64, waitingCount: @autoclosure () -> Int, limits: HubLimits) -> Int {
        if turn != self.turn {
            let equal = limits.sharedLinesPerTurn / max(1, waitingCount())
            self = LineShare(turn: turn, share: max(1, min(limits.linesPerTurn, equal)))
        }
        return handledCount < limits.sharedLinesPerTurn ? share : 1
    }

    mutating func noteHandled() { handledCount += 1 }
}

extension LineShare {
    private init(turn: UInt64, share: Int) {
        self.turn = turn
        self.share = share
    }
}
