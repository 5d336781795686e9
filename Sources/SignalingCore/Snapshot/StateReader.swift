import DequeModule
import JSONText
import SignalingProtocol

/// Reads a text of ``StateWriter``, piece by piece; see ``StateText`` for the format.
///
/// All or nothing: a text that differs from the written one is refused. The reader buffers the sessions read so far and
/// one line of at most `StateText.lineByteLimit`, whatever sizes the text claims.
public struct StateReader: ~Copyable {
    private var parser = JSONParser(limits: JSONLimits(depth: 4, byteCount: StateText.lineByteLimit))
    private var checksum = StateText.Checksum()
    /// The beginning of a line whose end has not arrived.
    private var line: [UInt8] = []
    private var draft: Draft?
    private var sessions: [SessionSnapshot] = []
    private var ids: Set<SessionID> = []
    private let now: MonotonicInstant
    private let wallTime: WallTime
    private var takenAt: MonotonicInstant?
    private var isAtEnd = false

    /// - Parameters:
    ///   - now: when the sessions continue, by this process's monotonic clock.
    ///   - wallTime: the same moment by the wall clock, to measure the time since the text was written. A wall clock
    ///     that was set back counts as no time at all.
    public init(now: MonotonicInstant, wallTime: WallTime) {
        self.now = now
        self.wallTime = wallTime
    }

    /// Reads the next bytes of the text, in pieces of any size.
    ///
    /// - Throws: ``StateFault``. Discard the reader then.
    public mutating func read(_ bytes: ArraySlice<UInt8>) throws(StateFault) {
        var start = bytes.startIndex
        while let end = Self.newline(in: bytes, from: start) {
            try append(bytes[start..<end])
            try readLine()
            line.removeAll(keepingCapacity: true)
            start = end + 1
        }
        try append(bytes[start...])
    }

    private static func newline(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { buffer in
            let index = buffer[(start - bytes.startIndex)...].firstIndex(of: UInt8(ascii: "\n"))
            return index.map { $0 + bytes.startIndex }
        }
    }

    private mutating func append(_ piece: ArraySlice<UInt8>) throws(StateFault) {
        guard line.count + piece.count <= StateText.lineByteLimit else { throw fault }
        line.append(contentsOf: piece)
    }

    /// Returns the saved sessions, after the whole text was read.
    ///
    /// - Throws: ``StateFault`` when the text is incomplete.
    public mutating func finish() throws(StateFault) -> [SessionSnapshot] {
        guard isAtEnd, line.isEmpty else { throw fault }
        return sessions
    }

    /// The fault of a text that ends here or has too long a line.
    private var fault: StateFault { takenAt == nil ? .foreign : .damaged }

    private mutating func readLine() throws(StateFault) {
        guard !isAtEnd else { throw .damaged }
        guard let takenAt else { return try readHeader() }
        if draft?.expected == .line {
            try draft?.read(line)
        } else {
            var fields = try FieldReader(parser.object(line))
            if draft != nil {
                try draft?.read(&fields, takenAt: takenAt)
            } else if fields.has("end") {
                return try readEnd(&fields)
            } else {
                draft = try Draft(&fields)
            }
            try fields.end()
        }
        addLineToChecksum()
        if draft?.isComplete == true, let session = draft?.session {
            guard ids.insert(session.id).inserted else { throw .damaged }
            sessions.append(session)
            draft = nil
        }
    }

    private mutating func addLineToChecksum() {
        checksum.add(line)
        checksum.add(CollectionOfOne(UInt8(ascii: "\n")))
    }

    private mutating func readHeader() throws(StateFault) {
        guard let object = try? parser.object(line), let version = object["signalboxState"]?.integerValue else {
            throw .foreign
        }
        guard version == StateText.version else { throw .version(version) }
        var fields = FieldReader(object)
        _ = try fields.integer("signalboxState")
        let takenAt = WallTime(milliseconds: try fields.integer("takenAt", in: FieldReader.wide))
        try fields.end()
        // If the wall clock was set back, count no time: a negative time would make clients' deadlines later.
        let between = max(0, min(wallTime.milliseconds, FieldReader.wide.upperBound) - takenAt.milliseconds)
        self.takenAt = now.advanced(by: .zero - .milliseconds(between))
        addLineToChecksum()
    }

    private mutating func readEnd(_ fields: inout FieldReader) throws(StateFault) {
        guard try fields.integer("sessions") == Int64(sessions.count), try fields.text("end") == checksum.text else {
            throw .damaged
        }
        try fields.end()
        isAtEnd = true
    }
}

/// A session that is being read.
private struct Draft {
    /// The kinds of lines, in their order.
    enum Expected { case member, expired, forceDisconnected, sender, event, line }

    /// How many lines of each kind are still missing.
    private struct Missing {
        var members, expired, forceDisconnected, senders, events: Int64
    }

