import SignalingProtocol

/// What has passed between the clients and the servers of a run: who sent what, who got what, and when.
///
/// It judges nothing. A judge sees each line of a server beside the record of everything before it, and at the end the
/// whole record. It shares no decoder with the product, and relies on nothing that a server reports about itself. It
/// keeps a few bytes for each event and delivery, so that it can hold millions of signals.
struct WireRecord: Sendable {
    typealias SocketNumber = WireJudge.SocketNumber
    typealias Name = WireOrder.Name
    typealias User = WireOrder.User

    var terms: WireJudge.Terms

    // MARK: Clients, connections and sessions

    private var ids = Numbering<String>()
    /// By bytes: Swift holds "é" and "e" with an accent for one, and two users may have these names (USR-1).
    private var userIDs = Numbering<[UInt8]>()
    var tokens = Numbering<String>()
    var actions = Numbering<WireAction>()
    var restrictions = Numbering<WireRestriction>()
    var changes = Numbering<WireChange>()
    var tellings = Numbering<WireReactions>()
    /// The number of each signal, by its data.
    var signals: [String: Int32] = [:]
    var sendings: [Sending] = []
    /// As the first line with the connection told them.
    var details: [Name: Details] = [:]
    var claims: [String: TokenClaims] = [:]

    // MARK: What has passed

    var sockets: [SocketNumber: Socket] = [:]
    var connections: [Name: Connection] = [:]
    /// The connections that a client asked to disconnect, or whose departure has the reason `forceDisconnected`.
    var forceTargets: Set<Name> = []
    /// Those that a request has asked to disconnect.
    var forceRequests: Set<Name> = []
    /// The actions that moderators and backends have asked for.
    var asked: [AskedAction] = []
    /// The numbers of the requests of clients. A request that is repeated after a resume is the same (RES-9).
    var askedNumbers: [AskedAction.Key: Int] = [:]
    /// The edits and erasures that clients have asked for, and the numbers of their requests.
    var askedChanges: [AskedChange] = []
    var changeNumbers: [AskedAction.Key: Int] = [:]
    /// The requests of clients to react, with their numbers, and how many requests and answers there were.
    var askedReactions: [AskedReaction] = []
    var reactNumbers: [AskedAction.Key: Int] = [:]
    var reactionSteps = 0
    /// Whether the record has all reactions of the sessions.
    var knowsReactions = true
    /// After how many of them the erasure of a user's messages was first asked for.
    var userErasures: [User: Int] = [:]
    /// The greatest marker that a client of the user has asked for.
    var marks: [User: Int] = [:]
    /// Where the senders of online-only signals without an answer were when they sent them.
    var senders: [Int32: (epoch: Int32, position: Int)] = [:]

    // MARK: What the sessions are

    /// By the number of the epoch.
    var orders: [WireOrder] = []
    var epochNumbers: [String: Int32] = [:]
    /// The epoch of each session, while the server is known to keep it.
    var currentEpochs: [String: Int32] = [:]
    var retiredEpochs: Set<Int32> = []
    var histories: [String: WireHistory] = [:]

    // MARK: What was done to the server

    /// When the present server was ready.
    var startedAt = MonotonicInstant.unknown
    /// When the history was removed under a server that runs.
    var historyRemovedAt: MonotonicInstant?
    /// When an older copy took the place of the files.
    var copyPutBackAt: MonotonicInstant?

    init(terms: WireJudge.Terms) { self.terms = terms }

    mutating func name(_ id: String) -> Name { ids.number(of: id) }
    func knownName(_ id: String) -> Name? { ids.known(id) }
    func id(_ name: Name) -> String { ids[name] }

    mutating func user(_ id: String) -> User { userIDs.number(of: Array(id.utf8)) }
    func knownUser(_ id: String) -> User? { userIDs.known(Array(id.utf8)) }
    func userID(_ user: User) -> String { String(decoding: userIDs[user], as: UTF8.self) }
}

// MARK: - What it knows

extension WireRecord {
    func sending(_ signal: Int32) -> Sending { sendings[Int(signal)] }

    /// nil before a socket has an epoch. An epoch that a line has just begun has no events yet.
    func order(_ epoch: Int32) -> WireOrder? {
        if orders.indices.contains(Int(epoch)) { return orders[Int(epoch)] }
        return Int(epoch) == orders.count ? WireOrder(session: "") : nil
    }

    /// The number of an epoch that the wire has shown.
    func knownEpoch(_ text: String, of session: String) -> Int32? { epochNumbers["\(session) \(text)"] }

    /// Whether the server still keeps the order of this epoch.
    func isKept(_ epoch: Int32) -> Bool { !retiredEpochs.contains(epoch) }

    /// The epoch of the session that ends with this line, although the server is known to have kept its sessions.
    func epochEnded(by passage: Passage) -> Int32? {
        guard case .connected(_, _, isNewEpoch: true) = passage.kind else { return nil }
        return currentEpochs[passage.session].flatMap { isKept($0) ? $0 : nil }
    }

