import DequeModule
import SignalingProtocol

/// The bytes of one flush, built once for all members that are up to date and have no private lines.
///
/// It has several forms (``Outbox/Form``). Each is built when the first member needs it.
public struct SharedBatch {
    /// Members that get bytes of their own: the targets of directed signals, and the subjects of presence events, which
    /// do not get their own events (PRES-1).
    private var excluded: Set<ConnectionID> = []
    /// The bytes of each form, and an outbox at the position after them.
    private var built: [Outbox.Form: (bytes: [UInt8], outbox: Outbox)] = [:]
    private let start: Seq
    private let startAbsences: UInt64
    private let end: SessionLog.Mark
    private let onlineOnly: [OnlineOnlySignal]

    /// A batch of the events after `start` in a session's log, of the pending online-only signals, and of what has
    /// changed since the absences of version `absences`.
    public init(
        log: borrowing SessionLog, after start: Seq, absences: UInt64 = 0, onlineOnly: [OnlineOnlySignal]
    ) {
        self.start = start
        startAbsences = absences
        self.onlineOnly = onlineOnly
        end = log.mark
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
        guard log.mark == end, outbox.canShareBatch(from: start, absences: startAbsences),
            !excluded.contains(outbox.owner)
        else { return nil }
        if built[outbox.form] == nil { built[outbox.form] = build(for: outbox, log: log) }
        guard let (bytes, end) = built[outbox.form] else { return nil }
        outbox.advance(to: end)
        return bytes
    }

    /// The bytes for a member of this form that is neither a target nor a subject of these events.
    private func build(for member: Outbox, log: borrowing SessionLog) -> (bytes: [UInt8], outbox: Outbox)? {
        var outbox = member.shared(cursor: start)
        var bytes: [UInt8] = []
        switch outbox.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: .max, into: &bytes) {
        case .complete: return (bytes, outbox)
        case .partial, .overrun: return nil
        }
    }
}
