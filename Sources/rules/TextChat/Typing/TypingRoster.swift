import SignalingProtocol

/// The people who type in one room, as one connection sees them. Inputs go in; each returns the new snapshot if it
/// differs from the last.
///
/// - State is kept per connection and shown per person. A person with two connections is shown once, and disappears
///   when both have ended. Connections are of one person if the server says so (USR-1), or else if their names are
///   equal. The user is never shown, on any of their own connections (TYP-10).
/// - Each state lasts exactly for its expiry in the policy. A person disappears without any signal.
/// - A chat message ends the typing of its own connection, and of no other.
/// - A person who stops typing is shown for ``TypingPolicy/Settings/linger`` more, except after a message or a
///   departure.
///
/// **Late signals.** Signals of a connection are numbered, and the roster drops one whose number is not higher than the
/// last seen. A chat message may carry the number of the last typing signal that its sender had written by then
/// (TYP-5). A begin up to that number is older than the message and is dropped, however late it arrives. A begin above
/// that number is about the next message; this message does not end it. Messages without the number are handled
/// correctly only if they arrive in order: they end the typing that is shown, and a begin that they overtook is shown
/// until it expires. The roster remembers the number of a connection for ``TypingPolicy/Settings/beginExpiry`` after it
/// was last shown, so that it accepts a sender that starts counting anew.
///
/// **Large rooms.** In a room with more members than ``TypingPolicy/Settings/roomCap`` the roster shows only the
/// recipient: the connection to which this user's own signals are directed.
///
/// **Bounds.** A snapshot names at most ``TypingPolicy/Settings/typerLimit`` people and counts the rest. The roster
/// ignores connections beyond ``connectionLimit``.
public struct TypingRoster: Sendable {
    public let policy: TypingPolicy

    /// The maximum number of connections that the roster follows.
    public static let connectionLimit = 10_000

    /// The users who type now.
    public private(set) var current = TypingSnapshot.nobody

    private var records: [ConnectionID: Record] = [:]
    /// The connections on which each person types or pauses; no entry is empty.
    private var people: [TypingPerson: [ConnectionID]] = [:]
    private var display: TypingDisplay
    /// The next expiry, or a moment before it; nil when no user types or pauses.
    private var earliest: MonotonicInstant?

    private var ownConnection: ConnectionID?
    private var ownUser: UserID?
    private var blocked: Set<String> = []
    private var isHidden = false
    private var memberCount = 0
    private var recipient: ConnectionID?

    private struct Record {
        var person: TypingPerson
        var name: String?
        var state: State
        var lastN: Int64?

        enum State {
            /// Shown until then.
            case typing(until: MonotonicInstant)
            case paused(until: MonotonicInstant)
            /// Not shown; the roster remembers its number until then.
            case silent(until: MonotonicInstant)
            /// The connection is destroyed; its signals are ignored until then.
            case closed(until: MonotonicInstant)

            var until: MonotonicInstant {
                switch self {
                case .typing(let until), .paused(let until), .silent(let until), .closed(let until): until
                }
            }

            var isShown: Bool {
                switch self {
                case .typing, .paused: true
                case .silent, .closed: false
                }
            }
        }
    }

    public init(policy: TypingPolicy = .standard, ownConnection: ConnectionID? = nil, ownUser: UserID? = nil) {
        self.policy = policy
        self.ownConnection = ownConnection
        self.ownUser = ownUser
        display = TypingDisplay(policy: policy)
    }

    /// Returns the new snapshot if it differs from the last.
    public mutating func handle(_ input: TypingInput, now: MonotonicInstant) -> TypingSnapshot? {
        expire(now)
        switch input {
        case .signal(let signal, let from, let user, let userID): receive(signal, from, user, userID, now)
        case .messageReceived(let from, let typingN): end(from, typingN, now)
        case .connectionDestroyed(let id): close(id, now)
        case .connected(let id, let user):
            ownConnection = id
            ownUser = user
            clear()
        case .reconnecting, .disconnected: clear()
        case .blockedUsers(let users): block(users, now)
        case .optedOut(let value):
            isHidden = value && policy.isReciprocal
            if isHidden { clear() }
        case .memberCount(let count):
            let wasOverCap = isOverCap
            memberCount = count
            if isOverCap, !wasOverCap { clear(keeping: recipient, now) }
        case .recipient(let id):
            recipient = id
            if isOverCap { clear(keeping: id, now) }
        case .connectionLost, .draftEdited, .draftSet, .send, .messageSubmitted, .leave, .restricted, .publishFailed:
            break
        }
        return changed()
    }

