import DequeModule
import SignalingProtocol

extension KeptTypes: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .all: writer.write(byte: 0)
        case .only(let types):
            writer.write(byte: 1)
            writer.write(count: types.count)
            for type in types { writer.write(text: type) }
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .all
        case 1:
            var types: [String] = []
            for _ in 0..<(try reader.count(ofAtLeast: 1)) { types.append(try reader.text()) }
            self = .only(types)
        default: throw .malformed
        }
    }
}

extension Erasure: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .message(let seq):
            writer.write(byte: 0)
            writer.write(seq)
        case .through(let seq):
            writer.write(byte: 1)
            writer.write(seq)
        case .user(let user):
            writer.write(byte: 2)
            writer.write(user)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .message(try reader.value())
        case 1: self = .through(try reader.value())
        case 2 where reader.rules >= .moderation: self = .user(try reader.value())
        default: throw .malformed
        }
    }
}

extension Unarchived: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(lastKept)
        writer.write(lastErasure)
        writer.write(values: items)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let (lastKept, lastErasure): (Seq, Seq) = (try reader.value(), try reader.value())
        self.init(items: Deque(try reader.values(ofAtLeast: 10)), lastKept: lastKept, lastErasure: lastErasure)
        guard zip(items, items.dropFirst()).allSatisfy({ $0.seq < $1.seq }) else { throw .malformed }
    }
}

extension Unarchived.Item: ByteCodable {
    private enum Kind: UInt8 {
        case message = 0
        case erased = 1
        case erasure = 2
        case form = 3
        case nothing = 4
        case reactions = 5
        case event = 6
        case missed = 7
    }

    func write(to writer: inout ByteWriter) {
        writer.write(seq)
        writer.write(time)
        switch content {
        case .message(let line):
            writer.write(byte: Kind.message.rawValue)
            writer.write(line)
        case .erased(let line):
            writer.write(byte: Kind.erased.rawValue)
            writer.write(line)
        case .erasure(let erasure):
            writer.write(byte: Kind.erasure.rawValue)
            writer.write(erasure)
        case .form(let ref, let line):
            writer.write(byte: Kind.form.rawValue)
            writer.write(ref)
            writer.write(line)
        case .reactions(let ref, let counts):
            writer.write(byte: Kind.reactions.rawValue)
            writer.write(ref)
            writer.write(values: counts)
        case .event(let members):
            writer.write(byte: Kind.event.rawValue)
            writer.write(bytes: members)
        case .missed(let first):
            writer.write(byte: Kind.missed.rawValue)
            writer.write(first)
        case .nothing: writer.write(byte: Kind.nothing.rawValue)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let (seq, time): (Seq, MonotonicInstant) = (try reader.value(), try reader.value())
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        switch kind {
        case .message: self.init(seq: seq, time: time, content: .message(try reader.value()))
        case .erased: self.init(seq: seq, time: time, content: .erased(try reader.value()))
        case .erasure: self.init(seq: seq, time: time, content: .erasure(try reader.value()))
        case .form where reader.rules >= .changes:
            self.init(seq: seq, time: time, content: .form(of: try reader.value(), try reader.value()))
        case .nothing where reader.rules >= .changes: self.init(seq: seq, time: time, content: .nothing)
        case .reactions where reader.rules >= .changes:
            self.init(
                seq: seq, time: time, content: .reactions(to: try reader.value(), try reader.values(ofAtLeast: 2)))
        case .event where reader.rules >= .changes:
            self.init(seq: seq, time: time, content: .event(try reader.byteArray()))
        case .missed where reader.rules >= .changes:
            self.init(seq: seq, time: time, content: .missed(from: try reader.value()))
        case .form, .nothing, .reactions, .event, .missed: throw .malformed
        }
    }
}

extension ReactionCount: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(text: key)
        writer.write(count: count)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let key = try reader.text()
        guard let count = Int(exactly: try reader.unsigned()) else { throw .malformed }
        self.init(key, count)
    }
}

/// A line with the sender's connection and its place.
extension EncodedLine: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(bytes: bytes)
        let insertion = insertion
        writer.write(bytes: insertion?.bytes ?? [])
        writer.write(count: insertion?.offset ?? 0)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        let (text, sender) = (try reader.byteArray(), try reader.byteArray())
        // Without a sender there is nothing to insert.
        guard let offset = Int(exactly: try reader.unsigned()), offset == 0 || !sender.isEmpty,
            let line = EncodedLine(bytes: text, insertion: (sender, offset))
        else { throw .malformed }
        self = line
    }
}
