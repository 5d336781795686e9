import DequeModule
import SignalingProtocol

/// What a session's state knows of its kept messages, so that it can judge a change where it stands in the order
/// (CHG-5), and say what has changed since a seq (CHG-9).
///
/// No archive is asked before a change is answered. So it takes little: 16 bytes a message, and a note for each one
/// that has changed.
struct Changeables: Sendable {
    /// The most messages that can be changed, and the most changes that are noted. Beyond it the oldest are forgotten.
    static let limit = 10_000

    /// Who may change a message.
    enum Author: Hashable, Sendable {
        /// REST.
        case server
        case user(UserID)
        case guest(ConnectionID)
    }

    private struct Message: Sendable {
        let seq: Seq
        let author: UInt32
        let type: UInt32
    }

    struct Note: Hashable, Sendable {
        /// The seq of the last change.
        let version: Seq
        let ref: Seq
    }

    /// In the order of their seqs.
    private var messages: Deque<Message> = []
    private var authors = Interned<Author>()
    private var types = Interned<MessageType>()
    /// In the order of their versions. One that is not the last of its message counts no more.
    private var notes: Deque<Note> = []
    /// The last change of each message that is noted.
    private var versions: [Seq: Seq] = [:]
    /// Every change after this seq is noted, unless an erasure of many messages follows it.
    private(set) var completeAfter: Seq
    /// The seq of the last change.
    private(set) var lastVersion: Seq

    /// - Parameter seq: nothing is known of changes up to it.
    init(after seq: Seq = .zero) { (completeAfter, lastVersion) = (seq, seq) }

    var count: Int { messages.count }

    /// The oldest message that can be changed; `nil` if none can.
    var first: Seq? { messages.first?.seq }

    /// How many of the newest messages behind a seq are of other authors.
    ///
    /// - Parameters:
    ///   - scanned: the most messages that are looked at.
    ///   - limit: the greatest answer.
    func count(after seq: Seq, notBy author: Author, scanning scanned: Int, atMost limit: Int) -> Int {
        let own = authors.known(author)
        let newest = messages.reversed().prefix(scanned).prefix { $0.seq > seq }
        return newest.lazy.filter { $0.author != own }.prefix(limit).count
    }

    // MARK: - Messages

    mutating func keep(_ seq: Seq, by author: Author, type: String?) {
        messages.append(Message(seq: seq, author: authors.index(of: author), type: types.index(of: MessageType(type))))
        if messages.count > Self.limit { messages.removeFirst() }
        if authors.count + types.count > 2 * messages.count + 64 { forgetUnused() }
    }

    /// A message that can be changed; `nil` for any other.
    func message(_ seq: Seq) -> (author: Author, type: String?)? {
        index(of: seq).map { (authors[messages[$0].author], types[messages[$0].type].exact?.text) }
    }

    private func index(of seq: Seq) -> Int? {
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low < messages.count && messages[low].seq == seq ? low : nil
    }

    private mutating func forgetUnused() {
        let old = (authors, types)
        (authors, types) = (Interned(), Interned())
        for index in messages.indices {
            let message = messages[index]
            messages[index] = Message(
                seq: message.seq, author: authors.index(of: old.0[message.author]),
                type: types.index(of: old.1[message.type]))
        }
    }

    // MARK: - Changes

    /// The last change of a message, if it is noted.
    func version(of ref: Seq) -> Seq? { versions[ref] }

    mutating func note(_ version: Seq, of ref: Seq) {
        versions[ref] = version
        notes.append(Note(version: version, ref: ref))
        lastVersion = version
        while versions.count > Self.limit, let oldest = notes.popFirst() {
            if counts(oldest) { versions[oldest.ref] = nil }
            completeAfter = oldest.version
        }
        if notes.count > 2 * versions.count + 64 { notes = notes.filter(counts) }
    }

    private func counts(_ note: Note) -> Bool { versions[note.ref] == note.version }

    mutating func erase(_ erasure: Erasure, at seq: Seq) {
        switch erasure {
        case .message(let ref):
            // A message that is still to come stays.
            if ref >= seq { return }
            if let index = index(of: ref) { messages.remove(at: index) }
            return note(seq, of: ref)
        case .through(let last):
            while let first = messages.first, first.seq <= last { messages.removeFirst() }
        case .user(let user):
            if let author = authors.known(.user(user)) { messages.removeAll { $0.author == author } }
        }
        forget(through: seq)
    }