    var session: SessionSnapshot
    private var missing: Missing
    private var senders: [[UInt8]] = []
    private var ids: Set<ConnectionID> = []
    /// The event whose own line comes next.
    private var event: Event?

    private struct Event {
        let audience: Audience
        let kind: LogEntry.Kind
        let appendedAt: MonotonicInstant
        let insertion: (bytes: [UInt8], offset: Int)?
    }

    init(_ fields: inout FieldReader) throws(StateFault) {
        session = SessionSnapshot(
            id: SessionID(try fields.text("session")), epoch: Epoch(try fields.text("epoch")),
            lastSeq: Seq(try fields.integer("seq", in: FieldReader.natural)),
            lastCreationTime: WallTime(milliseconds: try fields.integer("creationTime", in: FieldReader.wide)),
            members: [], expiredTickets: [], forceDisconnectedTickets: [], entries: [])
        missing = Missing(
            members: try fields.integer("members", in: FieldReader.natural),
            expired: try fields.integer("departed", in: FieldReader.natural),
            forceDisconnected: try fields.integer("expelled", in: FieldReader.natural),
            senders: try fields.integer("senders", in: FieldReader.natural),
            events: try fields.integer("events", in: 0...session.lastSeq.rawValue))
    }

    /// The kind of the next line; `nil` when nothing is missing.
    var expected: Expected? {
        if event != nil { return .line }
        if missing.members > 0 { return .member }
        if missing.expired > 0 { return .expired }
        if missing.forceDisconnected > 0 { return .forceDisconnected }
        if missing.senders > 0 { return .sender }
        return missing.events > 0 ? .event : nil
    }

    var isComplete: Bool { expected == nil }

    mutating func read(_ fields: inout FieldReader, takenAt: MonotonicInstant) throws(StateFault) {
        guard let expected else { throw .damaged }
        switch expected {
        case .member:
            session.members.append(try member(&fields, takenAt))
            missing.members -= 1
        case .expired:
            session.expiredTickets.append(try retained(&fields, takenAt))
            missing.expired -= 1
        case .forceDisconnected:
            session.forceDisconnectedTickets.append(try retained(&fields, takenAt))
            missing.forceDisconnected -= 1
        case .sender:
            senders.append(Array(try fields.text("sender").utf8))
            missing.senders -= 1
        case .event: event = try event(&fields, takenAt)
        case .line: throw .damaged
        }
    }

    /// Reads an event's own line as it is, since only clients parse it.
    mutating func read(_ line: [UInt8]) throws(StateFault) {
        // A copy of exact size: the buffer `line` has room for the longest line so far.
        let bytes = line.withUnsafeBufferPointer { Array($0) }
        guard let event, let line = EncodedLine(bytes: bytes, insertion: event.insertion) else { throw .damaged }
        session.entries.append(
            LogEntry(
                seq: Seq(session.lastSeq.rawValue - missing.events + 1), audience: event.audience, kind: event.kind,
                appendedAt: event.appendedAt, line: line))
        self.event = nil
        missing.events -= 1
    }

    private mutating func member(
        _ fields: inout FieldReader, _ takenAt: MonotonicInstant
    ) throws(StateFault) -> SessionSnapshot.SavedMember {
        let ticket = try ticket(&fields)
        guard ids.insert(ticket.connectionId).inserted else { throw .damaged }
        return SessionSnapshot.SavedMember(
            ticket: ticket,
            creationTime: WallTime(milliseconds: try fields.integer("creationTime", in: FieldReader.wide)),
            suppressesPresence: try fields.isSet("suppressesPresence"),
            isToldAbsences: try fields.isSet("toldAbsences"),
            lostAt: try fields.ago("lost", takenAt), answers: try fields.answers(),
            signalAllowance: try fields.bucket("signals", takenAt),
            onlineOnlyAllowance: try fields.bucket("onlineOnly", takenAt))
    }

    private func retained(
        _ fields: inout FieldReader, _ takenAt: MonotonicInstant
    ) throws(StateFault) -> RetainedTickets.Entry {
        RetainedTickets.Entry(ticket: try ticket(&fields), since: try fields.ago("since", takenAt))
    }

    private func ticket(_ fields: inout FieldReader) throws(StateFault) -> ResumeTicket {
        guard let role = Role(rawValue: try fields.text("role")) else { throw .damaged }
        let seqs = 0...session.lastSeq.rawValue
        return ResumeTicket(
            connectionId: ConnectionID(try fields.text("connection")), role: role, data: try fields.text("data"),
            begin: Seq(try fields.integer("begin", in: seqs)),
            joined: Seq(try fields.integer("joined", in: seqs)),
            secrets: ValidSecrets(try fields.hash("secret"), unconfirmed: try fields.hashes("unconfirmed")))
    }

