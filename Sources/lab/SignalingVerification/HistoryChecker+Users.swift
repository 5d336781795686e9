import SignalingProtocol

/// The users that a client reports to its program (USR-3), and what follows an action in the order (M1).
extension HistoryChecker {
    /// From the application's view, a user joins and leaves once, and only with a connection.
    mutating func checkUsers(_ record: History.Client, isOpen: Bool) {
        // Without presence a client knows its own connection alone.
        if record.suppressesPresence { return }
        var view = UserView(users: record.users)
        for step in record.steps {
            if let fault = view.note(step.action) { report(.g7, "\(record.name) \(fault) (USR-3)") }
        }
        if history.isSettled, isOpen, let fault = view.difference { report(.g7, "\(record.name) \(fault) (USR-3)") }
    }

    /// Nothing of a banned user follows the ban, and no signal of a muted one the mute. A record has no clock that says
    /// when a restriction ends by itself, and without the server's log it may lack the action that lifts one: the judge of
    /// the wire knows both.
    mutating func checkModeration() {
        for (epoch, order) in orders where history.logs[epoch] != nil {
            var (muted, banned): ([UserID: Seq], [UserID: Seq]) = ([:], [:])
            for seq in order.keys.sorted() {
                switch order[seq] {
                case .moderated(let event):
                    switch event.action {
                    case .mute(let subject, _):
                        if let user = user(subject) { muted[user] = event.until == nil ? seq : nil }
                    case .ban(let subject, _, _):
                        if let user = user(subject) { banned[user] = event.until == nil ? seq : nil }
                    case .unmute(.user(let user)): muted[user] = nil
                    case .unban(.user(let user)): banned[user] = nil
                    case .unmute(.ref(let ref)): muted = muted.filter { $0.value != ref }
                    case .unban(.ref(let ref)): banned = banned.filter { $0.value != ref }
                    case .freeze, .unfreeze: break
                    }
                case .created(let id):
                    if let user = users[id], let ban = banned[user] {
                        report(.m1, "\(id) of \(user) joined at \(seq) of \(epoch), banned since \(ban) (MOD-3)")
                    }
                case .signal(let from?, let data, _):
                    if let user = users[from], let action = banned[user] ?? muted[user] {
                        report(.m1, "\(data) of \(user) is at \(seq) of \(epoch), behind the action at \(action)")
                    }
                case .signal(nil, _, _), .destroyed, .erased, .restricted, .unrestricted, nil: break
                }
            }
        }
    }

    private func user(_ subject: ModerationRequest.Subject) -> UserID? {
        switch subject {
        case .user(let user): user
        case .connection(let id): users[id]
        }
    }
}

/// The users that a program has been told of, beside those of the connections in its list.
private struct UserView {
    private let users: [ConnectionID: UserID]
    private var own: ConnectionID?
    private var connections: Set<ConnectionID> = []
    /// How many of the connections each user has.
    private var counts: [UserID: Int] = [:]
    private var told: Set<UserID> = []
    /// Users that are told and have no connection, or have one and are not told.
    private var untrue: Set<UserID> = []
    /// Users before and after a time without a socket, until the program knows what has changed.
    private var kept: Set<UserID>?

    init(users: [ConnectionID: UserID]) { self.users = users }

    /// What the program is told that is not so.
    var difference: String? {
        untrue.min().map {
            "is told \(told.contains($0) ? "of" : "nothing of") \($0), who has \(counts[$0] ?? 0) connections"
        }
    }

    /// - Returns: what is wrong with the step.
    mutating func note(_ action: History.Action) -> String? {
        switch action {
        case .entered(let entry): enter(entry)
        case .created(let id, _): add(id)
        case .destroyed(let id, _): remove(id)
        case .userJoined(let user):
            if kept?.contains(user) == true { return "heard that \(user) joined, who was there before" }
            if !told.insert(user).inserted { return "heard twice that \(user) joined" }
            compare(user)
            if untrue.contains(user) { return "heard that \(user) joined, who has no connection" }
        case .userLeft(let user):
            if kept?.contains(user) == true { return "heard that \(user) left, who is still there" }
            if told.remove(user) == nil { return "heard that \(user) left, who was not there" }
            compare(user)
            if untrue.contains(user) { return "heard that \(user) left, who has a connection" }
        case .reconnected:
            kept = nil
            return difference
        case .received: return kept == nil ? difference : nil
        case .ended: self = UserView(users: users)
        case .opening, .sent, .answered, .away, .back, .erased, .moderated: break
        }
        return nil
    }

    private mutating func enter(_ entry: History.Entry) {
        guard let others = entry.others else { return }
        let isNew = entry.outcome == .new
        if isNew {
            self = UserView(users: users)
            for id in others { add(id) }
        } else {
            let now = Set((others + [entry.connectionId]).compactMap { users[$0] })
            kept = Set(counts.keys).intersection(now)
        }
        // The own connection is another one, and its user the same.
        add(entry.connectionId)
        if let own, own != entry.connectionId { remove(own) }
        own = entry.connectionId
        if isNew {
            told = Set(counts.keys)
            untrue = []
        }
    }

    private mutating func add(_ id: ConnectionID) {
        guard connections.insert(id).inserted, let user = users[id] else { return }
        counts[user, default: 0] += 1
        compare(user)
    }

    private mutating func remove(_ id: ConnectionID) {
        guard connections.remove(id) != nil, let user = users[id] else { return }
        counts[user] = counts[user].flatMap { $0 > 1 ? $0 - 1 : nil }
        compare(user)
    }

    private mutating func compare(_ user: UserID) {
        if told.contains(user) == (counts[user] != nil) { untrue.remove(user) } else { untrue.insert(user) }
    }
}
