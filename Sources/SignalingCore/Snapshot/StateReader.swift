import DequeModule
import JSONText
import SignalingProtocol

/// Reads what ``StateWriter`` wrote, piece by piece; see ``StateText``.
///
/// All or nothing: what is not exactly what was written is refused. It holds what it has read and the line that it is in,
/// whatever the text says of itself.
public struct StateReader: ~Copyable {
    private var parser = JSONParser(limits: JSONLimits(depth: 4, byteCount: StateText.lineByteLimit))
    private var checksum = StateText.Checksum()
    /// The beginning of a line whose end has not come.
    private var line: [UInt8] = []
    private var draft: Draft?
    private var sessions: [SessionSnapshot] = []
    private var ids: Set<SessionID> = []
    private let now: MonotonicInstant
    private let wallTime: WallTime
    private var takenAt: MonotonicInstant?
    private var isAtEnd = false

    /// - Parameters:
    ///   - now: when the sessions go on.
    ///   - wallTime: the same on the clock that the writer had, too. Where it is earlier than when the text was written, it
    ///     is taken as that.
    public init(now: MonotonicInstant, wallTime: WallTime) {
        self.now = now
        self.wallTime = wallTime
    }

    /// Takes the next bytes of the text, as many as there are.
    ///
    /// - Throws: ``StateFault``, as soon as one is found; the reader is of no use then.
    public mutating func take(_ bytes: ArraySlice<UInt8>) throws(StateFault) {
        var start = bytes.startIndex
        while let end = Self.newline(in: bytes, from: start) {
            try append(bytes[start..<end])
            try takeLine()
            line.removeAll(keepingCapacity: true)
            start = end + 1
        }
        try append(bytes[start...])
    }

    private static func newline(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { buffer in
            let place = buffer[(start - bytes.startIndex)...].firstIndex(of: UInt8(ascii: "\n"))
            return place.map { $0 + bytes.startIndex }
        }
    }

    private mutating func append(_ piece: ArraySlice<UInt8>) throws(StateFault) {
        guard line.count + piece.count <= StateText.lineByteLimit else { throw fault }
        line.append(contentsOf: piece)
    }

    /// What was kept, after the whole text was taken.
    public mutating func finish() throws(StateFault) -> [SessionSnapshot] {
        guard isAtEnd, line.isEmpty else { throw fault }
        return sessions
    }

    /// What is wrong with a text that cannot be read any further.
    private var fault: StateFault { takenAt == nil ? .foreign : .damaged }

    private mutating func takeLine() throws(StateFault) {
        guard !isAtEnd else { throw .damaged }
        guard let takenAt else { return try takeHeader() }
        if draft?.awaited == .line {
            try draft?.take(line)
        } else {
            var members = try Members(parser.object(line))
            if draft != nil {
                try draft?.take(&members, takenAt: takenAt)
            } else if members.has("end") {
                return try takeEnd(&members)
            } else {
                draft = try Draft(&members)
            }
            try members.end()
        }
        sumUpLine()
        if draft?.isComplete == true, let session = draft?.session {
            guard ids.insert(session.id).inserted else { throw .damaged }
            sessions.append(session)
            draft = nil
        }
    }

    private mutating func sumUpLine() {
        checksum.add(line)
        checksum.add(CollectionOfOne(UInt8(ascii: "\n")))
    }

    private mutating func takeHeader() throws(StateFault) {
        guard let object = try? parser.object(line), let version = object["signalboxState"]?.integerValue else {
            throw .foreign
        }
        guard version == StateText.version else { throw .version(version) }
        var members = Members(object)
        _ = try members.integer("signalboxState")
        let takenAt = WallTime(milliseconds: try members.integer("takenAt", in: Members.wide))
        try members.end()
        // A clock that was set back would give everybody more time than there was: none has passed, then.
        let between = max(0, min(wallTime.milliseconds, Members.wide.upperBound) - takenAt.milliseconds)
        self.takenAt = now.advanced(by: .zero - .milliseconds(between))
        sumUpLine()
    }

    private mutating func takeEnd(_ members: inout Members) throws(StateFault) {
        guard try members.integer("sessions") == Int64(sessions.count), try members.text("end") == checksum.text else {
            throw .damaged
        }
        try members.end()
        isAtEnd = true
    }
}

/// A session that is being read.
private struct Draft {
    /// What a line may be, in the order in which they come.
    enum Awaited { case member, departed, forceDisconnected, sender, event, line }

    /// How many of each have not come.
    private struct Missing {
        var members, departed, forceDisconnected, senders, events: Int64
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
        let insertion: (bytes: [UInt8], place: Int)?
    }

    init(_ members: inout Members) throws(StateFault) {
        session = SessionSnapshot(
            id: SessionID(try members.text("session")), epoch: Epoch(try members.text("epoch")),
            lastSeq: Seq(try members.integer("seq", in: Members.natural)),
            lastCreationTime: WallTime(milliseconds: try members.integer("creationTime", in: Members.wide)),
            members: [], departed: [], forceDisconnected: [], entries: [])
        missing = Missing(
            members: try members.integer("members", in: Members.natural),
            departed: try members.integer("departed", in: Members.natural),
            forceDisconnected: try members.integer("expelled", in: Members.natural),
            senders: try members.integer("senders", in: Members.natural),
            events: try members.integer("events", in: 0...session.lastSeq.rawValue))
    }

    /// What comes next; nil when nothing is missing.
    var awaited: Awaited? {
        if event != nil { return .line }
        if missing.members > 0 { return .member }
        if missing.departed > 0 { return .departed }
        if missing.forceDisconnected > 0 { return .forceDisconnected }
        if missing.senders > 0 { return .sender }
        return missing.events > 0 ? .event : nil
    }

