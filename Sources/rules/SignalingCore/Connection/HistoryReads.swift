import DequeModule
import SignalingProtocol

/// Whether a client may read the history of its session (HIS-8).
public enum HistoryAccess: Hashable, Sendable {
    case granted
    /// The token, or the server's settings, do not permit it.
    case denied
}

/// A client's requests for pages of history: one page at a time (HIS-7).
struct HistoryReads: Sendable {
    struct Read: Sendable {
        let id: RequestID
        let request: HistoryRequest
        /// The seq of `connected`, if the page was asked for with the connect: it has no later message (HIS-5).
        let upTo: Seq?
        /// Whether the page was asked for with the connect: its failure is no answer to the connect.
        var isOption: Bool { upTo != nil }
    }

    /// In their order. The first one is being read if ``isReading``.
    private var reads: Deque<Read> = []
    private(set) var isReading = false

    /// The unanswered requests, for WIRE-13.
    var count: Int { reads.count }

    mutating func append(_ read: Read) { reads.append(read) }

    /// Begins the next read, unless one is under way.
    mutating func beginNext() -> Read? {
        guard !isReading, let next = reads.first else { return nil }
        isReading = true
        return next
    }

    /// Ends the read that is under way.
    ///
    /// - Returns: nil for an answer that nobody waits for.
    mutating func end(_ id: RequestID) -> Read? {
        guard isReading, reads.first?.id == id else { return nil }
        isReading = false
        return reads.popFirst()
    }
}

/// Reading the session's history (HIS-5 to HIS-8).
extension ConnectionState {
    mutating func askForHistory(_ id: RequestID, _ request: HistoryRequest, _ connected: Connected) -> [Effect] {
        if let refusal = refusal(of: connected) { return answer(.error(id, refusal)) }
        historyReads.append(HistoryReads.Read(id: id, request: request, upTo: nil))
        return []
    }

    /// Whoever may read pages may learn who has reacted (CHG-14).
    mutating func askForReactors(_ id: RequestID, _ request: ReactorsRequest, _ connected: Connected) -> [Effect] {
        if let refusal = refusal(of: connected) { return answer(.error(id, refusal)) }
        pending.expect(id)
        return [.submit(.reactors(connected.binding, request), connected.session, id)]
    }

    private func refusal(of connected: Connected) -> SignalingError? {
        guard connected.keepsHistory else { return .noHistory }
        switch connected.historyAccess {
        case .granted: return nil
        case .denied: return SignalingError(.permissionDenied, "the token does not permit to read the history")
        }
    }

    /// Asks for the next page, unless the client has yet to read what it got, or is over its rate. It does not matter
    /// whether the server reads from the client: it may wait for just these pages.
    mutating func readNextPage() -> [Effect] {
        guard historyReads.count > 0, !backPressure.hasBacklog, !isOverLineRate, let session = connected?.session,
            let read = historyReads.beginNext()
        else { return [] }
        return [.readHistory(read.id, read.request, session, upTo: read.upTo)]
    }

    /// - Parameter result: the whole line for the client.
    mutating func pageRead(
        _ id: RequestID, _ result: Result<EncodedLine, SignalingError>, _ now: MonotonicInstant
    ) -> [Effect] {
        guard connected != nil, let read = historyReads.end(id) else { return [] }
        backPressure.noteAnswer(now: now)
        switch result {
        case .success(let line):
            charge(lineCount: line.byteCount / 1024, now)
            return [.sendLine(line)]
        case .failure(let error):
            let message: ServerMessage = read.isOption ? .history(id, .unreadable(error)) : .error(id, error)
            return [.send(message)]
        }
    }
}
