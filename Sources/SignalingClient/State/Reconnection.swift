import SignalingProtocol

/// The attempts to reconnect after a loss: the step of the current attempt, and when the client gives up (RES-13).
struct Reconnection {
    enum Step {
        /// Waits before the next attempt.
        case waiting(until: MonotonicInstant)
        /// A socket is being opened.
        case opening(until: MonotonicInstant)
        /// The connect has been sent.
        case connecting(RequestID, until: MonotonicInstant)
    }

    private(set) var step: Step
    private(set) var failureCount = 0
    let giveUpAt: MonotonicInstant

    init(waitUntil: MonotonicInstant, giveUpAt: MonotonicInstant) {
        step = .waiting(until: waitUntil)
        self.giveUpAt = giveUpAt
    }

    /// Whether an attempt is under way.
    var isTrying: Bool {
        switch step {
        case .waiting: false
        case .opening, .connecting: true
        }
    }

    var deadline: MonotonicInstant {
        switch step {
        case .waiting(let until), .opening(let until), .connecting(_, let until): min(until, giveUpAt)
        }
    }

    func opening(until: MonotonicInstant) -> Reconnection { with(.opening(until: until)) }

    func connecting(_ id: RequestID, until: MonotonicInstant) -> Reconnection { with(.connecting(id, until: until)) }

    func failed(waitUntil: MonotonicInstant) -> Reconnection {
        var next = with(.waiting(until: waitUntil))
        next.failureCount += 1
        return next
    }

    func postponed(until: MonotonicInstant) -> Reconnection { with(.waiting(until: until)) }

    /// Closes the socket of the attempt that is under way, if there is one.
    func leaveAttempt(_ reason: CloseReason) -> [ClientState.Effect] { isTrying ? [.closeSocket(reason)] : [] }

    private func with(_ step: Step) -> Reconnection {
        var next = self
        next.step = step
        return next
    }
}
