import SignalingProtocol

/// The archive of a process without a state folder.
public final class MemoryArchive: MessageArchive {
    private var sessions: [SessionID: [Seq: ArchivedMessage]] = [:]
    public init() {}
    public var byteCount: Int { 0 }
    public var messageCount: Int { sessions.values.reduce(0) { $0 + $1.count } }
    public func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        for message in messages where sessions[session]?[message.seq] == nil {
            sessions[session, default: [:]][message.seq] = message
        }
        answer(.success(()))
    }
    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        let all = (sessions[session] ?? [:]).values.sorted { $0.seq < $1.seq }
        let page: [ArchivedMessage]
        let fitting: [ArchivedMessage]
        switch request.position {
        case .newest: fitting = all
        case .before(let seq): fitting = all.filter { $0.seq < seq }
        case .after(let seq): fitting = all.filter { $0.seq > seq }
        }
        if case .after = request.position {
            page = fitting.withinPage(request.limit)
        } else {
            page = fitting.reversed().withinPage(request.limit).reversed()
        }
        let range = all.first.map { $0.seq...(all.last?.seq ?? $0.seq) }
        answer(.success(ArchivePage(range: range, more: page.count < fitting.count, messages: page)))
    }
    public func erase(
        _ erasure: Erasure, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        for (seq, message) in sessions[session] ?? [:] where erasure.covers(seq) {
            if case .message = erasure {
                sessions[session]?[seq] = message.erased
            } else {
                sessions[session]?[seq] = nil
            }
        }
        answer(.success(()))
    }
    public func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        answer(.success(sessions[session]?.keys.max()))
    }
    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        answer(.success([]))
    }
    public func changeBounds(to new: HistoryBounds) {}
}
