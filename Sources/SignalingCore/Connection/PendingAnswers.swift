import DequeModule
import SignalingProtocol

/// The answers that a socket is owed, in the order of its requests (WIRE-8): those that the session has not given yet, and
/// behind them those that are known already.
///
/// An engine that answers at once never has more than one of them open, and that one takes no memory of its own.
struct PendingAnswers: Sendable {
    enum Answer: Hashable, Sendable {
        case ack(RequestID, Seq?)
        case error(RequestID?, SignalingError)
        /// The answer to `disconnect`, and the end.
        case goodbye(RequestID)
    }

    private enum Slot: Sendable {
        case awaited(RequestID)
        case ready(Answer)
    }

    /// The oldest that is awaited; nil: nothing is owed.
    private var first: RequestID?
    /// Those behind it.
    private var rest: Deque<Slot> = []

    var count: Int { first == nil ? 0 : rest.count + 1 }

    /// A request was passed on: its answer will come.
    mutating func expect(_ request: RequestID) {
        if first == nil { first = request } else { rest.append(.awaited(request)) }
    }

    /// A request was answered here.
    ///
    /// - Returns: the answer if nothing is before it, else nil: it is kept.
    mutating func add(_ answer: Answer) -> Answer? {
        if first == nil { return answer }
        rest.append(.ready(answer))
        return nil
    }

    /// The answer to a request that was passed on; nil for one that is given by other means.
    ///
    /// - Returns: what may go now, in order; nil if nobody waits for this answer.
    mutating func take(_ request: RequestID, _ answer: Answer?) -> [Answer]? {
        guard let first else { return nil }
        if request != first {
            let place = rest.firstIndex { slot in
                if case .awaited(request) = slot { true } else { false }
            }
            guard let place, let answer else { return nil }
            rest[place] = .ready(answer)
            return []
        }
        self.first = nil
        var answers = answer.map { [$0] } ?? []
        while let next = rest.popFirst() {
            switch next {
            case .ready(let ready): answers.append(ready)
            case .awaited(let request):
                self.first = request
                return answers
            }
        }
        return answers
    }
}
