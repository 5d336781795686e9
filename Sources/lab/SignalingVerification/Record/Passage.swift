import SignalingProtocol

/// A line of a server, with the record's numbers for what it names. The record does not have it yet.
struct Passage: Sendable {
    typealias Name = WireOrder.Name

    enum Kind: Sendable {
        /// The socket as the line makes it, and whether the session has this epoch for the first time.
        indirect case connected(Name, WireRecord.Socket, isNewEpoch: Bool)
        case incomplete
        case signal(Int32)
        /// A signal that nobody has sent.
        case strangeSignal
        case created
        case departure(Name)
        case erased
        /// The number of an edit.
        case changed(Int32)
        /// The number of what is told of reactions.
        case told(Int32)
        /// The user whose marker is told.
        case read(WireOrder.User)
        case moderated(WireAction)
        case restricted
        /// A page of the list of connections.
        case list([Name])
        case away(Name)
        case back(Name)
        case ack
        case error
        case restrictions
        /// The index of the request for the page; nil if there is none.
        case page(index: Int?, [Message])
        case pageRefused(index: Int)
        case disconnected
        case ping
        case other
    }

    /// A message in a page of a history.
    struct Message: Sendable {
        var line: WireLine
        var seq: Int?
        /// nil for one that nobody has sent, or that was edited.
        var signal: Int32?
        /// The seq of its last edit.
        var changed: Int?
        /// Of its sender, as the page says.
        var user: WireOrder.User?
        /// The seq of its last change, an edit or what was told of reactions.
        var version: Int? { [changed, line.position("reacted")].compactMap(\.self).max() }
    }

    let line: WireLine
    let number: WireRecord.SocketNumber
    let at: MonotonicInstant
    /// The connection of the socket; nil before it is connected.
    let connection: Name?
    let session: String
    var epoch: Int32
    var kind = Kind.other
    /// The event that the line puts at a place of the order, and the place.
    var placed: (event: WireOrder.Event, seq: Int)?
    /// Of a signal.
    var from: Name?
    /// The request that is answered in its turn; nil if the line is no answer, or none is due.
    var request: WireRecord.Request?
    /// What the line says of connections.
    var described: [(name: Name, details: WireRecord.Details)] = []

    init(_ line: WireLine, on number: WireRecord.SocketNumber, at now: MonotonicInstant, _ socket: WireRecord.Socket) {
        (self.line, self.number, at) = (line, number, now)
        (connection, session, epoch) = (socket.connection, socket.session, socket.epoch)
    }

    /// Whether requests are answered by it in their turn (WIRE-8).
    var isAnswer: Bool {
        switch kind {
        case .connected, .incomplete, .ack, .error, .restrictions: line.id != nil
        default: false
        }
    }

    /// The event that comes to the client at its place in the order.
    var received: (event: WireOrder.Event, seq: Int)? {
        switch kind {
        case .signal, .created, .departure, .erased, .changed, .told, .moderated, .restricted: placed
        default: nil
        }
    }
}

// MARK: - Reading

extension WireRecord {
    /// Gives numbers to what a line of the server names, and changes nothing else.
    ///
    /// - Returns: nil for a socket that was never opened.
    mutating func read(_ line: WireLine, on number: SocketNumber, at now: MonotonicInstant) -> Passage? {
        guard let socket = sockets[number] else { return nil }
        var passage = Passage(line, on: number, at: now, socket)
        switch line.ev {
        case "connected": readConnected(&passage, socket)
        case "connections": passage.kind = .list(line.list("connections")?.compactMap { describe($0, &passage) } ?? [])
        case "connectionAway": if let id = line.text("connectionId") { passage.kind = .away(name(id)) }
        case "connectionBack": if let id = line.text("connectionId") { passage.kind = .back(name(id)) }
        case "ack": readAnswer(&passage, .ack, socket)
        case "error":
            // The answer to a request for a page may pass before other answers (HIS-7).
            if let index = socket.pageRequests.firstIndex(where: { $0.id == line.id }) {
                passage.kind = .pageRefused(index: index)
            } else {
                readAnswer(&passage, .error, socket)
            }
        case "restrictions": readAnswer(&passage, .restrictions, socket)
        case "history":
            let index = socket.pageRequests.firstIndex { $0.id == line.id }
            // A page that could not be read has none (HIS-5).
            let messages = line.member("error") == nil ? messages(in: line, &passage.described) : []
            if socket.connection != nil { passage.kind = .page(index: index, messages) }
        case "disconnected": passage.kind = .disconnected
        case "read": if let user = line.text("user") { passage.kind = .read(self.user(user)) }
        case "ping": passage.kind = .ping
        default: readEvent(&passage)
        }
        return passage
    }

