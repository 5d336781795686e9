import DequeModule
import SignalingProtocol

/// How a connection's last requests were answered, so that one that is sent again after a resume is answered the same way
/// and carried out once (RES-9, G3).
struct AnswerBook: Sendable {
    enum Answer: Hashable, Sendable {
        case signalled(Seq)
        case forcedOut
        case refused(SignalingError)
    }

    /// What is known of a request.
    enum Recollection: Hashable, Sendable {
        /// Not asked before.
        case new
        case answered(Answer)
        /// It was asked so long ago, and so much since, that its answer is gone.
        case forgotten
    }

    private var answers: Deque<(request: RequestID, answer: Answer)> = []
    private var highest: RequestID?
    /// Requests up to here were made on an earlier socket, if they were made at all.
    private var repeatedThrough: RequestID?

    mutating func note(_ request: RequestID, _ answer: Answer) {
        answers.append((request, answer))
        if answers.count > Limits.unansweredRequests { answers.removeFirst() }
        highest = max(highest ?? request, request)
    }

    /// From now on what was asked before may come a second time. On one socket nothing does: ids that do not increase are
    /// then nobody's business.
    mutating func socketChanged() { repeatedThrough = highest }

    func recall(_ request: RequestID) -> Recollection {
        guard let repeatedThrough, request <= repeatedThrough else { return .new }
        guard let found = answers.last(where: { $0.request == request }) else { return .forgotten }
        return .answered(found.answer)
    }
}
