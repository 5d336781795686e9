import DequeModule
import SignalingProtocol

extension SessionLog {
    /// Writes the events, and who is away. Each sender's connection is written once, however many signals it sent.
    func write(to writer: inout ByteWriter) {
        writer.write(lastSeq)
        var senders = SenderTable()
        let places = entries.map { entry in entry.line.insertion.map { senders.place(of: $0.bytes) } }
        writer.write(count: senders.list.count)
        for sender in senders.list { writer.write(bytes: sender) }
        writer.write(count: entries.count)
        var time: Int64 = 0
        for (entry, place) in zip(entries, places) {
            entry.write(to: &writer, after: time, senderPlace: place)
            time = entry.appendedAt.nanoseconds
        }
        writer.write(values: absences.ids)
        writer.write(unsigned: absences.version)
    }

    init(from reader: inout ByteReader, bounds: Bounds) throws(CodingFault) {
        let lastSeq: Seq = try reader.value()
        var senders: [[UInt8]] = []
        for _ in 0..<(try reader.count(ofAtLeast: 1)) { senders.append(try reader.byteArray()) }
        let count = try reader.count(ofAtLeast: 3)
        guard count <= lastSeq.rawValue else { throw .malformed }
        var entries: Deque<LogEntry> = []
        var time: Int64 = 0
        for index in 0..<count {
            let seq = Seq(lastSeq.rawValue - Int64(count - 1 - index))
            let entry = try LogEntry.read(from: &reader, seq: seq, after: time, senders: senders)
            entries.append(entry)
            time = entry.appendedAt.nanoseconds
        }
        self.init(bounds: bounds, lastSeq: lastSeq, entries: entries)
        let ids: [ConnectionID] = try reader.values(ofAtLeast: 1)
        let version = try reader.unsigned()
        guard ids.count <= Limits.awayCount, let absences = Absences(ids: ids, version: version) else {
            throw .malformed
        }
        self.absences = absences
    }
}

/// The connections that sent the events of a log, in the order of their first events.
private struct SenderTable {
    private(set) var list: [[UInt8]] = []
    private var places: [[UInt8]: Int] = [:]
    private var last: (sender: [UInt8], place: Int)?

    mutating func place(of sender: [UInt8]) -> Int {
        // Events of one sender follow each other and share its bytes. To hash them takes longer than all the rest.
        if let last, last.sender == sender { return last.place }
        let place = places[sender] ?? list.count
        if place == list.count {
            places[sender] = place
            list.append(sender)
        }
        last = (sender, place)
        return place
    }
}

extension LogEntry {
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let directed = Flags(rawValue: 1 << 0)
        static let presence = Flags(rawValue: 1 << 1)
        static let sender = Flags(rawValue: 1 << 2)
        static let erased = Flags(rawValue: 1 << 3)
        static let erasure = Flags(rawValue: 1 << 4)
        static let moderation = Flags(rawValue: 1 << 5)
        static let change = Flags(rawValue: 1 << 6)
        static let reactions = Flags(rawValue: 1 << 7)

        static func all(of rules: RulesVersion) -> Flags {
            let first: Flags = [.directed, .presence, .sender, .erased, .erasure]
            if rules < .moderation { return first }
            return rules < .changes ? first.union(.moderation) : first.union([.moderation, .change, .reactions])
        }
    }

    /// - Parameters:
    ///   - time: when the event before this one was appended.
    ///   - senderPlace: the place of the sender among all senders, if the event has one.
    fileprivate func write(to writer: inout ByteWriter, after time: Int64, senderPlace: Int?) {
        var flags: Flags = []
        if case .only = audience { flags.insert(.directed) }
        switch kind {
        case .signal: break
        case .presence: flags.insert(.presence)
        case .erasure: flags.insert(.erasure)
        case .erased: flags.insert(.erased)
        case .moderation: flags.insert(.moderation)
        case .change: flags.insert(.change)
        case .reactions: flags.insert(.reactions)
        }
        if senderPlace != nil { flags.insert(.sender) }
        writer.write(byte: flags.rawValue)
        writer.write(signed: appendedAt.nanoseconds &- time)
        switch audience {
        case .everyone: break
        case .only(let target): writer.write(target)
        }
        switch kind {
        case .signal, .erasure, .erased: break
        case .presence(let subject): writer.write(subject)
        case .moderation(let concerned): writer.write(concerned)
        case .change(let ref): writer.write(ref)
        case .reactions(let ref, let user):
            writer.write(ref)
            writer.write(user)
        }
        if let senderPlace, let insertion = line.insertion {
            writer.write(count: senderPlace)
            writer.write(count: insertion.offset)
        }
        writer.write(bytes: line.bytes)
    }

    fileprivate static func read(
        from reader: inout ByteReader, seq: Seq, after time: Int64, senders: [[UInt8]]
    ) throws(CodingFault) -> LogEntry {
        let flags = try reader.flags(among: Flags.all(of: reader.rules))
        let appendedAt = MonotonicInstant(nanoseconds: time &+ (try reader.signed()))
        let audience: Audience = flags.contains(.directed) ? .only(try reader.value()) : .everyone
        let kind: Kind
        switch flags.intersection([.presence, .erasure, .erased, .moderation, .change, .reactions]) {
        case []: kind = .signal
        case .presence: kind = .presence(of: try reader.value())
        case .erasure: kind = .erasure
        case .erased: kind = .erased
        case .moderation: kind = .moderation(for: try reader.value())
        case .change: kind = .change(of: try reader.value())
        case .reactions: kind = .reactions(to: try reader.value(), of: try reader.optional())
        default: throw .malformed
        }
        var insertion: (bytes: [UInt8], offset: Int)?
        if flags.contains(.sender) {
            let (place, offset) = (try reader.unsigned(), try reader.unsigned())
            guard place < senders.count, let offset = Int(exactly: offset) else { throw .malformed }
            insertion = (senders[Int(place)], offset)
        }
        guard let line = EncodedLine(bytes: try reader.byteArray(), insertion: insertion) else { throw .malformed }
        return LogEntry(seq: seq, audience: audience, kind: kind, appendedAt: appendedAt, line: line)
    }
}
