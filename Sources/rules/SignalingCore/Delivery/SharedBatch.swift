import DequeModule
import SignalingProtocol

/// The bytes of one flush, built once for all members that are up to date. Private lines of a member follow behind them
/// (``Outbox/hasPrivateLines``).
///
/// It has several forms (``Outbox/Form``). Each is built when the first member needs it. For every further member it
/// costs a few comparisons.
public struct SharedBatch {
    /// One form of the batch.
    private struct Built {
        let bytes: [UInt8]
        /// The position after the bytes.
        let cursor: Seq
        let absences: ToldAbsences?
    }

    /// Members that get bytes of their own: the targets of directed signals, and the subjects of presence events, which
    /// do not get their own events (PRES-1). Members that are away get bytes of their own, too.
    private var excluded: Set<ConnectionID> = []
    /// Whom the events of moderation concern: these members get bytes of their own, too. Each member is compared with
    /// them, so that no list is as long as the session.
    private var concerned: Set<LogEntry.Concerned> = []
    private var plain: Built?
    private var withoutPresence: Built?
    private var withAbsences: Built?
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
        if log.lastExclusiveSeq > start, let entries = log.entries(after: start) {
            for entry in entries {
                if case .only(let target) = entry.audience { excluded.insert(target) }
                switch entry.kind {
                case .presence(let subject): excluded.insert(subject)
                case .moderation(let audience) where entry.isExclusive: concerned.insert(audience)
                case .reactions(_, let user?): concerned.insert(.user(user))
                case .signal, .change, .reactions, .erasure, .erased, .moderation: break
                }
            }
        }
        for signal in onlineOnly {
            if case .only(let target) = signal.audience { excluded.insert(target) }
        }
    }

    /// Moves this member's cursor to the end of the log: the member gets the ``bytes(of:)`` of its form.
    ///
    /// - Returns: the form; `nil` when the member needs bytes of its own, and for every member once the log has grown.
    public mutating func advance(_ outbox: inout Outbox, log: borrowing SessionLog) -> Outbox.Form? {
        guard outbox.canShareBatch(from: start, through: end.lastSeq, absences: startAbsences),
            log.mark == end,
            excluded.isEmpty || !excluded.contains(outbox.owner),
            concerned.isEmpty || !outbox.isAmong(anyOf: concerned),
            end.absences == startAbsences || !log.absences.contains(outbox.owner),
            // A private line comes before online-only signals and absences, which have no place in the log.
            !outbox.hasPrivateLines || onlineOnly.isEmpty && end.absences == startAbsences
        else { return nil }
        let form = outbox.form
        switch form {
        case .plain: if plain == nil { plain = build(for: outbox, log: log) }
        case .withoutPresence: if withoutPresence == nil { withoutPresence = build(for: outbox, log: log) }
        case .withAbsences: if withAbsences == nil { withAbsences = build(for: outbox, log: log) }
        }
        guard let built = built(form) else { return nil }
        outbox.advance(to: built.cursor, built.absences)
        return form
    }

    /// The bytes of one form; empty if there is nothing for its members, or no member of this form was advanced.
    public func bytes(of form: Outbox.Form) -> [UInt8] { built(form)?.bytes ?? [] }

    private func built(_ form: Outbox.Form) -> Built? {
        switch form {
        case .plain: plain
        case .withoutPresence: withoutPresence
        case .withAbsences: withAbsences
        }
    }

    /// The bytes for a member of this form that is neither a target nor a subject of these events.
    private func build(for member: Outbox, log: borrowing SessionLog) -> Built? {
        var outbox = member.shared(cursor: start)
        var bytes: [UInt8] = []
        switch outbox.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: .max, into: &bytes) {
        case .complete: return Built(bytes: bytes, cursor: outbox.cursor, absences: outbox.absences)
        case .partial, .overrun: return nil
        }
    }
}