    /// Performs everything that is due. Call it at ``nextDeadline`` or later.
    public mutating func advance(to now: MonotonicInstant) -> TypingSnapshot? {
        expire(now)
        return changed()
    }

    /// When to call ``advance(to:)`` next; nil: not before the next input. It is never later than the next expiry, but
    /// it may be earlier: then nothing happens, and the next deadline is later.
    public var nextDeadline: MonotonicInstant? {
        guard let shown = display.nextDeadline else { return earliest }
        return earliest.map { min($0, shown) } ?? shown
    }

    // MARK: Inputs

    private var isOverCap: Bool { policy.roomCap.map { memberCount > $0 } ?? false }

    /// Whether the roster follows this connection at all.
    private func follows(_ id: ConnectionID) -> Bool {
        id != ownConnection && !isHidden && (!isOverCap || id == recipient)
    }

    private mutating func receive(
        _ signal: TypingSignal, _ from: ConnectionID, _ user: String?, _ userID: UserID?, _ now: MonotonicInstant
    ) {
        guard follows(from), userID == nil || userID != ownUser else { return }
        let name = user.flatMap { $0.isEmpty ? nil : $0 }
        if [name, userID?.rawValue].contains(where: { $0.map(blocked.contains) ?? false }) { return }
        let person = TypingPerson(from, name: name, user: userID)
        var record: Record
        if let known = known(from, now) {
            record = known
            if case .closed = record.state { return }
            if let n = signal.n, let last = record.lastN, n <= last { return }
            // Only a typing signal names the person, and while the connection is shown its person stays the same.
            if !record.state.isShown { (record.person, record.name) = (person, name) }
        } else {
            guard makeSpace(now) else { return }
            record = Record(person: person, name: name, state: .silent(until: now))
        }
        record.lastN = signal.n ?? record.lastN
        switch signal.action {
        case .begin: record.state = .typing(until: now.advanced(by: policy.beginExpiry))
        case .pause: record.state = .paused(until: now.advanced(by: policy.pauseExpiry))
        case .finish: record.state = remembered(now)
        }
        put(record, from, name: name, isAtOnce: false, now)
    }

    private mutating func end(_ from: ConnectionID, _ typingN: Int64?, _ now: MonotonicInstant) {
        guard follows(from) else { return }
        // Even if the message carries an older number: a person who has stopped typing does not linger beside their
        // message.
        display.settle(from)
        guard var record = known(from, now) else {
            // The begin that this message ends may still arrive.
            guard let typingN, makeSpace(now) else { return }
            records[from] = Record(person: .connection(from), state: remembered(now), lastN: typingN)
            return
        }
        if case .closed = record.state { return }
        display.release(record.person)
        if let typingN {
            if let last = record.lastN, typingN < last { return }
            record.lastN = typingN
        }
        record.state = remembered(now)
        put(record, from, name: nil, isAtOnce: true, now)
    }

    private mutating func close(_ id: ConnectionID, _ now: MonotonicInstant) {
        guard follows(id) else { return }
        display.settle(id)
        guard known(id, now) != nil || makeSpace(now) else { return }
        var record = records[id] ?? Record(person: .connection(id), state: .silent(until: now))
        record.state = .closed(until: now.advanced(by: policy.beginExpiry))
        put(record, id, name: nil, isAtOnce: true, now)
    }