    private func event(_ fields: inout FieldReader, _ takenAt: MonotonicInstant) throws(StateFault) -> Event {
        var insertion: (bytes: [UInt8], offset: Int)?
        if fields.has("sender") {
            let number = Int(try fields.integer("sender", in: FieldReader.natural))
            guard senders.indices.contains(number) else { throw .damaged }
            insertion = (senders[number], Int(try fields.integer("at", in: FieldReader.natural)))
        }
        return Event(
            audience: fields.has("to") ? .only(ConnectionID(try fields.text("to"))) : .everyone,
            kind: fields.has("of") ? .presence(of: ConnectionID(try fields.text("of"))) : .signal,
            appendedAt: try fields.ago("age", takenAt), insertion: insertion)
    }
}

/// Reads the fields of one line. Every field must be read: an unknown one comes from a newer version.
private struct FieldReader {
    private let object: JSONObject
    private var readCount = 0

    /// Small enough that later additions cannot overflow.
    static let wide: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
    static let natural: ClosedRange<Int64> = 0...(1 << 53)

    init(_ object: JSONObject) { self.object = object }

    func has(_ name: String) -> Bool { object[name] != nil }

    func end() throws(StateFault) { guard readCount == object.count else { throw .damaged } }

    private mutating func read(_ name: String) throws(StateFault) -> JSONValue {
        guard let value = object[name] else { throw .damaged }
        readCount += 1
        return value
    }

    mutating func integer(
        _ name: String, in range: ClosedRange<Int64> = .min ... .max
    ) throws(StateFault) -> Int64 {
        guard let number = try read(name).integerValue, range.contains(number) else { throw .damaged }
        return number
    }

    /// Reads a member that is written only when it is true.
    mutating func isSet(_ name: String) throws(StateFault) -> Bool {
        guard has(name) else { return false }
        guard try read(name).boolValue == true else { throw .damaged }
        return true
    }

    mutating func text(_ name: String) throws(StateFault) -> String {
        guard let text = try read(name).stringValue else { throw .damaged }
        return text
    }

    mutating func ago(_ name: String, _ takenAt: MonotonicInstant) throws(StateFault) -> MonotonicInstant {
        takenAt.advanced(by: .zero - .nanoseconds(try integer(name, in: 0 ... .max)))
    }

    mutating func bucket(_ name: String, _ takenAt: MonotonicInstant) throws(StateFault) -> TokenBucket {
        guard has(name) else { return TokenBucket() }
        return TokenBucket(fullAt: takenAt.advanced(by: .nanoseconds(try integer(name, in: 1 ... .max))))
    }

    mutating func hash(_ name: String) throws(StateFault) -> ResumeSecretHash { try Self.hash(read(name)) }

    /// Reads an array that is written only when it is not empty.
    mutating func hashes(_ name: String) throws(StateFault) -> [ResumeSecretHash] {
        guard has(name) else { return [] }
        guard let values = try read(name).arrayValue, !values.isEmpty else { throw .damaged }
        var hashes: [ResumeSecretHash] = []
        for value in values { hashes.append(try Self.hash(value)) }
        return hashes
    }

    private static func hash(_ value: JSONValue) throws(StateFault) -> ResumeSecretHash {
        // Lower case only, as the writer writes it.
        guard let digits = value.stringValue, let bytes = Hexadecimal.decoded(digits.utf8),
            Hexadecimal.text(bytes) == digits
        else { throw .damaged }
        return ResumeSecretHash(bytes: bytes)
    }

    mutating func answers() throws(StateFault) -> AnswerBook {
        let highest = has("highest") ? RequestID(try integer("highest")) : nil
        guard let values = try read("answers").arrayValue else { throw .damaged }
        var entries: [AnswerBook.Entry] = []
        for value in values { entries.append(try Self.entry(value.arrayValue ?? [])) }
        return AnswerBook(entries: entries, highest: highest)
    }

    /// `[request]` for an answer without a seq, `[request, seq]`, or `[request, code, name, isRetryable, message]`.
    private static func entry(_ parts: [JSONValue]) throws(StateFault) -> AnswerBook.Entry {
        guard let request = parts.first?.integerValue.map(RequestID.init) else { throw .damaged }
        switch parts.count {
        case 1: return AnswerBook.Entry(request: request, answer: .forceDisconnected)
        case 2:
            guard let seq = parts[1].integerValue else { throw .damaged }
            return AnswerBook.Entry(request: request, answer: .signalled(Seq(seq)))
        case 5:
            guard let number = parts[1].integerValue, let name = parts[2].stringValue,
                let isRetryable = parts[3].boolValue, let message = parts[4].stringValue
            else { throw .damaged }
            let code = SignalingError.Code(number: Int(number), name: name, isRetryable: isRetryable)
            return AnswerBook.Entry(request: request, answer: .refused(SignalingError(code, message)))
        default: throw .damaged
        }
    }
}

extension JSONParser {
    fileprivate mutating func object(_ line: [UInt8]) throws(StateFault) -> JSONObject {
        guard let object = (try? parse(line))?.objectValue else { throw .damaged }
        return object
    }
}
