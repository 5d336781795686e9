import DequeModule
import SignalingProtocol

extension ModerationRequest: ByteCodable {
    private enum Kind: UInt8 {
        case mute = 1
        case unmute = 2
        case ban = 3
        case banThatErases = 4
        case unban = 5
        case freeze = 6
        case unfreeze = 7
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .mute(let subject, let terms):
            writer.write(byte: Kind.mute.rawValue)
            writer.write(subject)
            writer.write(terms)
        case .unmute(let lifted):
            writer.write(byte: Kind.unmute.rawValue)
            writer.write(lifted)
        case .ban(let subject, let terms, let erasesMessages):
            writer.write(byte: (erasesMessages ? Kind.banThatErases : .ban).rawValue)
            writer.write(subject)
            writer.write(terms)
        case .unban(let lifted):
            writer.write(byte: Kind.unban.rawValue)
            writer.write(lifted)
        case .freeze(let terms):
            writer.write(byte: Kind.freeze.rawValue)
            writer.write(terms)
        case .unfreeze: writer.write(byte: Kind.unfreeze.rawValue)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .mute: self = .mute(try reader.value(), try reader.value())
        case .unmute: self = .unmute(try reader.value())
        case .ban: self = .ban(try reader.value(), try reader.value())
        case .banThatErases: self = .ban(try reader.value(), try reader.value(), erasesMessages: true)
        case .unban: self = .unban(try reader.value())
        case .freeze: self = .freeze(try reader.value())
        case .unfreeze: self = .unfreeze
        }
    }
}

extension ModerationRequest.Subject: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .user(let user):
            writer.write(byte: 0)
            writer.write(user)
        case .connection(let connection):
            writer.write(byte: 1)
            writer.write(connection)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .user(try reader.value())
        case 1: self = .connection(try reader.value())
        default: throw .malformed
        }
    }
}

extension ModerationRequest.Lifted: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .user(let user):
            writer.write(byte: 0)
            writer.write(user)
        case .ref(let seq):
            writer.write(byte: 1)
            writer.write(seq)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .user(try reader.value())
        case 1: self = .ref(try reader.value())
        default: throw .malformed
        }
    }
}

extension ModerationRequest.Terms: ByteCodable {
    /// 0 seconds stand for no end: a restriction holds for a second at least.
    func write(to writer: inout ByteWriter) {
        writer.write(unsigned: UInt64(max(0, seconds ?? 0)))
        writer.write(optional: reason)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let seconds = try reader.unsigned()
        guard seconds <= Limits.restrictionSeconds else { throw .malformed }
        self.init(seconds: seconds == 0 ? nil : Int(seconds), reason: try reader.optionalText())
    }
}

extension Moderator: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(connectionId)
        writer.write(user)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(connectionId: try reader.value(), user: try reader.optional())
    }
}

extension ModerationRecord: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(seq)
        writer.write(time)
        writer.write(event.action)
        writer.write(event.until)
        writer.write(event.by)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(
            seq: try reader.value(), time: try reader.value(),
            event: ModerationEvent(
                action: try reader.value(), until: try reader.optional(), by: try reader.optional()))
    }
}

extension LogEntry.Concerned: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .everyone: writer.write(byte: 0)
        case .moderators: writer.write(byte: 1)
        case .user(let user):
            writer.write(byte: 2)
            writer.write(user)
        case .streamReceivers: writer.write(byte: 3)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .everyone
        case 1: self = .moderators
        case 2: self = .user(try reader.value())
        case 3 where reader.rules >= .streams: self = .streamReceivers
        default: throw .malformed
        }
    }
}

/// The restrictions in the order of their actions, and the latest actions.
extension Restrictions: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(values: ordered)
        writer.write(values: actions)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let entries: [Entry] = try reader.values(ofAtLeast: 6)
        let actions: [ModerationRecord] = try reader.values(ofAtLeast: 5)
        guard entries.count <= Limits.restrictionCount, actions.count <= Limits.restrictionCount,
            zip(entries, entries.dropFirst()).allSatisfy({ $0.record.ref < $1.record.ref }),
            let restrictions = Restrictions(entries: entries, actions: Deque(actions))
        else { throw .malformed }
        self = restrictions
    }
}

extension Restrictions.Entry: ByteCodable {
    private enum Kind: UInt8 {
        case mute = 0
        case ban = 1
        case guestBan = 2
        case freeze = 3
    }

    func write(to writer: inout ByteWriter) {
        writer.write(record.ref)
        switch key {
        case .mute(let user):
            writer.write(byte: Kind.mute.rawValue)
            writer.write(user)
        case .ban(let user):
            writer.write(byte: Kind.ban.rawValue)
            writer.write(user)
        case .guestBan(let token):
            writer.write(byte: Kind.guestBan.rawValue)
            writer.write(token)
            if case .guest(let connection) = record.subject { writer.write(connection) }
            if writer.rules >= .newerTokens { writer.write(values: otherTokens) }
        case .freeze: writer.write(byte: Kind.freeze.rawValue)
        }
        writer.write(record.restriction.until)
        writer.write(optional: record.restriction.reason)
        writer.write(record.time)
        writer.write(record.by)
        writer.write(until)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let ref: Seq = try reader.value()
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        let (key, subject): (Restrictions.Key, RestrictionRecord.Subject)
        var otherTokens: [TokenFingerprint] = []
        switch kind {
        case .mute, .ban:
            let user: UserID = try reader.value()
            (key, subject) = (kind == .mute ? .mute(user) : .ban(user), .user(user))
        case .guestBan:
            (key, subject) = (.guestBan(try reader.value()), .guest(try reader.value()))
            if reader.rules >= .newerTokens { otherTokens = try reader.values(ofAtLeast: 8) }
            guard otherTokens.count < Restrictions.Entry.tokenLimit else { throw .malformed }
        case .freeze: (key, subject) = (.freeze, .session)
        }
        let restriction = Restriction(key.kind, until: try reader.optional(), reason: try reader.optionalText())
        self.init(
            key: key,
            record: RestrictionRecord(
                ref: ref, subject: subject, restriction: restriction, time: try reader.value(),
                by: try reader.optional()),
            until: try reader.optional(), otherTokens: otherTokens)
    }
}

extension Restrictions.Key {
    fileprivate var kind: Restriction.Kind {
        switch self {
        case .mute: .mute
        case .ban, .guestBan: .ban
        case .freeze: .freeze
        }
    }
}

extension ByteWriter {
    fileprivate mutating func write(optional text: String?) {
        write(byte: text == nil ? 0 : 1)
        if let text { write(text: text) }
    }
}

extension ByteReader {
    fileprivate mutating func optionalText() throws(CodingFault) -> String? {
        switch try byte() {
        case 0: nil
        case 1: try text()
        default: throw .malformed
        }
    }
}
