import DequeModule
import SignalingProtocol

/// What the application has asked for and not been answered, in its order: first what has been sent, then what waits for its
/// turn or for the connection to come back.
struct PendingRequests {
    /// What is asked; the same again after a resume.
    enum Content {
        case signal(SignalRequest, retriesAfterReconnect: Bool)
        case forceDisconnect(ConnectionID)

        func message(_ id: RequestID) -> ClientMessage {
            switch self {
            case .signal(let request, _): .signal(id, request)
            case .forceDisconnect(let target): .forceDisconnect(id, target)
            }
        }

        /// Whether it may be sent after the connection was lost meanwhile (RES-9, G6).
        var survivesLoss: Bool {
            switch self {
            case .signal(let request, let retriesAfterReconnect): retriesAfterReconnect && !request.isOnlineOnly
            case .forceDisconnect: true
            }
        }
    }

    private struct Sent {
        let id: RequestID
        let call: ClientState.CallID
        let content: Content
    }

    /// Requests that may wait at a time (G5). A caller who awaits each one never comes near.
    static let limit = 10_000

    private var sent: Deque<Sent> = []
    private var unsent: Deque<(call: ClientState.CallID, content: Content)> = []

    var isFull: Bool { sent.count + unsent.count >= Self.limit }

    mutating func append(_ content: Content, for call: ClientState.CallID) { unsent.append((call, content)) }

    /// What may be sent now, in order; no more than `Limits.unansweredRequests` are on the way at a time.
    mutating func takeNext(after last: inout RequestID) -> [ClientMessage] {
        var messages: [ClientMessage] = []
        while sent.count < Limits.unansweredRequests, let next = unsent.popFirst() {
            last = last.next
            sent.append(Sent(id: last, call: next.call, content: next.content))
            messages.append(next.content.message(last))
        }
        return messages
    }

    /// Answers come in the order of the requests (WIRE-8), so this is nearly always the first.
    mutating func answer(_ id: RequestID) -> ClientState.CallID? {
        guard let place = sent.firstIndex(where: { $0.id == id }) else { return nil }
        return sent.remove(at: place).call
    }

    /// What has to be sent again, as it was.
    var repeated: [ClientMessage] { sent.map { $0.content.message($0.id) } }

    /// Takes out what must not be sent any more after a loss.
    mutating func removePerishable() -> [ClientState.CallID] {
        let lost =
            sent.filter { !$0.content.survivesLoss }.map(\.call)
            + unsent.filter { !$0.content.survivesLoss }.map(\.call)
        sent.removeAll { !$0.content.survivesLoss }
        unsent.removeAll { !$0.content.survivesLoss }
        return lost
    }

    /// Takes out what has been sent: nobody will ever know what became of it.
    mutating func removeSent() -> [ClientState.CallID] {
        defer { sent = [] }
        return sent.map(\.call)
    }

    mutating func removeAll() -> [ClientState.CallID] {
        defer { (sent, unsent) = ([], []) }
        return sent.map(\.call) + unsent.map(\.call)
    }
}
