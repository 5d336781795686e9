import SignalingProtocol

/// Who is typing in one room, as one connection sees it. Signals and events of others go in; what is to be shown comes out,
/// whenever it has changed, and never else.
///
/// - Kept per connection, shown per person: a person on two connections is one, and gone when both are.
/// - Each state lasts its policy's expiry, to the instant. Nothing has to arrive for somebody to vanish.
/// - A chat message from a connection ends that connection's typing, and nobody else's.
/// - Who has stopped typing is shown for ``TypingPolicy/Settings/linger`` more, but not beside their message, and not when they have left.
///
/// **Late signals.** Signals of a connection are numbered, and one that is not newer than the last seen is dropped. A chat message may
/// carry the number of the last typing signal that its sender had written by then (TYP-5): a begin up to that number is older than the
/// message, however late it comes, and is dropped; one beyond it is about the next message, which this one does
/// not end. Of messages without the number only those that arrive in order are judged rightly: they end what is shown, and
/// a begin that was overtaken is shown until it expires. What was seen of a connection is remembered for ``TypingPolicy/Settings/beginExpiry``
/// after it was last shown, so that a sender which starts counting anew is heard again.
///
/// **Bounds.** A snapshot names at most ``TypingPolicy/Settings/typerLimit`` people and counts the rest; of more than ``connectionLimit``
/// connections the surplus is not noticed.
public struct TypingRoster: Sendable {
    public let policy: TypingPolicy

    /// How many connections are followed at most.
    public static let connectionLimit = 10_000

    /// Who types now. May be asked at any time.
    public private(set) var current = TypingSnapshot.nobody

    private var records: [ConnectionID: Record] = [:]
    /// The connections on which each person types or pauses; nobody has none.
    private var people: [TypingPerson: [ConnectionID]] = [:]
    private var display: TypingDisplay
    /// Not later than the first moment at which somebody expires; nil when nobody types or pauses.
    private var earliest: MonotonicInstant?

    private var ownConnection: ConnectionID?
    private var blocked: Set<String> = []
    private var isHidden = false
    private var memberCount = 0

    public enum Input: Hashable, Sendable {
        /// A typing signal of another connection; `user` is whom it belongs to, nil or empty if nobody knows.
        case signal(TypingSignal, from: ConnectionID, user: String?)
        /// A chat message, and the number that it carries.
        case message(from: ConnectionID, typingN: Int64?)
        case connectionDestroyed(ConnectionID)
        /// This connection is there, or there again: nobody knows any more who types.
        case connected(as: ConnectionID?)
        /// Exactly these users are never shown, on whichever connection. One's own other devices can be hidden so, too.
        case blocked(Set<String>)
        /// Nobody is shown, as long as that is so.
        case hidden(Bool)
        /// Connections in the room, one's own included.
        case memberCount(Int)
    }

    private struct Record {
        var person: TypingPerson
        var state: State
        var lastN: Int64?

        enum State {
            /// Shown until then.
            case typing(until: MonotonicInstant)
            case paused(until: MonotonicInstant)
            /// Not shown; its number is remembered until then.
            case silent(until: MonotonicInstant)
            /// The connection is gone: nothing of it counts any more.
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

    public init(policy: TypingPolicy = .standard, ownConnection: ConnectionID? = nil) {
        self.policy = policy
        self.ownConnection = ownConnection
        display = TypingDisplay(policy: policy)
    }

    /// Returns the new snapshot if it is another.
    public mutating func handle(_ input: Input, now: MonotonicInstant) -> TypingSnapshot? {
        expire(now)
        switch input {
        case .signal(let signal, let from, let user): take(signal, from, user, now)
        case .message(let from, let typingN): end(from, typingN, now)
        case .connectionDestroyed(let id): close(id, now)
        case .connected(let id):
            ownConnection = id
            clear()
        case .blocked(let users):
            blocked = users
            for user in users {
                for id in people[.user(user)] ?? [] { records[id] = nil }
                update(.user(user), isAtOnce: true, at: now)
                display.release(.user(user))
            }
        case .hidden(let value):
            isHidden = value
            if isSilent { clear() }
        case .memberCount(let count):
            memberCount = count
            if isSilent { clear() }
        }
        return changed()
    }