    private mutating func block(_ users: Set<String>, _ now: MonotonicInstant) {
        blocked = users
        for user in users {
            forget(.named(user), now)
            forget(.user(UserID(user)), now)
        }
        // A person whom the server names, and of whom the program knows the name.
        let named = people.filter { $0.value.contains { records[$0]?.name.map(users.contains) ?? false } }
        for person in named.keys { forget(person, now) }
    }

    private mutating func forget(_ person: TypingPerson, _ now: MonotonicInstant) {
        for id in people[person] ?? [] { records[id] = nil }
        update(person, isAtOnce: true, at: now)
        display.release(person)
    }

    private mutating func clear() {
        records = [:]
        people = [:]
        display.clear()
        earliest = nil
    }

    /// Forgets every connection but one.
    private mutating func clear(keeping id: ConnectionID?, _ now: MonotonicInstant) {
        let kept = id.flatMap { known($0, now) }
        clear()
        guard let id, let kept else { return }
        put(kept, id, name: kept.name, isAtOnce: false, now)
    }

    private func remembered(_ now: MonotonicInstant) -> Record.State {
        .silent(until: now.advanced(by: policy.beginExpiry))
    }

    private func known(_ id: ConnectionID, _ now: MonotonicInstant) -> Record? {
        records[id].flatMap { $0.state.until > now ? $0 : nil }
    }

    /// Whether the roster can follow one more connection. It drops remembered numbers, but no connection that is shown.
    private mutating func makeSpace(_ now: MonotonicInstant) -> Bool {
        if records.count < Self.connectionLimit { return true }
        records = records.filter { $0.value.state.until > now }
        if records.count < Self.connectionLimit { return true }
        records = records.filter { $0.value.state.isShown }
        return records.count < Self.connectionLimit
    }

    // MARK: Display

    private mutating func put(
        _ record: Record, _ id: ConnectionID, name: String?, isAtOnce: Bool, _ now: MonotonicInstant
    ) {
        records[id] = record
        if record.state.isShown {
            earliest = earliest.map { min($0, record.state.until) } ?? record.state.until
            if people[record.person]?.contains(id) != true { people[record.person, default: []].append(id) }
        }
        update(
            record.person, typer: TypingSnapshot.Typer(name: name, connectionId: id, user: record.person.user),
            isAtOnce: isAtOnce, at: now)
    }

    /// Shows a person by the states of their connections, from `moment` on.
    private mutating func update(
        _ key: TypingPerson, typer: TypingSnapshot.Typer? = nil, isAtOnce: Bool, at moment: MonotonicInstant
    ) {
        guard var connections = people[key], let typer = typer ?? connections.first.map(Self.unnamed) else { return }
        let ended = connections.filter { records[$0]?.state.isShown != true }
        connections.removeAll { ended.contains($0) }
        let isTyping = connections.contains { id in
            switch records[id]?.state {
            case .typing: true
            case .paused: policy.pausedCountsAsTyping
            case .silent, .closed, nil: false
            }
        }
        people[key] = connections.isEmpty ? nil : connections
        if people.isEmpty { earliest = nil }
        display.set(
            key, to: connections.isEmpty ? nil : isTyping ? .typing : .paused, typer: typer, ended: ended,
            isAtOnce: isAtOnce, at: moment)
    }

    private static func unnamed(_ id: ConnectionID) -> TypingSnapshot.Typer {
        TypingSnapshot.Typer(name: nil, connectionId: id)
    }

    private mutating func expire(_ now: MonotonicInstant) {
        if let earliest, earliest <= now {
            let over = records.filter { $0.value.state.until <= now }
            // Counted from the due moment of each, however late the timer.
            for (id, record) in over.sorted(by: { $0.value.state.until < $1.value.state.until }) {
                records[id] = nil
                update(record.person, isAtOnce: false, at: record.state.until)
            }
            self.earliest = records.values.lazy.filter(\.state.isShown).map(\.state.until).min()
        }
        display.advance(to: now)
    }

    private mutating func changed() -> TypingSnapshot? {
        guard let snapshot = display.change(from: current) else { return nil }
        current = snapshot
        return snapshot
    }
}
