import SignalingProtocol

/// Selects the people of a ``TypingRoster`` to show. The roster sets each person's state. The display shows a person
/// who stops typing a moment longer, so that nothing flickers: ``TypingPolicy/Settings/linger``,
/// ``TypingPolicy/Settings/minimumShow``.
///
/// It delays only the display. The roster decides which state a person has, and until when.
struct TypingDisplay: Sendable {
    enum State: Hashable, Sendable { case typing, paused }

    /// The next moment at which a hold ends, or a moment before it; nil without a hold.
    private(set) var nextDeadline: MonotonicInstant?

    private let policy: TypingPolicy
    private var people: [TypingPerson: Person] = [:]
    private var held: Set<TypingPerson> = []
    /// The held person of a connection on which that person has stopped typing.
    private var persons: [ConnectionID: TypingPerson] = [:]
    private var typing = OrderedTypers()
    private var paused = OrderedTypers()
    private var lastRank = 0

    private struct Person {
        /// Counts people in the order of their first begin.
        let rank: Int
        let typer: TypingSnapshot.Typer
        var shown: State
        /// The state that the roster has set; nil: neither.
        var state: State?
        var typingSince: MonotonicInstant?
        var hold: Hold?
    }

    /// The person is still shown as typing.
    private struct Hold {
        var until: MonotonicInstant
        /// The connections on which the person has stopped.
        var connections: Set<ConnectionID>
    }

    init(policy: TypingPolicy) { self.policy = policy }

    /// Sets a person's state from `moment` on.
    ///
    /// - Parameters:
    ///   - ended: the connections on which the person was typing or pausing until then.
    ///   - isAtOnce: the person is not held.
    mutating func set(
        _ key: TypingPerson, to state: State?, typer: TypingSnapshot.Typer, ended: [ConnectionID], isAtOnce: Bool,
        at moment: MonotonicInstant
    ) {
        guard var person = people[key] else {
            guard let state else { return }
            lastRank += 1
            let person = Person(
                rank: lastRank, typer: typer, shown: state, state: state,
                typingSince: state == .typing ? moment : nil)
            people[key] = person
            change(state) { $0.insert(person.rank, typer) }
            return
        }
        person.state = state
        if state == .typing {
            release(&person, key)
            person.typingSince = person.typingSince ?? moment
        } else if isAtOnce {
            release(&person, key)
        } else if person.hold != nil {
            keep(ended, for: &person, key)
        } else if person.shown == .typing, let until = end(of: person, stopped: moment),
            held.count < TypingRoster.connectionLimit
        {
            person.hold = Hold(until: until, connections: [])
            held.insert(key)
            nextDeadline = nextDeadline.map { min($0, until) } ?? until
            keep(ended, for: &person, key)
        }
        show(person, key)
    }

    /// Ends the hold of a person who was on this connection.
    mutating func settle(_ connection: ConnectionID) {
        guard let key = persons[connection] else { return }
        release(key)
    }

    /// Ends the hold of this person.
    mutating func release(_ key: TypingPerson) {
        guard var person = people[key] else { return }
        release(&person, key)
        show(person, key)
    }

    mutating func advance(to now: MonotonicInstant) {
        guard let nextDeadline, nextDeadline <= now else { return }
        let over = held.filter { key in people[key]?.hold.map { $0.until <= now } ?? true }
        for key in over { release(key) }
        self.nextDeadline = held.compactMap { people[$0]?.hold?.until }.min()
    }

    mutating func clear() {
        people = [:]
        held = []
        persons = [:]
        typing = OrderedTypers()
        paused = OrderedTypers()
        nextDeadline = nil
    }

    /// The new snapshot, if it differs from `last`.
    mutating func change(from last: TypingSnapshot) -> TypingSnapshot? {
        guard typing.hasChanged || paused.hasChanged || (people.isEmpty && last != .nobody) else { return nil }
        typing.hasChanged = false
        paused.hasChanged = false
        let snapshot = TypingSnapshot(
            typing: typing.first(policy.typerLimit), paused: paused.first(policy.typerLimit),
            typingCount: typing.count, pausedCount: paused.count)
        return snapshot == last ? nil : snapshot
    }

    // MARK: Holds

    /// The end of the hold of a person who stops at `moment`; nil: no hold.
    private func end(of person: Person, stopped moment: MonotonicInstant) -> MonotonicInstant? {
        let lingering = policy.linger.map { moment.advanced(by: $0) }
        let shownEnough = policy.minimumShow.flatMap { person.typingSince?.advanced(by: $0) }
        let until = [lingering, shownEnough].compactMap { $0 }.max()
        return until.flatMap { $0 > moment ? $0 : nil }
    }

    private mutating func keep(_ ended: [ConnectionID], for person: inout Person, _ key: TypingPerson) {
        person.hold?.connections.formUnion(ended)
        for id in ended { persons[id] = key }
    }

    private mutating func release(_ person: inout Person, _ key: TypingPerson) {
        guard let hold = person.hold else { return }
        person.hold = nil
        held.remove(key)
        for id in hold.connections where persons[id] == key { persons[id] = nil }
        if held.isEmpty { nextDeadline = nil }
    }

    // MARK: Lists

    /// Moves a person to the list that shows them.
    private mutating func show(_ person: Person, _ key: TypingPerson) {
        var person = person
        let shown = person.hold == nil ? person.state : .typing
        if shown != person.shown {
            change(person.shown) { $0.remove(person.rank) }
            if let shown { change(shown) { $0.insert(person.rank, person.typer) } }
        }
        guard let shown else {
            people[key] = nil
            return
        }
        person.shown = shown
        if shown == .paused { person.typingSince = nil }
        people[key] = person
    }

    private mutating func change(_ state: State, _ body: (inout OrderedTypers) -> Void) {
        switch state {
        case .typing: body(&typing)
        case .paused: body(&paused)
        }
    }

    /// People by rank.
    private struct OrderedTypers {
        private var members: [(rank: Int, typer: TypingSnapshot.Typer)] = []
        var hasChanged = false

        var count: Int { members.count }
        func first(_ limit: Int) -> [TypingSnapshot.Typer] { members.prefix(limit).map(\.typer) }

        mutating func insert(_ rank: Int, _ typer: TypingSnapshot.Typer) {
            members.insert((rank, typer), at: index(of: rank))
            hasChanged = true
        }

        mutating func remove(_ rank: Int) {
            let index = index(of: rank)
            guard index < members.count, members[index].rank == rank else { return }
            members.remove(at: index)
            hasChanged = true
        }

        /// The index at which the rank is, or would be.
        private func index(of rank: Int) -> Int {
            var (low, high) = (0, members.count)
            while low < high {
                let middle = (low + high) / 2
                if members[middle].rank < rank { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

/// The person behind a connection: its user as the server says, else a user by name, else the connection itself.
enum TypingPerson: Hashable, Sendable {
    case user(UserID)
    case named(String)
    case connection(ConnectionID)

    init(_ connection: ConnectionID, name: String?, user: UserID?) {
        self = user.map { .user($0) } ?? name.map { .named($0) } ?? .connection(connection)
    }

    /// As the server says; nil for a guest.
    var user: UserID? { if case .user(let id) = self { id } else { nil } }
}