    /// Does what has become due; call it at ``nextDeadline``, or later.
    public mutating func advance(to now: MonotonicInstant) -> TypingSnapshot? {
        expire(now)
        return changed()
    }

    /// When ``advance(to:)`` has to be called next; nil: not before the next input. Never later than the moment at which
    /// somebody expires, but it may be earlier: then nothing happens, and the next deadline is later.
    public var nextDeadline: MonotonicInstant? {
        guard let shown = display.nextDeadline else { return earliest }
        return earliest.map { min($0, shown) } ?? shown
    }

    // MARK: What the inputs do

    private var isSilent: Bool { isHidden || (policy.roomCap.map { memberCount > $0 } ?? false) }

    private mutating func take(
        _ signal: TypingSignal, _ from: ConnectionID, _ user: String?, _ now: MonotonicInstant
    ) {
        let user = user.flatMap { $0.isEmpty ? nil : $0 }
        guard !isSilent, from != ownConnection, user.map({ !blocked.contains($0) }) ?? true else { return }
        let person = user.map { TypingPerson.user($0) } ?? .connection(from)
        var record: Record
        if let known = known(from, now) {
            record = known
            if case .closed = record.state { return }
            if let n = signal.n, let last = record.lastN, n <= last { return }
            // Whose it is is said by a typing signal only; while it is shown it stays the same person's.
            if !record.state.isShown { record.person = person }
        } else {
            guard makeRoom(now) else { return }
            record = Record(person: person, state: .silent(until: now))
        }
        record.lastN = signal.n ?? record.lastN
        switch signal.action {
        case .begin: record.state = .typing(until: now.advanced(by: policy.beginExpiry))
        case .pause: record.state = .paused(until: now.advanced(by: policy.pauseExpiry))
        case .finish: record.state = remembered(now)
        }
        put(record, from, name: user, isAtOnce: false, now)
    }

    private mutating func end(_ from: ConnectionID, _ typingN: Int64?, _ now: MonotonicInstant) {
        guard !isSilent, from != ownConnection else { return }
        // Whatever it says of typing: nobody is shown as typing beside their message who has stopped.
        display.settle(from)
        guard var record = known(from, now) else {
            // The begin that belongs to the message may still be under way.
            guard let typingN, makeRoom(now) else { return }
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
        guard !isSilent, id != ownConnection else { return }
        display.settle(id)
        guard known(id, now) != nil || makeRoom(now) else { return }
        var record = records[id] ?? Record(person: .connection(id), state: .silent(until: now))
        record.state = .closed(until: now.advanced(by: policy.beginExpiry))
        put(record, id, name: nil, isAtOnce: true, now)
    }

    private mutating func clear() {
        records = [:]
        people = [:]
        display.clear()
        earliest = nil
    }

    private func remembered(_ now: MonotonicInstant) -> Record.State {
        .silent(until: now.advanced(by: policy.beginExpiry))
    }

    private func known(_ id: ConnectionID, _ now: MonotonicInstant) -> Record? {
        records[id].flatMap { $0.state.until > now ? $0 : nil }
    }

    /// Whether one more connection may be followed. Who is shown stays; what is merely remembered makes room.
    private mutating func makeRoom(_ now: MonotonicInstant) -> Bool {
        if records.count < Self.connectionLimit { return true }
        records = records.filter { $0.value.state.until > now }
        if records.count < Self.connectionLimit { return true }
        records = records.filter { $0.value.state.isShown }
        return records.count < Self.connectionLimit
    }

    // MARK: What is shown

    private mutating func put(
        _ record: Record, _ id: ConnectionID, name: String?, isAtOnce: Bool, _ now: MonotonicInstant
    ) {
        records[id] = record
        if record.state.isShown {
            earliest = earliest.map { min($0, record.state.until) } ?? record.state.until
            if people[record.person]?.contains(id) != true { people[record.person, default: []].append(id) }
        }
        update(record.person, typer: TypingSnapshot.Typer(name: name, connectionID: id), isAtOnce: isAtOnce, at: now)
    }

    /// Shows a person as their connections say, from `moment` on.
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
        TypingSnapshot.Typer(name: nil, connectionID: id)
    }

    private mutating func expire(_ now: MonotonicInstant) {
        if let earliest, earliest <= now {
            let over = records.filter { $0.value.state.until <= now }
            // From the moment at which each was due, however late the timer.
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
