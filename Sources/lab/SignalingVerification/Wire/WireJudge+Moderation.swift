import SignalingProtocol

/// The lines of moderation, and what they say for the verdict (section 18 of `docs/PROTOCOL.md`).
extension WireJudge {
    typealias User = WireOrder.User

    /// What is known of users, actions and their effects beside the orders.
    struct ModerationNotes: Sendable {
        /// A request of a moderator or a backend for an action.
        struct Asked: Sendable {
            enum Fate: Sendable { case unknown, carriedOut, refused }

            var session: String
            var action: WireAction
            var seconds: Int64?
            var askedAt: MonotonicInstant
            var fate = Fate.unknown
        }

        /// A refusal because of a restriction.
        struct Refusal: Sendable {
            var session: String
            /// Of the client, for the report.
            var client: String
            var person: WireRestrictions.Person
            var kind: WireRestriction.Kind
            /// When the request first passed, and when its answer did.
            var askedAt: MonotonicInstant
            var at: MonotonicInstant
            /// For an online-only signal: what its sender had got when it sent the signal. Its node refuses it at once, by
            /// what it knows itself, and another node may be ahead (MOD-4).
            var position: Int?
        }

        /// An online-only signal that passed to a client, or whose acknowledgement passed to its sender.
        struct OnlineOnly: Sendable {
            var signal: Int32
            var epoch: Int32
            /// What the receiver, or the sender when it sent the signal, had got before.
            var position: Int
            var at: MonotonicInstant
            var isDelivery: Bool
        }

        var users: [String] = []
        /// By bytes: Swift holds "é" and "e" with an accent for one, and two users may have these names (USR-1).
        private var userNumbers: [[UInt8]: User] = [:]
        private var tokenNumbers: [String: Int32] = [:]
        private(set) var actions: [WireAction] = []
        private var actionNumbers: [WireAction: Int32] = [:]
        private(set) var restrictions: [WireRestriction] = []
        private var restrictionNumbers: [WireRestriction: Int32] = [:]
        var asked: [Asked] = []
        /// The numbers of the requests of clients. A request that is repeated after a resume is the same (RES-9).
        var requests: [Request: Int] = [:]
        var refusals: [Refusal] = []
        /// Where the senders of online-only signals without an answer were when they sent them.
        var senders: [Int32: (epoch: Int32, position: Int)] = [:]
        var onlineOnly: [OnlineOnly] = []

        struct Request: Hashable, Sendable {
            var connection: Name
            var id: Int64
        }

        mutating func number(ofUser id: String) -> User {
            let bytes = Array(id.utf8)
            if let number = userNumbers[bytes] { return number }
            let number = User(users.count)
            users.append(id)
            userNumbers[bytes] = number
            return number
        }

        mutating func number(ofToken token: String) -> Int32 {
            if let number = tokenNumbers[token] { return number }
            let number = Int32(tokenNumbers.count)
            tokenNumbers[token] = number
            return number
        }

        mutating func number(of action: WireAction) -> Int32 { number(action, &actions, &actionNumbers) }
        mutating func number(of restriction: WireRestriction) -> Int32 {
            number(restriction, &restrictions, &restrictionNumbers)
        }

        private func number<Value: Hashable>(
            _ value: Value, _ values: inout [Value], _ numbers: inout [Value: Int32]
        ) -> Int32 {
            if let number = numbers[value] { return number }
            let number = Int32(values.count)
            values.append(value)
            numbers[value] = number
            return number
        }
    }

    /// The number of a user id.
    mutating func user(_ id: String) -> User { moderation.number(ofUser: id) }

    func reader(_ number: SocketNumber) -> WireOrder.Reader? {
        guard let socket = sockets[number], let name = socket.connection else { return nil }
        return WireOrder.Reader(name: name, suppressesPresence: socket.suppressesPresence, person: person(name))
    }

    /// The client of a connection.
    func person(_ name: Name) -> WireRestrictions.Person {
        WireRestrictions.Person(subject: subject(of: name), isModerator: connections[name]?.isModerator ?? false)
    }

