import DequeModule
import JSONText
import SignalingProtocol

/// Writes the sessions of a stopping server, piece by piece; see ``StateText`` for the format.
public struct StateWriter: Sendable {
    private var writer = JSONWriter()
    private var checksum = StateText.Checksum()
    private var sessionCount = 0
    private let now: MonotonicInstant

    /// - Parameters:
    ///   - now: when the snapshots were taken, by the monotonic clock.
    ///   - wallTime: the same moment by the wall clock, which the reader has, too.
    public init(now: MonotonicInstant, wallTime: WallTime) {
        self.now = now
        writer.beginObject()
        writer.member("signalboxState", StateText.version)
        writer.member("takenAt", wallTime.milliseconds)
        endLine()
    }

    /// The number of bytes that ``drainBytes()`` would return.
    public var byteCount: Int { writer.bytes.count }

    /// Returns the bytes since the last call, for the file.
    public mutating func drainBytes() -> [UInt8] {
        let bytes = writer.drainBytes()
        checksum.add(bytes)
        return bytes
    }

    /// Returns the rest of the text, its last line included.
    public mutating func finish() -> [UInt8] {
        let rest = drainBytes()
        writer.beginObject()
        writer.member("sessions", sessionCount)
        writer.member("end", checksum.text)
        endLine()
        return rest + writer.drainBytes()
    }

    /// Writes one session.
    public mutating func append(_ session: SessionSnapshot) {
        sessionCount += 1
        // Each sender once, however many signals it sent.
        var senders: [[UInt8]] = []
        var numbers: [[UInt8]: Int] = [:]
        for entry in session.entries {
            guard let sender = entry.line.insertion?.bytes, numbers[sender] == nil else { continue }
            numbers[sender] = senders.count
            senders.append(sender)
        }
        writer.beginObject()
        writer.member("session", session.id.rawValue)
        writer.member("epoch", session.epoch.rawValue)
        writer.member("seq", session.lastSeq.rawValue)
        writer.member("creationTime", session.lastCreationTime.milliseconds)
        writer.member("members", session.members.count)
        writer.member("departed", session.expiredTickets.count)
        writer.member("expelled", session.forceDisconnectedTickets.count)
        writer.member("senders", senders.count)
        writer.member("events", session.entries.count)
        endLine()
        for member in session.members { append(member) }
        for each in session.expiredTickets { append(each) }
        for each in session.forceDisconnectedTickets { append(each) }
        for sender in senders {
            writer.beginObject()
            writer.member("sender", String(decoding: sender, as: UTF8.self))
            endLine()
        }
        for entry in session.entries {
            append(entry, sender: entry.line.insertion.flatMap { numbers[$0.bytes] })
        }
    }

    private mutating func append(_ member: SessionSnapshot.SavedMember) {
        writer.beginObject()
        write(member.ticket)
        writer.member("creationTime", member.creationTime.milliseconds)
        if member.suppressesPresence { writer.member("suppressesPresence", true) }
        if member.isToldAbsences { writer.member("toldAbsences", true) }
        write("lost", ago: member.lostAt)
        write("signals", fullAt: member.signalAllowance)
        write("onlineOnly", fullAt: member.onlineOnlyAllowance)
        if let highest = member.answers.highest { writer.member("highest", highest.rawValue) }
        writer.name("answers")
        writer.beginArray()
        for entry in member.answers.entries {
            writer.beginArray()
            writer.value(entry.request.rawValue)
            switch entry.answer {
            case .signalled(let seq): writer.value(seq.rawValue)
            case .forceDisconnected: break
            case .refused(let error):
                writer.value(error.code.number)
                writer.value(error.code.name)
                writer.value(error.isRetryable)
                writer.value(error.message)
            }
            writer.endArray()
        }
        writer.endArray()
        endLine()
    }

    private mutating func append(_ entry: RetainedTickets.Entry) {
        writer.beginObject()
        write(entry.ticket)
        write("since", ago: entry.since)
        endLine()
    }

    private mutating func append(_ entry: LogEntry, sender: Int?) {
        writer.beginObject()
        write("age", ago: entry.appendedAt)
        if case .only(let target) = entry.audience { writer.member("to", target.rawValue) }
        if case .presence(let subject) = entry.kind { writer.member("of", subject.rawValue) }
        if let sender, let offset = entry.line.insertion?.offset {
            writer.member("sender", sender)
            writer.member("at", offset)
        }
        endLine()
        writer.line(entry.line.bytes)
    }

    private mutating func write(_ ticket: ResumeTicket) {
        writer.member("connection", ticket.connectionId.rawValue)
        writer.member("role", ticket.role.rawValue)
        writer.member("data", ticket.data)
        writer.member("begin", ticket.begin.rawValue)
        writer.member("joined", ticket.joined.rawValue)
        writer.member("secret", Hexadecimal.text(ticket.secrets.confirmed.bytes))
        guard !ticket.secrets.unconfirmed.isEmpty else { return }
        writer.name("unconfirmed")
        writer.beginArray()
        for secret in ticket.secrets.unconfirmed { writer.value(Hexadecimal.text(secret.bytes)) }
        writer.endArray()
    }

    private mutating func write(_ name: String, ago moment: MonotonicInstant) {
        writer.member(name, max(0, now.duration(since: moment).wholeNanoseconds))
    }

    /// Writes nothing for a full bucket.
    private mutating func write(_ name: String, fullAt bucket: TokenBucket) {
        if bucket.fullAt > now { writer.member(name, bucket.fullAt.duration(since: now).wholeNanoseconds) }
    }

    private mutating func endLine() {
        writer.endObject()
        writer.endLine()
    }
}