    var isComplete: Bool { awaited == nil }

    mutating func take(_ members: inout Members, takenAt: MonotonicInstant) throws(StateFault) {
        guard let awaited else { throw .damaged }
        switch awaited {
        case .member:
            session.members.append(try member(&members, takenAt))
            missing.members -= 1
        case .departed:
            session.departed.append(try departed(&members, takenAt))
            missing.departed -= 1
        case .forceDisconnected:
            session.forceDisconnected.append(try departed(&members, takenAt))
            missing.forceDisconnected -= 1
        case .sender:
            senders.append(Array(try members.text("sender").utf8))
            missing.senders -= 1
        case .event: event = try event(&members, takenAt)
        case .line: throw .damaged
        }
    }

    /// An event's own line. Nobody reads it here: clients do.
    mutating func take(_ line: [UInt8]) throws(StateFault) {
        // Of its own size: `line` has room for the longest so far.
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
        _ members: inout Members, _ takenAt: MonotonicInstant
    ) throws(StateFault) -> SessionSnapshot.Member {
        let ticket = try ticket(&members)
        guard ids.insert(ticket.connectionId).inserted else { throw .damaged }
        return SessionSnapshot.Member(
            ticket: ticket,
            creationTime: WallTime(milliseconds: try members.integer("creationTime", in: Members.wide)),
            lostAt: try members.ago("lost", takenAt), answers: try members.answers(),
            signalAllowance: try members.bucket("signals", takenAt),
            onlineOnlyAllowance: try members.bucket("onlineOnly", takenAt))
    }

    private func departed(
        _ members: inout Members, _ takenAt: MonotonicInstant
    ) throws(StateFault) -> DepartedTickets.Departed {
        DepartedTickets.Departed(ticket: try ticket(&members), since: try members.ago("since", takenAt))
    }

    private func ticket(_ members: inout Members) throws(StateFault) -> ResumeTicket {
        guard let role = Role(rawValue: try members.text("role")) else { throw .damaged }
        let places = 0...session.lastSeq.rawValue
        return ResumeTicket(
            connectionId: ConnectionID(try members.text("connection")), role: role, data: try members.text("data"),
            begin: Seq(try members.integer("begin", in: places)),
            joined: Seq(try members.integer("joined", in: places)), secretHash: try members.hash("secret"),
            previousSecretHash: members.has("previous") ? try members.hash("previous") : nil)
    }

    private func event(_ members: inout Members, _ takenAt: MonotonicInstant) throws(StateFault) -> Event {
        var insertion: (bytes: [UInt8], place: Int)?
        if members.has("sender") {
            let number = Int(try members.integer("sender", in: Members.natural))
            guard senders.indices.contains(number) else { throw .damaged }
            insertion = (senders[number], Int(try members.integer("at", in: Members.natural)))
        }
        return Event(
            audience: members.has("to") ? .only(ConnectionID(try members.text("to"))) : .everyone,
            kind: members.has("of") ? .presence(of: ConnectionID(try members.text("of"))) : .signal,
            appendedAt: try members.ago("age", takenAt), insertion: insertion)
    }
}

/// The members of one line, each of which has to be taken: one that is not known was written by who knew more.
private struct Members {
    private let object: JSONObject
    private var takenCount = 0

    /// Far from where adding one would be too much.
    static let wide: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
    static let natural: ClosedRange<Int64> = 0...(1 << 53)

    init(_ object: JSONObject) { self.object = object }

    func has(_ name: String) -> Bool { object[name] != nil }

    func end() throws(StateFault) { guard takenCount == object.count else { throw .damaged } }

    private mutating func take(_ name: String) throws(StateFault) -> JSONValue {
        guard let value = object[name] else { throw .damaged }
        takenCount += 1
        return value
    }

    mutating func integer(
        _ name: String, in range: ClosedRange<Int64> = .min ... .max
    ) throws(StateFault) -> Int64 {
        guard let number = try take(name).integerValue, range.contains(number) else { throw .damaged }
        return number
    }

    mutating func text(_ name: String) throws(StateFault) -> String {
        guard let text = try take(name).stringValue else { throw .damaged }
        return text
    }

    mutating func ago(_ name: String, _ takenAt: MonotonicInstant) throws(StateFault) -> MonotonicInstant {
        takenAt.advanced(by: .zero - .nanoseconds(try integer(name, in: 0 ... .max)))
    }

    mutating func bucket(_ name: String, _ takenAt: MonotonicInstant) throws(StateFault) -> TokenBucket {
        guard has(name) else { return TokenBucket() }
        return TokenBucket(fullAt: takenAt.advanced(by: .nanoseconds(try integer(name, in: 1 ... .max))))
    }

    mutating func hash(_ name: String) throws(StateFault) -> ResumeSecretHash {
        guard let bytes = Hexadecimal.decoded(try text(name).utf8) else { throw .damaged }
        return ResumeSecretHash(bytes: bytes)
    }

    mutating func answers() throws(StateFault) -> AnswerBook {
        let highest = has("highest") ? RequestID(try integer("highest")) : nil
        guard let values = try take("answers").arrayValue else { throw .damaged }
        var entries: [AnswerBook.Entry] = []
        for value in values { entries.append(try Self.entry(value.arrayValue ?? [])) }
        return AnswerBook(entries: entries, highest: highest)
    }

    /// `[request]` for what was done without a seq, `[request, seq]`, or `[request, code, name, isRetryable, message]`.
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
