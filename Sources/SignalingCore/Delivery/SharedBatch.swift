import DequeModule
import SignalingProtocol

/// The bytes of one flush for all members that were up to date and have nothing of their own: built once, sent to many.
///
/// There are two forms of it, since members that suppress connection events get no presence but the sender with each
/// signal. Each is built when its first member needs it.
public struct SharedBatch {
    /// Members that must be served by themselves: a directed signal in this flush is for them, or it tells of their own
    /// coming or going, which they are not to see (PRES-1).
    private var special: Set<ConnectionID> = []
    private var plain: [UInt8]?
    private var suppressed: [UInt8]?
    private let start: Seq
    private let end: Seq
    private let onlineOnly: [OnlineOnlySignal]

    /// A batch of all that a session's log has after `start`, and the online-only signals of this moment.
    public init(log: borrowing SessionLog, after start: Seq, onlineOnly: [OnlineOnlySignal]) {
        self.start = start
        self.onlineOnly = onlineOnly
        end = log.lastSeq
        if let entries = log.entries(after: start) {
            for entry in entries {
                if case .only(let target) = entry.audience { special.insert(target) }
                if case .presence(let subject) = entry.kind { special.insert(subject) }
            }
        }
        for signal in onlineOnly {
            if case .only(let target) = signal.audience { special.insert(target) }
        }
    }

    /// The bytes for this member, whose cursor is then at the end of the log; `nil` if it has to be served by itself.
    /// Empty bytes: there is nothing for it. Once the log has grown the batch serves nobody any more.
    public mutating func bytes(for outbox: inout Outbox, log: borrowing SessionLog) -> [UInt8]? {
        guard log.lastSeq == end, outbox.isTypical(at: start), !special.contains(outbox.owner) else { return nil }
        let bytes: [UInt8]
        if let built = outbox.suppressesPresence ? suppressed : plain {
            bytes = built
        } else {
            guard let built = build(suppressesPresence: outbox.suppressesPresence, log: log) else { return nil }
            bytes = built
            if outbox.suppressesPresence { suppressed = built } else { plain = built }
        }
        outbox.advance(to: end)
        return bytes
    }

    /// Serves a member that nothing is directed to, and keeps what it would get.
    private func build(suppressesPresence: Bool, log: borrowing SessionLog) -> [UInt8]? {
        var nobody = Outbox(owner: ConnectionID(""), suppressesPresence: suppressesPresence, cursor: start)
        var bytes: [UInt8] = []
        switch nobody.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: .max, into: &bytes) {
        case .complete: return bytes
        case .partial, .overrun: return nil
        }
    }
}
