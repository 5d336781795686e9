import SignalingProtocol

/// The connections that a program sees: each comes once, leaves once, sends only in between, and is away only in between
/// (G7, PRES-4).
struct ProgramView {
    private(set) var connections: Set<ConnectionID> = []
    private var away: Set<ConnectionID> = []

    /// - Parameter own: the present connection of the program.
    /// - Returns: what is wrong with the step.
    mutating func note(_ action: ProgramRecord.Action, _ own: ProgramRecord.Entry?) -> [String] {
        switch action {
        case .entered(let entry): if entry.outcome == .new, let others = entry.others { connections = Set(others) }
        case .created(let id, _):
            if !connections.insert(id).inserted { return ["received the creation of \(id) twice"] }
        case .destroyed(let id, _):
            away.remove(id)
            if connections.remove(id) == nil { return ["received the destruction of \(id), which was not in its list"] }
        case .received(let reception):
            if let from = reception.from, let own, from != own.connectionId, let seq = reception.seq,
                seq > own.replayThrough ?? .zero, !connections.contains(from)
            {
                return ["got \(reception.data) from \(from), which is not in its list"]
            }
        case .away(let id):
            if !away.insert(id).inserted { return ["heard twice that \(id) is away"] }
            if !connections.contains(id) { return ["heard that \(id) is away, which is not in its list"] }
        case .back(let id): if away.remove(id) == nil { return ["heard that \(id) is back, and not that it was away"] }
        case .ended: self = ProgramView()
        case .sent, .answered, .erased, .changed, .userJoined, .userLeft, .moderated, .reconnected: break
        }
        return []
    }
}

/// Online-only signals keep the order of their sender, among those of their type and behind what the log has (SIG-10).
struct OnlineOnlyOrder {
    /// Of each signal: the program that has sent it, and how many that had sent before.
    private var places: [Int32: (program: Int, number: Int)] = [:]
    /// The signals in the log that each program has sent to all, in its order.
    private var broadcasts: [[Int32]] = []

    private struct Sender {
        /// The place of the latest signal: by type and target, and among those of the log.
        var ofType: [String: Int] = [:]
        var ordered = -1
        /// How many of its broadcasts have been judged for this connection.
        var judgedCount = 0
    }

    private var senders: [Int: Sender] = [:]
    private var seen: Set<Int32> = []

    init(_ programs: [ProgramRecord], _ record: WireRecord) {
        for (index, program) in programs.enumerated() {
            var (sent, number) = ([Int32](), 0)
            for case .sent(let data) in program.steps.lazy.map(\.action) {
                number += 1
                guard let signal = record.signals[data] else { continue }
                places[signal] = (index, number)
                let sending = record.sending(signal)
                if sending.to == .all, !sending.isOnlineOnly { sent.append(signal) }
            }
            broadcasts.append(sent)
        }
    }

    /// A connection begins, which need not get what came before it.
    mutating func begin() { for program in senders.keys { senders[program]?.judgedCount = 0 } }

    /// - Returns: what is wrong with the reception of a signal.
    mutating func note(_ signal: Int32, _ life: ProgramJudge.Life, _ record: WireRecord) -> [String] {
        guard let (program, number) = places[signal] else { return [] }
        let sending = record.sending(signal)
        seen.insert(signal)
        var sender = senders[program] ?? Sender()
        defer { senders[program] = sender }
        guard sending.isOnlineOnly else {
            sender.ordered = max(sender.ordered, number)
            return []
        }
        var faults: [String] = []
        let key = "\(sending.type ?? "") to \(sending.to)"
        if let before = sender.ofType[key], before > number { faults.append("after a newer one") }
        sender.ofType[key] = number
        if sender.ordered > number { faults.append("after a signal that was sent later") }
        let sent = broadcasts[program]
        while sender.judgedCount < sent.count, places[sent[sender.judgedCount]].map({ $0.number < number }) == true {
            let earlier = sent[sender.judgedCount]
            let (seq, epoch) = (record.sending(earlier).seq, record.sending(earlier).epoch)
            sender.judgedCount += 1
            guard epoch == life.epoch, seq > life.start, !seen.contains(earlier), let order = record.order(epoch),
                let event = order[seq], !record.isErased(event, at: seq, in: order)
            else { continue }
            faults.append("before the signal at \(seq), which the log has before it")
        }
        return faults
    }
}

/// The users that a program has been told of, beside those of the connections in its list.
struct UserView {
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
    mutating func note(_ action: ProgramRecord.Action) -> String? {
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
        case .sent, .answered, .away, .back, .erased, .changed, .moderated: break
        }
        return nil
    }

    private mutating func enter(_ entry: ProgramRecord.Entry) {
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
