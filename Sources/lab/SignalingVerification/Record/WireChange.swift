import SignalingProtocol

/// An edit of a message, with the members that its request and its event have in common (CHG-1, CHG-2).
struct WireChange: Hashable, Sendable {
    /// What a message says from then on.
    struct Content: Hashable, Sendable {
        var data: String?
        var isJSON: Bool
    }

    /// The seq of the message.
    var message: Int
    var content: Content
    /// nil for REST.
    var by: WireOrder.Name?

    /// nil for a change that is no edit: what it does is not known here.
    init?(_ line: WireLine, by author: WireOrder.Name?) {
        guard line.text("rel") == "edit", let message = line.position("ref") else { return nil }
        (self.message, content, by) = (message, line.content, author)
    }

    init(_ message: Int, _ content: Content, by author: WireOrder.Name?) {
        (self.message, self.content, by) = (message, content, author)
    }
}

extension WireLine {
    var content: WireChange.Content { WireChange.Content(data: text("data"), isJSON: isTrue("json")) }
}

extension WireRecord {
    /// A client's request to edit or to erase one message.
    struct AskedChange: Sendable {
        var session: String
        var by: Name
        var message: Int
        /// The number of the edit; nil for an erasure.
        var edit: Int32?
        /// The socket on which the request first passed.
        var socket: SocketNumber
        var isModerator: Bool
        var isRefused = false
        /// Where the change is, as its acknowledgement says.
        var place: (epoch: Int32, seq: Int)?

        var kind: String { edit == nil ? "erase" : "edit" }
    }

    /// The number of the request. One that is repeated after a resume is the same (RES-9).
    mutating func noteChange(_ line: WireLine, _ id: Int64, on number: SocketNumber) -> Int? {
        guard let socket = sockets[number], let author = socket.connection else { return nil }
        let key = AskedAction.Key(connection: author, id: id)
        if let known = changeNumbers[key] { return known }
        var asked = AskedChange(
            session: socket.session, by: author, message: 0, socket: number, isModerator: socket.isModerator)
        if line.op == "erase" {
            guard case .message(let message) = erasure(line) else { return nil }
            asked.message = message
        } else {
            guard let change = WireChange(line, by: author) else { return nil }
            (asked.message, asked.edit) = (change.message, changes.number(of: change))
        }
        changeNumbers[key] = askedChanges.count
        askedChanges.append(asked)
        return askedChanges.count - 1
    }

    mutating func noteCarriedOut(change: Int, at seq: Int?, _ passage: Passage) {
        guard let seq, order(passage.epoch)?.canHave(seq) == true else { return }
        askedChanges[change].place = (passage.epoch, seq)
        if askedChanges[change].edit == nil { return }
        histories[passage.session]?.noteAcknowledged(seq)
        claim(seq, on: passage.number)
    }

    /// A server that has forgotten the answer may have carried the request out (RES-9).
    mutating func noteRefused(change: Int, code: Int64?) {
        if let code, [400, 403, 404, 413, 429].contains(code) { askedChanges[change].isRefused = true }
    }

    /// The number of the edit that a program was told of; nil for one that no line has.
    func knownChange(_ event: ChangeEvent) -> Int32? {
        guard case .edit(let data, let isJSON)? = event.change else { return nil }
        let author = event.from.map { knownName($0.rawValue) }
        if author == .some(nil) { return nil }
        let content = WireChange.Content(data: data, isJSON: isJSON)
        return changes.known(WireChange(Int(event.ref.rawValue), content, by: author ?? nil))
    }

    /// The user of a message's sender, or of who has changed it.
    func user(of name: Name?) -> User? { name.flatMap { details[$0]?.user } }

    /// Whether the message that a signal began is the client's own (CHG-5).
    func isAuthor(_ name: Name?, of signal: Int32) -> Bool {
        let from = sending(signal).from
        let (user, author) = (user(of: name), user(of: from))
        return user == author && (user != nil || name == from)
    }

    /// The message that an event has content of, and who wrote that; nil for other events.
    func content(of event: WireOrder.Event, at seq: Int) -> (message: Int, by: Name?)? {
        switch event {
        case .signal(_, let from, .all): (seq, from)
        case .changed(let number): (changes[number].message, changes[number].by)
        case .told(let number, _): (tellings[number].message, nil)
        case .erased: (seq, nil)
        case .signal, .created, .destroyed, .moderated, .restricted, .unrestricted: nil
        }
    }
}

extension WireHistory {
    /// What a message says since a change.
    struct Edition: Sendable {
        /// The seq of the change, and its number.
        var version: Int
        var change: Int32
    }

    /// The edition of a message when the order was known up to a seq; nil for its first content.
    func edition(of message: Int, through seq: Int = .max) -> Edition? {
        editions[message]?.last { $0.version <= seq }
    }

    /// The last change of each message that has one and is still there.
    private var lastChanges: [Int: Int] {
        var last = editions.compactMapValues { $0.last?.version }
        last.merge(tellings.compactMapValues { $0.last?.seq }, uniquingKeysWith: max)
        for (seq, erasure, _) in erasures {
            if case .message(let message) = erasure { last[message] = max(last[message] ?? 0, seq) }
        }
        return last.filter { isKept($0.key) }
    }

    func lastChange(of message: Int) -> Int? { lastChanges[message] }

    /// The messages whose last change is known to be in a span (CHG-9).
    func changed(in span: Range<Int>) -> [Int] {
        lastChanges.filter { span.contains($0.value) }.keys.sorted()
    }

    /// The last change up to a seq; 0 without one.
    func lastChange(through seq: Int) -> Int {
        let edits = editions.values.joined().lazy.map(\.version).filter { $0 <= seq }
        let told = tellings.values.joined().lazy.map(\.seq).filter { $0 <= seq }.max() ?? 0
        return max(edits.max() ?? 0, told, erasures.lazy.map(\.seq).filter { $0 <= seq }.max() ?? 0)
    }

    /// Whether many messages were erased at once, in a span. Then nobody knows the changes before it.
    func erasesMany(in span: Range<Int>) -> Bool {
        erasures.contains { span.contains($0.seq) && $0.erasure.isOfMany }
    }
}

extension WireOrder.Erasure {
    var isOfMany: Bool { if case .message = self { false } else { true } }
}