    mutating func readEvent(_ passage: inout Passage) {
        guard passage.connection != nil else { return }
        let line = passage.line
        func place(_ event: WireOrder.Event?, _ kind: Passage.Kind) {
            guard let event, let seq = line.seq else { return }
            (passage.placed, passage.kind) = ((event, seq), kind)
        }
        switch line.ev {
        case "signal":
            guard let data = line.text("data") else { return }
            passage.from = line.text("from").map { name($0) }
            guard let signal = signals[data] else { return passage.kind = .strangeSignal }
            passage.kind = .signal(signal)
            place(.signal(signal, from: passage.from, to: sending(signal).to), passage.kind)
            describeSender(&passage)
        case "change":
            passage.from = line.text("from").map { name($0) }
            guard let seq = line.seq, order(passage.epoch)?.canHave(seq) == true,
                let change = WireChange(line, by: passage.from)
            else { return }
            let number = changes.number(of: change)
            place(.changed(number), .changed(number))
            describeSender(&passage)
        case "reactions", "reacted":
            guard let seq = line.seq, order(passage.epoch)?.canHave(seq) == true, let message = line.position("ref"),
                let told = line.ev == "reacted" ? WireReactions(own: line) : WireReactions(message, in: line)
            else { return }
            let number = tellings.number(of: told)
            place(.told(number, isOwn: told.own != nil), .told(number))
        case "connectionCreated":
            place(line.member("connection").flatMap { describe($0, &passage) }.map { .created($0) }, .created)
        case "connectionDestroyed":
            guard let name = line.text("connectionId").map({ name($0) }) else { return }
            place(.destroyed(name), .departure(name))
        case "erased": place(erasure(line).map { .erased($0) }, .erased)
        case "moderated":
            let author = line.member("by")?.text("connectionId").map { name($0) }
            guard let seq = line.seq, order(passage.epoch)?.canHave(seq) == true, let action = action(line, by: author)
            else { return }
            place(.moderated(actions.number(of: action)), .moderated(action))
        case "restricted": place(WireRestriction(line).map { .restricted(restrictions.number(of: $0)) }, .restricted)
        case "unrestricted":
            place(line.text("kind").flatMap(WireRestriction.Kind.init).map { .unrestricted($0) }, .restricted)
        default: break
        }
    }

    private mutating func describeSender(_ passage: inout Passage) {
        guard let told = passage.line.member("connection"), let from = passage.from,
            told.text("connectionId") == id(from)
        else { return }
        _ = describe(told, &passage)
    }

    private mutating func readAnswer(_ passage: inout Passage, _ kind: Passage.Kind, _ socket: Socket) {
        guard passage.line.id != nil else { return }
        passage.kind = kind
        passage.request = socket.nextRequest
        guard case .ack = kind, let request = passage.request, let seq = passage.line.seq else { return }
        if let erasure = request.erasure {
            passage.placed = (.erased(erasure), seq)
        } else if let edit = request.change.flatMap({ askedChanges[$0].edit }) {
            passage.placed = (.changed(edit), seq)
        } else if let signal = request.signal, let connection = socket.connection {
            passage.placed = (.signal(signal, from: connection, to: sending(signal).to), seq)
        } else if let asked = request.asked {
            passage.placed = (.moderated(actions.number(of: self.asked[asked].action)), seq)
        }
    }

