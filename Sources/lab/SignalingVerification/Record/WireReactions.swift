import SignalingProtocol

/// What an event or a page says of the reactions to a message (CHG-12, CHG-13).
struct WireReactions: Hashable, Sendable {
    /// By bytes: two keys may be the same text for Swift.
    typealias Key = [UInt8]

    struct Count: Hashable, Sendable {
        var key: Key
        var count: Int64
    }

    /// The seq of the message.
    var message: Int
    var counts: [Count] = []
    /// What one user has chosen, in `reacted`; nil for counts.
    var own: Set<Key>?

    /// The counts of a message.
    init(_ message: Int, in line: WireLine) {
        self.message = message
        counts = (line.list("reactions") ?? []).map {
            Count(key: Array(($0.text("key") ?? "").utf8), count: $0.number("count") ?? 0)
        }
    }

    /// What one user has chosen: a request, `reacted`, or an element of `mine`.
    init?(own line: WireLine) {
        guard let message = line.position("ref"), let keys = line.texts("keys") else { return nil }
        (self.message, own) = (message, Set(keys.map { Array($0.utf8) }))
    }

    var isWellFormed: Bool { counts.allSatisfy { $0.count > 0 } && Set(counts.map(\.key)).count == counts.count }

    func count(of key: Key) -> Int64 { counts.first { $0.key == key }?.count ?? 0 }

    var text: String {
        counts.map { "\(String(decoding: $0.key, as: UTF8.self)) \($0.count)" }.joined(separator: ", ")
    }
}

extension WireRecord {
    /// A user's request to react.
    struct AskedReaction: Sendable {
        enum Fate: Sendable { case unknown, carriedOut, refused }

        var session: String
        var by: Name
        /// nil for a guest.
        var user: User?
        var chosen: WireReactions
        var socket: SocketNumber
        /// Of its client.
        var position: Int
        /// Its place among all requests and answers of this kind.
        var asked: Int
        var answered = Int.max
        var fate = Fate.unknown
    }

    /// The number of the request. One that is repeated after a resume is the same (CHG-11).
    mutating func noteReact(_ line: WireLine, _ id: Int64, on number: SocketNumber) -> Int? {
        guard let socket = sockets[number], let by = socket.connection, let chosen = WireReactions(own: line) else {
            return nil
        }
        let key = AskedAction.Key(connection: by, id: id)
        if let known = reactNumbers[key] { return known }
        reactNumbers[key] = askedReactions.count
        reactionSteps += 1
        askedReactions.append(
            AskedReaction(
                session: socket.session, by: by, user: user(of: by), chosen: chosen, socket: number,
                position: socket.position, asked: reactionSteps))
        return askedReactions.count - 1
    }

    mutating func noteAnswer(toReact index: Int, code: Int64?, _ passage: Passage) {
        reactionSteps += 1
        // Where a repeated request is refused, the first one may have been carried out (RES-9).
        let isRefused = code.map { [400, 403, 404, 413, 429].contains($0) } ?? false
        if code != nil, !isRefused || askedReactions[index].socket != passage.number { return }
        askedReactions[index].fate = code == nil ? .carriedOut : .refused
        askedReactions[index].answered = reactionSteps
    }

    /// What each user may have chosen for a message in the end (CHG-11).
    func choices(for message: Int, in session: String) -> [[Set<WireReactions.Key>]] {
        let all = askedReactions.filter {
            $0.session == session && $0.chosen.message == message && $0.user != nil && $0.fate != .refused
        }
        return Dictionary(grouping: all) { $0.user ?? -1 }.values.map { asked in
            let last = asked.filter { each in
                !asked.contains { other in
                    other.fate == .carriedOut
                        && (other.asked > each.answered || other.by == each.by && other.asked > each.asked)
                }
            }
            var choices = last.compactMap(\.chosen.own)
            let erasedAt = asked[0].user.flatMap { erasure(of: $0, in: session) }
            if let erasedAt { choices = last.filter { $0.answered > erasedAt }.compactMap(\.chosen.own) }
            let isSure = erasedAt == nil && asked.contains { $0.fate == .carriedOut }
            return isSure ? choices : choices + [[]]
        }
    }

    /// What was answered before this is certainly gone; nil if the user was not erased.
    private func erasure(of user: User, in session: String) -> Int? {
        guard let history = histories[session], history.mayErase(user) else { return nil }
        let isSeen = history.erasures.contains { $0.erasure == .user(user) }
        return isSeen ? userErasures[user] ?? 0 : 0
    }

    /// Whether counts have a key that of all users only one has chosen that was erased behind them.
    func hasErasedKey(_ told: WireReactions, at seq: Int, before moment: MonotonicInstant, in session: String) -> Bool {
        guard let history = histories[session] else { return false }
        let asked = askedReactions.filter { $0.session == session && $0.chosen.message == told.message }
        return history.erasures.contains { erasedAt, erasure, seenAt in
            guard case .user(let user) = erasure, erasedAt > seq, seenAt < moment else { return false }
            return told.counts.contains { count in
                let users = asked.filter { $0.chosen.own?.contains(count.key) == true }.map(\.user)
                return !users.isEmpty && users.allSatisfy { $0 == user }
            }
        }
    }
}