    /// Whoever asks for the changes since an earlier seq must load anew.
    mutating func forget(through seq: Seq) {
        (notes, versions) = ([], [:])
        (completeAfter, lastVersion) = (seq, seq)
    }

    /// What has changed since a seq, the earliest last change first; `nil` if not all of it is known.
    ///
    /// - Parameter limit: the most changes.
    func changes(after seq: Seq, atMost limit: Int) -> (notes: [Note], more: Bool)? {
        guard seq >= completeAfter else { return nil }
        var (low, high) = (0, notes.count)
        while low < high {
            let middle = (low + high) / 2
            if notes[middle].version <= seq { low = middle + 1 } else { high = middle }
        }
        let found = notes[low...].lazy.filter(counts).prefix(limit + 1)
        let list = Array(found)
        return (Array(list.prefix(limit)), list.count > limit)
    }
}

extension Changeables {
    /// The first invariant that does not hold; `nil` if all do.
    ///
    /// - Parameter end: of the session's log.
    func violation(through end: Seq) -> String? {
        if messages.count > Self.limit || versions.count > Self.limit {
            return "G5: \(messages.count) messages can be changed, and \(versions.count) changes are noted"
        }
        if lastVersion > end { return "CHG-9: a change has the seq \(lastVersion), behind the end of the log, \(end)" }
        for (earlier, later) in zip(messages, messages.dropFirst()) where earlier.seq >= later.seq {
            return "CHG-5: the message \(later.seq) can be changed behind \(earlier.seq)"
        }
        return nil
    }
}

/// The same changeables have the same bytes, whatever was forgotten before: the tables are written in the order of the
/// messages that name them.
extension Changeables: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(completeAfter)
        writer.write(lastVersion)
        var (authors, types) = (Interned<Author>(), Interned<MessageType>())
        var last: Int64 = 0
        writer.write(count: messages.count)
        for message in messages {
            writer.write(unsigned: UInt64(message.seq.rawValue - last))
            last = message.seq.rawValue
            authors.write(self.authors[message.author], to: &writer)
            types.write(self.types[message.type], to: &writer)
        }
        writer.write(values: notes.filter(counts))
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        completeAfter = try reader.value()
        lastVersion = try reader.value()
        var last: UInt64 = 0
        for _ in 0..<(try reader.count(ofAtLeast: 3)) {
            let step = try reader.unsigned()
            guard step > 0, step <= UInt64(Seq.greatest.rawValue) - last else { throw .malformed }
            last += step
            let (author, type) = (try authors.read(from: &reader), try types.read(from: &reader))
            messages.append(Message(seq: Seq(Int64(last)), author: author, type: type))
        }
        notes = Deque(try reader.values(ofAtLeast: 2))
        for note in notes {
            guard versions.updateValue(note.version, forKey: note.ref) == nil else { throw .malformed }
        }
        guard zip(notes, notes.dropFirst()).allSatisfy({ $0.version < $1.version }),
            notes.first.map({ $0.version > completeAfter }) ?? true,
            notes.last.map({ $0.version <= lastVersion }) ?? true,
            completeAfter <= lastVersion, messages.count <= Self.limit, versions.count <= Self.limit
        else { throw .malformed }
    }
}

extension Changeables.Note: ByteCodable {
    func write(to writer: inout ByteWriter) {
        writer.write(version)
        writer.write(ref)
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        self.init(version: try reader.value(), ref: try reader.value())
    }
}

extension Changeables.Author: ByteCodable {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .server: writer.write(byte: 0)
        case .user(let user):
            writer.write(byte: 1)
            writer.write(user)
        case .guest(let connection):
            writer.write(byte: 2)
            writer.write(connection)
        }
    }

    init(from reader: inout ByteReader) throws(CodingFault) {
        switch try reader.byte() {
        case 0: self = .server
        case 1: self = .user(try reader.value())
        case 2: self = .guest(try reader.value())
        default: throw .malformed
        }
    }
}
