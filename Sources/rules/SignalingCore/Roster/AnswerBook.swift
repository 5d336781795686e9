import DequeModule
import SignalingProtocol

/// The answers to a connection's latest requests. A request that the client repeats after a resume gets the same
/// answer, and the session carries it out once (RES-9, G3).
struct AnswerBook: Hashable, Sendable {
    enum Answer: Hashable, Sendable {
        case signalled(Seq)
        case forceDisconnected
        case refused(SignalingError)
    }

    /// The book's record of a request.
    enum Recollection: Hashable, Sendable {
        /// A request that was not made before.
        case new
        case answered(Answer)
        /// The request may be an old one whose answer was dropped for newer ones.
        case forgotten
    }

    /// One answer in 16 bytes, since each connection keeps hundreds: no text, and an error by its number in
    /// `SignalingError.Code.all`.
    struct Entry: Hashable, Sendable {
        let request: RequestID
        /// A seq from 0 on; -1 for a forced disconnect; below it the error with the index -2 - `code`.
        private let code: Int64

        init(request: RequestID, answer: Answer) {
            self.request = request
            switch answer {
            case .signalled(let seq): code = seq.rawValue
            case .forceDisconnected: code = -1
            case .refused(let error):
                // Only the protocol's own errors are recorded; another could come from a kept state at most.
                let index = SignalingError.Code.all.firstIndex(of: error.code)
                code = -2 - Int64(index ?? SignalingError.Code.all.count)
            }
        }

        var answer: Answer {
            switch code {
            case 0...: return .signalled(Seq(code))
            case -1: return .forceDisconnected
            default:
                let index = Int(-2 - code)
                guard SignalingError.Code.all.indices.contains(index) else { return .refused(.answerForgotten) }
                return .refused(
                    SignalingError(SignalingError.Code.all[index], "the request was refused when it was first made"))
            }
        }
    }

    /// The newest is last; at most `Limits.unansweredRequests`.
    private(set) var entries: Deque<Entry> = []
    private(set) var highest: RequestID?
    /// Requests up to this one were made on an earlier socket, if at all.
    private(set) var repeatedThrough: RequestID?

    init() {}

    /// A saved book.
    ///
    /// - Parameter repeatedThrough: `nil` if the client resumes on a new socket, which sets it.
    init(entries: some Sequence<Entry>, highest: RequestID?, repeatedThrough: RequestID? = nil) {
        self.entries = Deque(entries.suffix(Limits.unansweredRequests))
        self.highest = highest
        self.repeatedThrough = repeatedThrough
    }

    /// Adds the answer to a request; drops the oldest answer over the limit.
    mutating func record(_ request: RequestID, _ answer: Answer) {
        entries.append(Entry(request: request, answer: answer))
        if entries.count > Limits.unansweredRequests { entries.removeFirst() }
        highest = max(highest ?? request, request)
    }

    /// The connection has a new socket: requests up to now may be repeated. On the same socket no request is a
    /// repetition, even if its ID does not increase.
    mutating func socketChanged() { repeatedThrough = highest }

    func recall(_ request: RequestID) -> Recollection {
        guard let repeatedThrough, request <= repeatedThrough else { return .new }
        guard let found = entries.last(where: { $0.request == request }) else { return .forgotten }
        return .answered(found.answer)
    }
}