    private mutating func readConnected(_ passage: inout Passage, _ before: Socket) {
        let line = passage.line
        (passage.kind, passage.request) = (.incomplete, line.id == nil ? nil : before.nextRequest)
        guard let name = line.member("connection").flatMap({ describe($0, &passage) }),
            let epochText = line.text("epoch"), let seq = line.seq, let outcome = line.text("outcome")
        else { return }
        let known = knownEpoch(epochText, of: before.session)
        passage.epoch = known ?? Int32(orders.count)
        var socket = before
        socket.connection = name
        socket.connectedAt = passage.at
        socket.epoch = passage.epoch
        (socket.start, socket.claimed, socket.outcome) = (seq, seq, outcome)
        socket.isModerator = line.text("role") == "moderator"
        socket.restrictions = line.list("restrictions")?.compactMap { WireRestriction($0) } ?? []
        socket.replayThrough = line.number("replayThrough").map { Int($0) } ?? 0
        // A new connection gets broadcasts of the time before it, and nothing else from that time.
        if outcome != "resumed" { socket.onlyBroadcastsThrough = socket.replayThrough }
        if outcome == "resumed", let connection = connections[name] {
            // The options belong to the connection (CON-4).
            socket.suppressesPresence = connection.suppressesPresence
            socket.getsAbsences = connection.getsAbsences
        } else {
            socket.others = line.list("connections")?.compactMap { describe($0, &passage) }
            if let count = line.number("connectionCount") {
                socket.listRest = socket.getsPages ? Int(count) - (socket.others?.count ?? 0) : 0
                socket.isListCut = !socket.getsPages
            }
        }
        // If the client may read a history, the page of its option is due (HIS-5).
        if var request = socket.pageOption, line.isTrue("history"), outcome != "resumed" {
            (request.boundary, request.end) = (seq, seq)
            socket.pageRequests.append(request)
        }
        socket.pageOption = nil
        passage.kind = .connected(name, socket, isNewEpoch: known == nil)
        // CON-6.
        if outcome == "new" || outcome == "lost", socket.replayThrough == 0 { passage.placed = (.created(name), seq) }
    }

    /// The connection that a line of the server describes.
    private mutating func describe(_ connection: WireLine, _ passage: inout Passage) -> Name? {
        guard let id = connection.text("connectionId") else { return nil }
        let name = name(id)
        passage.described.append((name, details(connection)))
        return name
    }

    private mutating func details(_ connection: WireLine) -> Details {
        Details(
            creationTime: connection.number("creationTime"), data: connection.text("data"),
            user: connection.text("user").map { user($0) })
    }

    /// The messages of a page.
    ///
    /// - Parameter described: what they say of their senders, if these have sent them.
    mutating func messages(in page: WireLine, _ described: inout [(name: Name, details: Details)]) -> [Passage.Message]
    {
        (page.list("messages") ?? []).map { message($0, &described) }
    }

    mutating func message(
        _ line: WireLine, _ described: inout [(name: Name, details: Details)]
    ) -> Passage.Message {
        let (sender, changed) = (line.member("connection"), line.position("changed"))
        let signal = line.isTrue("erased") || changed != nil ? nil : line.text("data").flatMap { signals[$0] }
        if let sender, let from = signal.flatMap({ sending($0).from }), sender.text("connectionId") == id(from) {
            described.append((from, details(sender)))
        }
        return Passage.Message(
            line: line, seq: line.seq, signal: signal, changed: changed, user: sender?.text("user").map { user($0) })
    }

    /// nil if the line names nothing.
    mutating func erasure(_ line: WireLine) -> WireOrder.Erasure? {
        if let seq = line.position("ref") { return .message(seq) }
        if let seq = line.position("through") { return .through(seq) }
        return line.text("user").map { .user(user($0)) }
    }

    /// The action in a line: a request, or `moderated`.
    mutating func action(_ line: WireLine, by author: Name?) -> WireAction? {
        guard let kind = line.text("action").flatMap(WireAction.Kind.init) else { return nil }
        let target: WireAction.Target =
            if let user = line.text("user") {
                .user(self.user(user))
            } else if let connection = line.text("connectionId") {
                .connection(name(connection))
            } else if let ref = line.position("ref") {
                .action(ref)
            } else {
                .session
            }
        return WireAction(
            kind: kind, target: target, reason: line.text("reason"), erasesMessages: line.isTrue("eraseMessages"),
            by: author)
    }
}
