/// What holds at the end of each turn, whatever clients, networks and disks do. Each machine states it in its
/// `Type+Invariants.swift`: `violation` names the first statement that does not hold.
///
/// A violation is a defect of this program. It ends a debug build, so every run of a debug build judges the inside of
/// the server, too. A release build checks nothing.
package enum Invariants {
    /// Gets the violations instead, and the program goes on: a simulation reports them with its seed.
    @TaskLocal package static var onViolation: (@Sendable (String) -> Void)?

    /// - Parameter violation: the rule or promise, with identifiers and numbers. Never a text of a user, or a secret.
    package static func report(_ violation: String) {
        if let onViolation { return onViolation(violation) }
        assertionFailure("an invariant does not hold: \(violation)")
    }
}

/// Spreads the checks of a large machine over its turns: on average a check of all its items costs no more in each turn
/// than a check of some. A machine with few items is checked in each turn.
package struct InvariantPace: Sendable {
    private var savedCount = 0

    package init() {}

    /// Whether a check of everything is due. Call it once in each turn.
    ///
    /// - Parameter countPerTurn: how many items each turn may look at.
    package mutating func isDue(itemCount: Int, countPerTurn: Int) -> Bool {
        savedCount += countPerTurn
        guard savedCount >= itemCount else { return false }
        savedCount = 0
        return true
    }
}
