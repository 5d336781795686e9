import SignalingProtocol

/// The attempts to reconnect after a loss: the step of the current attempt, and when the client gives up (RES-13).
struct Reconnection {
    enum Step {
        /// Waits before the next attempt.
        case waiting(until: MonotonicInstant)
        /// Waits as long as the server has asked (RES-13): nothing shortens this wait.
        case postponed(until: MonotonicInstant)
        /// The app is in the background: no attempt until it is back, and none before the moment that the server has
        /// asked for.
        case suspended(notBefore: MonotonicInstant?)
        /// A socket is being opened.
        case opening(until: MonotonicInstant)
        /// The connect has been sent.
        case connecting(RequestID, until: MonotonicInstant)
    }

    private(set) var step: Step
    private(set) var failureCount = 0
    private(set) var giveUpAt: MonotonicInstant

    init(_ step: Step, giveUpAt: MonotonicInstant) {
        self.step = step
        self.giveUpAt = giveUpAt
    }

    /// Whether an attempt is under way.
    var isTrying: Bool {
        switch step {
        case .waiting, .postponed, .suspended: false
        case .opening, .connecting: true
        }
    }

    /// Nil: only the app's return goes on.
    var deadline: MonotonicInstant? {
        switch step {
        case .waiting(let until), .postponed(let until), .opening(let until), .connecting(_, let until):
            min(until, giveUpAt)
        case .suspended: nil
        }
    }

    func opening(until: MonotonicInstant) -> Reconnection { with(.opening(until: until)) }

    func connecting(_ id: RequestID, until: MonotonicInstant) -> Reconnection { with(.connecting(id, until: until)) }

    func failed(waitUntil: MonotonicInstant) -> Reconnection {
        var next = with(.waiting(until: waitUntil))
        next.failureCount += 1
        return next
    }

    func postponed(until: MonotonicInstant) -> Reconnection { with(.postponed(until: until)) }

    /// The app goes to the background.
    var suspended: Reconnection {
        switch step {
        case .waiting, .opening, .connecting: with(.suspended(notBefore: nil))
        case .postponed(let until): with(.suspended(notBefore: until))
        case .suspended: self
        }
    }

    /// The app is back. The time in which it was stopped does not count: the server decides what can be resumed.
    func awake(notBefore: MonotonicInstant, giveUpAt: MonotonicInstant) -> Reconnection {
        var next = with(.postponed(until: notBefore))
        next.giveUpAt = giveUpAt
        return next
    }

    /// Closes the socket of the attempt that is under way, if there is one.
    func leaveAttempt(_ reason: CloseReason) -> [ClientState.Effect] { isTrying ? [.closeSocket(reason)] : [] }

    private func with(_ step: Step) -> Reconnection {
        var next = self
        next.step = step
        return next
    }
}
