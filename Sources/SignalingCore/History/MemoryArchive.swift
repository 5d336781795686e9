import DequeModule
import SignalingProtocol

/// The archive of a process that keeps its sessions in memory. It answers within each call.
public final class MemoryArchive: MessageArchive {
    private struct Session {
        /// In the order of their seqs.
        var messages: Deque<ArchivedMessage> = []
        var byteCount = 0
        var last = Seq.zero
        /// Messages up to it are gone, and do not come back.
        var trimmed = Seq.zero

        /// The index of the first message that does not come before this seq.
        func index(of seq: Seq) -> Int {
            var (low, high) = (0, messages.count)
            while low < high {
                let middle = (low + high) / 2
                if messages[middle].seq < seq { low = middle + 1 } else { high = middle }
            }
            return low
        }

        mutating func removeOldest() {
            let oldest = messages.removeFirst()
            byteCount -= oldest.byteCount
            trimmed = max(trimmed, oldest.seq)
        }
    }

    private var sessions: [SessionID: Session] = [:]
    private var bounds: HistoryBounds
    public private(set) var byteCount = 0
    public private(set) var messageCount = 0

    public init(bounds: HistoryBounds = HistoryBounds()) { self.bounds = bounds }

    public var isEmpty: Bool { sessions.isEmpty }
    public func changeBounds(to new: HistoryBounds) { bounds = new }

    public func append(
        _ messages: [ArchivedMessage], to session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        change(session) { kept in
            for message in messages where message.seq > kept.trimmed {
                let index = kept.index(of: message.seq)
                if index < kept.messages.count, kept.messages[index].seq == message.seq { continue }
                kept.messages.insert(message, at: index)
                kept.byteCount += message.byteCount
                kept.last = max(kept.last, message.seq)
            }
            while kept.messages.count > bounds.messageCount || kept.byteCount > bounds.byteCount { kept.removeOldest() }
        }
        trimLargest()
        answer(.success(()))
    }

    public func page(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        guard let kept = sessions[session], let first = kept.messages.first, let last = kept.messages.last else {
            return answer(.success(ArchivePage(range: nil, more: false, messages: [])))
        }
        let (found, possible): ([ArchivedMessage], Int)
        switch request.position {
        case .newest:
            possible = kept.messages.count
            found = kept.messages.reversed().withinPage(request.limit).reversed()
        case .before(let seq):
            possible = kept.index(of: seq)
            found = kept.messages[..<possible].reversed().withinPage(request.limit).reversed()
        case .after(let seq):
            let rest = kept.messages[kept.index(of: seq.next)...]
            possible = rest.count
            found = rest.withinPage(request.limit)
        }
        answer(
            .success(ArchivePage(range: first.seq...last.seq, more: found.count < possible, messages: found)))
    }

    public func erase(
        _ erasure: Erasure, of session: SessionID, answer: @escaping (Result<Void, ArchiveFault>) -> Void
    ) {
        if sessions[session] != nil {
            change(session) { kept in
                switch erasure {
                case .message(let seq):
                    let index = kept.index(of: seq)
                    guard index < kept.messages.count, kept.messages[index].seq == seq else { return }
                    kept.byteCount -= kept.messages[index].byteCount
                    kept.messages[index] = kept.messages[index].erased
                    kept.byteCount += kept.messages[index].byteCount
                case .through(let seq):
                    while let first = kept.messages.first, first.seq <= seq { kept.removeOldest() }
                    kept.trimmed = max(kept.trimmed, min(seq, kept.last))
                }
            }
        }
        answer(.success(()))
    }

    public func lastSeq(of session: SessionID, answer: @escaping (Result<Seq?, ArchiveFault>) -> Void) {
        answer(.success(sessions[session]?.last))
    }

    public func sweep(now: WallTime, answer: @escaping (Result<[SessionID], ArchiveFault>) -> Void) {
        let cutoff = WallTime(milliseconds: now.milliseconds - bounds.age.wholeMilliseconds)
        var forgotten: [SessionID] = []
        for session in Array(sessions.keys) {
            change(session) { kept in
                while let first = kept.messages.first, first.time < cutoff { kept.removeOldest() }
            }
            if sessions[session]?.messages.isEmpty == true {
                sessions[session] = nil
                forgotten.append(session)
            }
        }
        trimLargest()
        answer(.success(forgotten))
    }

    private func change(_ session: SessionID, _ body: (inout Session) -> Void) {
        var kept = sessions[session] ?? Session()
        let before = (kept.byteCount, kept.messages.count)
        body(&kept)
        byteCount += kept.byteCount - before.0
        messageCount += kept.messages.count - before.1
        sessions[session] = kept
    }

    /// Trims a part more than needed, so that the largest session is not searched for with each message.
    private func trimLargest() {
        guard byteCount > bounds.totalByteCount else { return }
        let goal = bounds.totalByteCount / 16 * 15
        while byteCount > goal, let largest = sessions.max(by: { $0.value.byteCount < $1.value.byteCount })?.key,
            sessions[largest]?.messages.isEmpty == false
        {
            change(largest) { kept in
                let excess = byteCount - goal
                let end = kept.byteCount - excess
                while !kept.messages.isEmpty, kept.byteCount > end { kept.removeOldest() }
            }
        }
    }
}
