import SignalingProtocol

/// A drain in progress (LEAVE-5): which sockets to disconnect next, and when the drain is over.
///
/// The hub asks for the next step at the start, when a step says so, and when the last socket has closed.
package struct Drain: Sendable {
    package enum Step: Equatable, Sendable {
        /// Disconnect these sockets and ask again at `askAgainAt`, or at once if it is nil.
        case disconnect([UInt64], askAgainAt: MonotonicInstant?)
        /// All are disconnected. Wait for their closing handshakes, but no longer than this.
        case awaitClosing(until: MonotonicInstant)
        /// The drain is over. Returned once.
        case finish
        case none
    }

    private enum Phase {
        /// The client with this index is next.
        case disconnecting(next: Int)
        case closing(until: MonotonicInstant)
        case finished
    }

    package private(set) var plan: DrainPlan
    private let sockets: [UInt64]
    private let pace: DrainPlan.Pace
    private var phase = Phase.disconnecting(next: 0)

    /// - Parameter sockets: in the order in which they are disconnected.
    package init(sockets: [UInt64], longest: Duration, pace: DrainPlan.Pace, now: MonotonicInstant) {
        self.sockets = sockets
        self.pace = pace
        plan = DrainPlan(count: sockets.count, longest: longest, startedAt: now, pace: pace)
    }

    /// Whether the drain waits for sockets to close and for nothing else.
    package var awaitsClosing: Bool {
        switch phase {
        case .closing: true
        case .disconnecting, .finished: false
        }
    }

    /// Makes every client due now.
    package mutating func hurry() { plan.hurry() }

    /// - Parameter hasOpenSockets: whether the hub has any socket.
    package mutating func nextStep(now: MonotonicInstant, hasOpenSockets: Bool) -> Step {
        switch phase {
        case .disconnecting(let next) where next < sockets.count:
            let due = plan.dueCount(at: now)
            let end = min(due, next + pace.sliceCount)
            phase = .disconnecting(next: max(next, end))
            let slice = next < end ? Array(sockets[next..<end]) : []
            if end == sockets.count { return .disconnect(slice, askAgainAt: nil) }
            return .disconnect(slice, askAgainAt: end < due ? now : plan.moment(of: max(next, end)))
        case .disconnecting:
            guard hasOpenSockets else { return finish() }
            let end = now.advanced(by: pace.closingTime)
            phase = .closing(until: end)
            return .awaitClosing(until: end)
        case .closing(let end):
            return hasOpenSockets && now < end ? .awaitClosing(until: end) : finish()
        case .finished:
            return .none
        }
    }

    private mutating func finish() -> Step {
        phase = .finished
        return .finish
    }
}