    /// A session's epoch may end only when no connection is left to which a client could come back.
    func isNeeded(_ epoch: Int32) -> Bool {
        connections.values.contains { $0.epoch == epoch && $0.end == nil && $0.lostAt == nil }
    }

    /// Whether the event is erased. The server then no longer owes it to anybody.
    func isErased(_ event: WireOrder.Event, at seq: Int, in order: WireOrder) -> Bool {
        // With a user's keys go all lines that may have them (CHG-15).
        if case .told = event, order.erasesUser(behind: seq) { return true }
        guard let (message, author) = content(of: event, at: seq) else { return false }
        return order.isErased(message, behind: seq, of: user(of: author))
    }

    /// Whether the event is erased, perhaps by a backend, so that no client has heard of it.
    func mayBeErased(_ event: WireOrder.Event, at seq: Int, in epoch: Int32) -> Bool {
        guard let (message, author) = content(of: event, at: seq), let order = order(epoch) else { return false }
        return order.isErased(message, behind: seq, of: user(of: author))
            || mayBeErased(message, of: user(of: author), in: order.session)
    }

    /// Whether a message is erased, perhaps by somebody who got no answer.
    ///
    /// - Parameter user: of its sender, if no client has got it.
    func mayBeErased(_ message: Int, of user: User? = nil, in session: String) -> Bool {
        histories[session]?.mayBeErased(message, of: user) == true
            || askedChanges.contains {
                $0.edit == nil && $0.message == message && !$0.isRefused && $0.session == session
            }
    }

    var socketsInOrder: [(key: SocketNumber, value: Socket)] { sockets.sorted { $0.key < $1.key } }
    var connectionsInOrder: [(key: Name, value: Connection)] { connections.sorted { $0.key < $1.key } }

    // MARK: - Persons

    func reader(_ socket: Socket) -> WireOrder.Reader? {
        socket.connection.map { name in
            WireOrder.Reader(name: name, suppressesPresence: socket.suppressesPresence, person: person(name))
        }
    }

    /// The client of a connection.
    func person(_ name: Name) -> WireRestrictions.Person {
        WireRestrictions.Person(subject: subject(of: name), isModerator: connections[name]?.isModerator ?? false)
    }

    /// The client of a connect that has no answer yet.
    func person(asking socket: Socket) -> WireRestrictions.Person {
        guard let claims = socket.claims else { return WireRestrictions.Person(subject: nil, isModerator: false) }
        return WireRestrictions.Person(
            subject: claims.user.map { .user($0) } ?? .token(socket.token), isModerator: claims.role == "moderator")
    }

    /// Whom a restriction of a connection concerns: its user, or all guests with its token (MOD-1).
    private func subject(of name: Name) -> WireRestrictions.Subject? {
        if let user = details[name]?.user { return .user(user) }
        return connections[name].map { .token($0.token) }
    }

    /// nil for the ref of an action, and for a connection that the record does not know.
    func subject(of target: WireAction.Target) -> WireRestrictions.Subject? {
        switch target {
        case .user(let user): .user(user)
        case .connection(let name): subject(of: name)
        case .session: .session
        case .action: nil
        }
    }

    /// Whom `restricted` or `unrestricted` is meant for: whom the action directly before it concerns. nil if it is not
    /// known, and for other events.
    func audience(of event: WireOrder.Event, at seq: Int, in order: WireOrder) -> WireRestrictions.Subject? {
        switch event {
        case .restricted, .unrestricted: break
        case .signal, .created, .destroyed, .erased, .changed, .told, .moderated: return nil
        }
        guard let action = order.actions[seq - 1]?.action else { return nil }
        if case .action(let ref) = action.target { return order.actions[ref].flatMap { subject(of: $0.action.target) } }
        return subject(of: action.target)
    }

    /// The actions in a session whose answer nobody knows. They may have been carried out.
    func unanswered(in session: String) -> [AskedAction] {
        asked.filter { $0.fate == .unknown && $0.session == session }
    }

    // MARK: - For people

    func text(_ event: WireOrder.Event) -> String {
        switch event {
        case .moderated(let number):
            let action = actions[number]
            return "the action \(action.kind) \(text(action.target)) by \(action.by.map(id) ?? "REST")"
        case .restricted(let number): return "restricted by a \(restrictions[number].kind)"
        case .unrestricted(let kind): return "the end of a \(kind)"
        case .erased(.user(let user)): return "the erasure of the messages of \(userID(user))"
        case .changed(let number):
            let change = changes[number]
            return "the edit \(change.content.data ?? "") of the message at \(change.message)"
        case .told(let number, let isOwn):
            let told = tellings[number]
            return "\(isOwn ? "own " : "")reactions \(told.text) to the message at \(told.message)"
        case .signal, .created, .destroyed, .erased: return "\(event)"
        }
    }

    private func text(_ target: WireAction.Target) -> String {
        switch target {
        case .user(let user): "of \(userID(user))"
        case .connection(let name): "of \(id(name))"
        case .action(let seq): "of the action at \(seq)"
        case .session: "of the session"
        }
    }
}