    /// Whom a restriction of a connection concerns: its user, or all guests with its token (MOD-1).
    private func subject(of name: Name) -> WireRestrictions.Subject? {
        if let user = details[name]?.user { return .user(user) }
        return connections[name].map { .token($0.token) }
    }

    /// nil for the ref of an action, and for a connection that the judge does not know.
    func subject(of target: WireAction.Target) -> WireRestrictions.Subject? {
        switch target {
        case .user(let user): .user(user)
        case .connection(let name): subject(of: name)
        case .session: .session
        case .action: nil
        }
    }

    // MARK: - Requests

    /// The action in a line: a request, or `moderated`.
    private mutating func action(_ line: WireLine, by author: Name?) -> WireAction? {
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

    /// - Returns: the number of the request.
    mutating func noteModerate(
        _ line: WireLine, _ id: Int64, on number: SocketNumber, at now: MonotonicInstant
    ) -> Int? {
        guard let socket = sockets[number], let author = socket.connection, let action = action(line, by: author)
        else { return nil }
        let request = ModerationNotes.Request(connection: author, id: id)
        if let known = moderation.requests[request] { return known }
        moderation.requests[request] = moderation.asked.count
        return noteAsked(action, line.number("seconds"), in: socket.session, at: now)
    }

    private mutating func noteAsked(
        _ action: WireAction, _ seconds: Int64?, in session: String, at now: MonotonicInstant
    ) -> Int {
        moderation.asked.append(
            ModerationNotes.Asked(session: session, action: action, seconds: seconds, askedAt: now))
        if action.erasesMessages, case .user(let user)? = subject(of: action.target) {
            histories[session, default: WireHistory()].noteByREST(.user(user))
        }
        return moderation.asked.count - 1
    }

    /// A backend asks for an action (MOD-7).
    ///
    /// - Parameter body: the JSON of the request.
    /// - Returns: the number of the request for ``moderatedByREST(_:seq:at:)``; nil for a body that names no action.
    public mutating func asksByREST(_ body: String, in session: String, at now: MonotonicInstant) -> Int? {
        guard let line = WireLine(body.utf8), let action = action(line, by: nil) else { return nil }
        return noteAsked(action, line.number("seconds"), in: session, at: now)
    }

    /// The answer to a backend that has asked for an action: its seq, or nil for a refusal. Without an answer, call
    /// nothing: the action may have been carried out.
    public mutating func moderatedByREST(_ request: Int, seq: Int?, at now: MonotonicInstant) {
        guard let seq else { return moderation.asked[request].fate = .refused }
        guard let epoch = currentEpoch(of: moderation.asked[request].session) else { return }
        noteCarriedOut(request, at: seq, of: epoch, now)
    }

    mutating func noteModerateAnswer(
        _ line: WireLine, to asked: Int, isAck: Bool, on number: SocketNumber, at now: MonotonicInstant
    ) {
        guard let socket = sockets[number] else { return }
        guard isAck, let seq = line.seq else {
            // A server that has forgotten the answer may have carried it out (RES-9).
            if line.number("code") != 1015 { moderation.asked[asked].fate = .refused }
            return
        }
        if !socket.isModerator, let name = socket.connection {
            report(.g8, .wrong, "\(id(name)) is no moderator, and got an ack for an action (MOD-1)")
        }
        noteCarriedOut(asked, at: seq, of: socket.epoch, now)
    }

    private mutating func noteCarriedOut(_ asked: Int, at seq: Int, of epoch: Int32, _ now: MonotonicInstant) {
        guard orders.indices.contains(Int(epoch)), orders[Int(epoch)].canHave(seq) else { return }
        let request = moderation.asked[asked]
        note(.moderated(moderation.number(of: request.action)), at: seq, 0, epoch, now)
        resolve(asked, at: seq, of: epoch, now)
        orders[Int(epoch)].noteAction(at: seq, noted(request.action, seq, now)) { $0.acknowledgedAt = now }
    }

    private func noted(_ action: WireAction, _ seq: Int, _ now: MonotonicInstant) -> WireOrder.NotedAction {
        WireOrder.NotedAction(seq: seq, action: action, seenAt: now)
    }

    /// A request was carried out at a seq.
    private mutating func resolve(_ asked: Int, at seq: Int, of epoch: Int32, _ now: MonotonicInstant) {
        let request = moderation.asked[asked]
        moderation.asked[asked].fate = .carriedOut
        orders[Int(epoch)].noteAction(at: seq, noted(request.action, seq, now)) { action in
            action.askedAt = request.askedAt
            guard let seconds = request.seconds else { return }
            // The session counts from its own command, which may come later than the clock that `until` is told by.
            action.latestCount = action.seenAt.advanced(by: .seconds(seconds))
            if action.until == nil { action.earliestEnd = request.askedAt.advanced(by: .seconds(seconds)) }
        }
    }

    // MARK: - Events

    /// `moderated`, `restricted` and `unrestricted`.
    mutating func moderationEvent(
        _ line: WireLine, on number: SocketNumber, at now: MonotonicInstant
    ) -> WireOrder.Event? {
        guard let connection = sockets[number]?.connection else { return nil }
        if line.ev == "moderated" { return noteModerated(line, on: number, at: now) }
        if line.member("by") != nil {
            report(.g8, .wrong, "\(id(connection)) was told who has restricted it (MOD-5)")
        }
        if line.ev == "unrestricted" {
            return line.text("kind").flatMap(WireRestriction.Kind.init).map { .unrestricted($0) }
        }
        return WireRestriction(line).map { .restricted(moderation.number(of: $0)) }
    }

    private mutating func noteModerated(
        _ line: WireLine, on number: SocketNumber, at now: MonotonicInstant
    ) -> WireOrder.Event? {
        guard let socket = sockets[number], let seq = line.seq, orders[Int(socket.epoch)].canHave(seq) else {
            return nil
        }
        let author = line.member("by")
        guard let action = action(line, by: author?.text("connectionId").map { name($0) }) else { return nil }
        if let author, let name = action.by, let known = details[name],
            author.text("user").map({ user($0) }) != known.user
        {
            report(.g8, .wrong, "the author \(id(name)) of the action at \(seq) was told with another user (MOD-6)")
        }
        if orders[Int(socket.epoch)].actions[seq]?.askedAt ?? .unknown == .unknown,
            let asked = moderation.asked.lastIndex(where: {
                $0.fate == .unknown && $0.session == socket.session && $0.action == action
            })
        {
            resolve(asked, at: seq, of: socket.epoch, now)
        }
        let until = line.number("until")
        let end = end(until)
        orders[Int(socket.epoch)].noteAction(at: seq, noted(action, seq, now)) { action in
            action.until = until
            (action.earliestEnd, action.told) = (end.earliest ?? action.seenAt, end.latest ?? .never)
        }
        return .moderated(moderation.number(of: action))
    }

    /// When a restriction ends by itself: nil for a moment that is not known.
    private func end(_ until: Int64?) -> (earliest: MonotonicInstant?, latest: MonotonicInstant?) {
        guard let until else { return (.never, .never) }
        guard let zero = terms.wallTimeAtZero else { return (nil, nil) }
        let moment = MonotonicInstant(nanoseconds: (until - zero.milliseconds) * 1_000_000)
        return (moment, moment)
    }

    // MARK: - What is refused, and what has no seq

    private static let refusalInterval = Duration.milliseconds(20)

    /// An error because of a restriction (MOD-3, MOD-4).
    mutating func noteRefusal(
        _ line: WireLine, of request: Request, on number: SocketNumber, at now: MonotonicInstant
    ) {
        guard let socket = sockets[number], let code = line.number("code") else { return }
        let client = socket.connection.map { "\(id($0))" } ?? "socket \(number)"
        let restriction = line.member("restriction").flatMap { WireRestriction($0) }
        let kinds: Set<WireRestriction.Kind>
        var askedAt = socket.askedAt
        var isRepeated = false
        var position: Int?
        switch (request.op, code) {
        case ("connect", 1570): kinds = [.ban]
        case ("signal", 403) where socket.claims?.role != "publisheronly":
            kinds = [.mute, .freeze]
            if let signal = request.signal {
                askedAt = sendings[Int(signal)].sentAt
                isRepeated = sendings[Int(signal)].socket != number
                position = moderation.senders.removeValue(forKey: signal)?.position
            }
            // Of a repeated request, the server repeats the code and the name of the error only (RES-9). The moments
            // prove nothing: the server may read what the old socket carried after the new one has opened.
            if restriction == nil, isRepeated { return }
        default: return
        }
        guard let restriction, kinds.contains(restriction.kind),
            (restriction.until == nil) == (line.number("retryAfter") == nil)
        else {
            return report(.m1, .wrong, "\(client) got the error \(code) without its restriction and its end (ERR-1)")
        }
        let person = socket.connection.map(person) ?? person(of: socket)
        // A client that goes on although it may not signal gets thousands of refusals. A sample says as much.
        if let last = moderation.refusals.last(where: { $0.client == client && $0.kind == restriction.kind }),
            now.duration(since: last.at) < Self.refusalInterval
        {
            return
        }
        moderation.refusals.append(
            ModerationNotes.Refusal(
                session: socket.session, client: client, person: person, kind: restriction.kind, askedAt: askedAt,
                at: now, position: position))
    }

    /// The client of a connect that has no answer yet.
    func person(of socket: Socket) -> WireRestrictions.Person {
        guard let claims = socket.claims else { return WireRestrictions.Person(subject: nil, isModerator: false) }
        return WireRestrictions.Person(
            subject: claims.user.map { .user($0) } ?? .token(socket.token), isModerator: claims.role == "moderator")
    }

    mutating func noteOnlineOnlyRequest(_ signal: Int32, on number: SocketNumber) {
        guard let socket = sockets[number], moderation.senders[signal] == nil else { return }
        moderation.senders[signal] = (socket.epoch, socket.position)
    }

    mutating func noteOnlineOnlyAck(_ signal: Int32, at now: MonotonicInstant) {
        guard let sender = moderation.senders.removeValue(forKey: signal) else { return }
        moderation.onlineOnly.append(
            ModerationNotes.OnlineOnly(
                signal: signal, epoch: sender.epoch, position: sender.position, at: now, isDelivery: false))
    }

    mutating func noteOnlineOnlyDelivery(_ signal: Int32, on number: SocketNumber, at now: MonotonicInstant) {
        guard let socket = sockets[number] else { return }
        moderation.onlineOnly.append(
            ModerationNotes.OnlineOnly(
                signal: signal, epoch: socket.epoch, position: socket.position, at: now, isDelivery: true))
    }

    // MARK: - For people

    func text(_ event: WireOrder.Event) -> String {
        switch event {
        case .moderated(let number):
            let action = moderation.actions[Int(number)]
            return "the action \(action.kind) \(text(action.target)) by \(action.by.map(id) ?? "REST")"
        case .restricted(let number): return "restricted by a \(moderation.restrictions[Int(number)].kind)"
        case .unrestricted(let kind): return "the end of a \(kind)"
        case .erased(.user(let user)): return "the erasure of the messages of \(moderation.users[Int(user)])"
        case .signal, .created, .destroyed, .erased: return "\(event)"
        }
    }

    private func text(_ target: WireAction.Target) -> String {
        switch target {
        case .user(let user): "of \(moderation.users[Int(user)])"
        case .connection(let name): "of \(id(name))"
        case .action(let seq): "of the action at \(seq)"
        case .session: "of the session"
        }
    }
}

extension MonotonicInstant {
    /// Before everything that passes.
    static let unknown = MonotonicInstant(nanoseconds: .min)
}
