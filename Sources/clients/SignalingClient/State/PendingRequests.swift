import DequeModule
import SignalingProtocol

/// The application's requests that have no answer yet, in their order: first those that were sent, then those that wait
/// for a free slot or for the connection to come back.
struct PendingRequests {
    /// The content of a request. After a resume the same message is sent again, a read with another ID (RES-9).
    enum Content {
        case signal(SignalRequest, retriesAfterReconnect: Bool)
        case forceDisconnect(ConnectionID)
        case refreshToken(String)
        case history(HistoryRequest)
        case change(ChangeRequest)
        case react(ReactRequest)
        case reactors(ReactorsRequest)
        case read(Seq)
        case erase(Erasure)
        case moderate(ModerationRequest)
        case restrictions

        func message(_ id: RequestID) -> ClientMessage {
            switch self {
            case .signal(let request, _): .signal(id, request)
            case .forceDisconnect(let target): .forceDisconnect(id, target)
            case .refreshToken(let token): .refreshToken(id, token: token)
            case .history(let request): .history(id, request)
            case .change(let request): .change(id, request)
            case .react(let request): .react(id, request)
            case .reactors(let request): .reactors(id, request)
            case .read(let seq): .read(id, through: seq)
            case .erase(let erasure): .erase(id, erasure)
            case .moderate(let request): .moderate(id, request)
            case .restrictions: .restrictions(id)
            }
        }

        /// Whether it may be sent on another socket after a loss (RES-9). Online-only signals must not arrive late
        /// (G6), and a read marker is set anew after each connect (READ-1).
        var isRepeatable: Bool {
            switch self {
            case .signal(let request, let retriesAfterReconnect): retriesAfterReconnect && !request.isOnlineOnly
            case .read: false
            case .forceDisconnect, .refreshToken, .history, .change, .react, .reactors, .erase, .moderate,
                .restrictions:
                true
            }
        }

        /// Whether it changes nothing, and may go to another connection as well.
        fileprivate var isRead: Bool {
            switch self {
            case .history, .reactors, .restrictions: true
            case .signal, .forceDisconnect, .refreshToken, .change, .react, .read, .erase, .moderate: false
            }
        }
    }

    struct Request {
        let call: ClientState.CallID
        let content: Content
    }

    /// The maximum number of pending requests (G5). A caller that awaits each request never comes near it.
    static let limit = 10_000

    /// By ID, in the order of sending.
    private var sent: Deque<(id: RequestID, request: Request)> = []
    private var unsent: Deque<Request> = []

    var isFull: Bool { sent.count + unsent.count >= Self.limit }

    mutating func append(_ content: Content, for call: ClientState.CallID) {
        unsent.append(Request(call: call, content: content))
    }

    /// Moves waiting requests to the sent ones, and returns their messages. At most `Limits.unansweredRequests` are
    /// unanswered at a time.
    mutating func startSending(after lastID: inout RequestID) -> [ClientMessage] {
        var messages: [ClientMessage] = []
        while sent.count < Limits.unansweredRequests, let next = unsent.popFirst() {
            lastID = lastID.next
            sent.append((lastID, next))
            messages.append(next.content.message(lastID))
        }
        return messages
    }

    /// The sent requests, with their IDs, for a resumed connection.
    var messagesToRepeat: [ClientMessage] { sent.map { $0.request.content.message($0.id) } }

    /// Removes and returns the answered request; `nil` for an ID that waits for no answer.
    mutating func removeAnswered(_ id: RequestID) -> Request? {
        // Answers except pages come in the order of the requests (WIRE-8), so this is nearly always one of the first.
        guard let index = sent.firstIndex(where: { $0.id == id }) else { return nil }
        return sent.remove(at: index).request
    }

    /// The ID of a request that was passed to the socket; nil for one that waits.
    func sentID(of call: ClientState.CallID) -> RequestID? { sent.first { $0.request.call == call }?.id }

    /// Removes and returns a request; `nil` if it has been answered. Another one may now be sent in its place.
    mutating func remove(_ call: ClientState.CallID) -> Request? {
        if let index = unsent.firstIndex(where: { $0.call == call }) { return unsent.remove(at: index) }
        guard let index = sent.firstIndex(where: { $0.request.call == call }) else { return nil }
        return sent.remove(at: index).request
    }

    /// The reads without an answer are sent anew on the next socket, whichever connection that is.
    mutating func renewReads() {
        let reads = sent.filter { $0.request.content.isRead }.map(\.request)
        sent.removeAll { $0.request.content.isRead }
        unsent = Deque(reads) + unsent
    }

    /// Removes the requests that must not be sent on another socket.
    mutating func removeUnrepeatable() -> [Request] {
        let removed = all.filter { !$0.content.isRepeatable }
        sent.removeAll { !$0.request.content.isRepeatable }
        unsent.removeAll { !$0.content.isRepeatable }
        return removed
    }

    /// Removes the requests that the server may or may not have seen.
    mutating func removeSent() -> [Request] {
        defer { sent = [] }
        return sent.map(\.request)
    }

    mutating func removeAll() -> [Request] {
        defer { (sent, unsent) = ([], []) }
        return all
    }

    private var all: [Request] { sent.map(\.request) + unsent }
}
