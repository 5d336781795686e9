import DequeModule
import SignalingProtocol

/// The answers that a socket still has to get, in the order of its requests (WIRE-8). A known answer waits for earlier
/// ones that the session has not given yet.
///
/// With an engine that answers at once there is never more than one, and it is stored without an allocation.
struct PendingAnswers: Sendable {
    enum Answer: Hashable, Sendable {
        case ack(RequestID, Seq?)
        case error(RequestID?, SignalingError)
        case restrictions(RequestID, [RestrictionRecord])
        case reactors(RequestID, Seq, [Reactors])
        /// The answer to `disconnect`, and the end.
        case goodbye(RequestID)
    }

    private enum Slot: Sendable {
        case awaited(RequestID)
        case ready(Answer)
    }

    /// The oldest request that awaits its answer; nil: no answer is owed.
    private var first: RequestID?
    /// The answers after it.
    private var rest: Deque<Slot> = []

    var count: Int { first == nil ? 0 : rest.count + 1 }

    /// A request was submitted to the session. Its answer will come.
    mutating func expect(_ request: RequestID) {
        if first == nil { first = request } else { rest.append(.awaited(request)) }
    }

    /// A request was answered without the session.
    ///
    /// - Returns: the answer if no other is before it; otherwise nil, and the answer is kept.
    mutating func add(_ answer: Answer) -> Answer? {
        if first == nil { return answer }
        rest.append(.ready(answer))
        return nil
    }

    /// Notes the session's answer to the only request that waits: the usual case, without an array.
    ///
    /// - Returns: false, without a change, if another answer is before or behind it.
    mutating func resolveOnly(_ request: RequestID) -> Bool {
        guard first == request, rest.isEmpty else { return false }
        first = nil
        return true
    }

    /// Notes the session's answer to a request; nil for a request that is answered by other means.
    ///
    /// - Returns: the answers that may be sent now, in order; nil if the request awaits no answer.
    mutating func resolve(_ request: RequestID, with answer: Answer?) -> [Answer]? {
        guard let first else { return nil }
        if request != first {
            let index = rest.firstIndex { slot in
                if case .awaited(request) = slot { true } else { false }
            }
            guard let index, let answer else { return nil }
            rest[index] = .ready(answer)
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
