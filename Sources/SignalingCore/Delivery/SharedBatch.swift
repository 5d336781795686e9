import DequeModule
import SignalingProtocol

/// The bytes of one flush, built once for all members that are up to date and have no private lines.
///
/// There are two forms: members that suppress connection events get no presence, but the sender with each signal
/// (SIG-9). Each form is built when the first member needs it.
public struct SharedBatch {
    /// Members that get bytes of their own: the targets of directed signals, and the subjects of presence events, which
    /// do not get their own events (PRES-1).
    private var excluded: Set<ConnectionID> = []
    private var plain: [UInt8]?
    private var suppressed: [UInt8]?
    private let start: Seq
    private let end: Seq
    private let onlineOnly: [OnlineOnlySignal]

    /// A batch of the events after `start` in a session's log, and of the pending online-only signals.
    public init(log: borrowing SessionLog, after start: Seq, onlineOnly: [OnlineOnlySignal]) {
        self.start = start
        self.onlineOnly = onlineOnly
        end = log.lastSeq
        if let entries = log.entries(after: start) {
            for entry in entries {
                if case .only(let target) = entry.audience { excluded.insert(target) }
                if case .presence(let subject) = entry.kind { excluded.insert(subject) }
            }
        }
        for signal in onlineOnly {
            if case .only(let target) = signal.audience { excluded.insert(target) }
        }
    }

    /// Returns the bytes for this member, and moves its cursor to the end of the log. The bytes are empty if there is
    /// nothing for the member.
    ///
    /// Returns `nil` when the member needs bytes of its own, and for every member once the log has grown.
    public mutating func bytes(for outbox: inout Outbox, log: borrowing SessionLog) -> [UInt8]? {
        guard log.lastSeq == end, outbox.canShareBatch(from: start), !excluded.contains(outbox.owner) else {
            return nil
        }
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

    /// The bytes for a member that is neither a target nor a subject of these events.
    private func build(suppressesPresence: Bool, log: borrowing SessionLog) -> [UInt8]? {
        var outbox = Outbox(owner: ConnectionID(""), suppressesPresence: suppressesPresence, cursor: start)
        var bytes: [UInt8] = []
        switch outbox.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: .max, into: &bytes) {
        case .complete: return bytes
        case .partial, .overrun: return nil
        }
    }
}
