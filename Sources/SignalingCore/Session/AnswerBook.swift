import DequeModule
import SignalingProtocol

/// How a connection's last requests were answered, so that one that is sent again after a resume is answered the same way
/// and carried out once (RES-9, G3).
struct AnswerBook: Hashable, Sendable {
    enum Answer: Hashable, Sendable {
        case signalled(Seq)
        case forceDisconnected
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

    struct Entry: Hashable, Sendable {
        let request: RequestID
        let answer: Answer
    }

    /// The newest last.
    private(set) var entries: Deque<Entry> = []
    private(set) var highest: RequestID?
    /// Requests up to here were made on an earlier socket, if they were made at all.
    private var repeatedThrough: RequestID?

    init() {}

    /// A book as it was kept. Whoever comes back to it comes by another socket, so where the last one began is of no use.
    init(entries: some Sequence<Entry>, highest: RequestID?) {
        self.entries = Deque(entries.suffix(Limits.unansweredRequests))
        self.highest = highest
    }

    mutating func note(_ request: RequestID, _ answer: Answer) {
        entries.append(Entry(request: request, answer: answer))
        if entries.count > Limits.unansweredRequests { entries.removeFirst() }
        highest = max(highest ?? request, request)
    }

    /// From now on what was asked before may come a second time. On one socket nothing does: ids that do not increase are
    /// then nobody's business.
    mutating func socketChanged() { repeatedThrough = highest }

    func recall(_ request: RequestID) -> Recollection {
        guard let repeatedThrough, request <= repeatedThrough else { return .new }
        guard let found = entries.last(where: { $0.request == request }) else { return .forgotten }
        return .answered(found.answer)
    }
}
