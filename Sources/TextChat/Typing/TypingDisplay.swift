import SignalingProtocol

/// Whom a ``TypingRoster`` shows. It is told how each person stands, and shows who has stopped typing a moment longer, so that
/// nothing flickers: ``TypingPolicy/Settings/linger``, ``TypingPolicy/Settings/minimumShow``.
///
/// Only what is shown waits. What counts, and until when, is the roster's.
struct TypingDisplay: Sendable {
    enum State: Hashable, Sendable { case typing, paused }

    /// Not later than the first moment at which somebody is shown long enough; nil when nobody is shown for longer.
    private(set) var nextDeadline: MonotonicInstant?

    private let policy: TypingPolicy
    private var people: [TypingPerson: Person] = [:]
    private var held: Set<TypingPerson> = []
    /// Whose connections were, of those shown for longer.
    private var persons: [ConnectionID: TypingPerson] = [:]
    private var typing = Line()
    private var paused = Line()
    private var lastPlace = 0

    private struct Person {
        /// In order of first begin.
        let place: Int
        let typer: TypingSnapshot.Typer
        var shown: State
        /// How they stand; nil: neither.
        var state: State?
        var typingSince: MonotonicInstant?
        var hold: Hold?
    }

    /// Still shown as typing.
    private struct Hold {
        var until: MonotonicInstant
        /// On which they have stopped.
        var connections: Set<ConnectionID>
    }

    init(policy: TypingPolicy) { self.policy = policy }

    /// A person stands so from `moment` on.
    ///
    /// - Parameters:
    ///   - ended: the connections on which they were typing or pausing until then, and are not any more.
    ///   - isAtOnce: nothing of it is shown for longer.
    mutating func set(
        _ key: TypingPerson, to state: State?, typer: TypingSnapshot.Typer, ended: [ConnectionID], isAtOnce: Bool,
        at moment: MonotonicInstant
    ) {
        guard var person = people[key] else {
            guard let state else { return }
            lastPlace += 1
            let person = Person(
                place: lastPlace, typer: typer, shown: state, state: state,
                typingSince: state == .typing ? moment : nil)
            people[key] = person
            line(state) { $0.insert(person.place, typer) }
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

    /// Nobody who was on this connection is shown for longer.
    mutating func settle(_ connection: ConnectionID) {
        guard let key = persons[connection] else { return }
        release(key)
    }

    /// This person is not shown for longer.
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
        typing = Line()
        paused = Line()
        nextDeadline = nil
    }

    /// The new snapshot, if it is another than `last`.
    mutating func change(from last: TypingSnapshot) -> TypingSnapshot? {
        guard typing.hasChanged || paused.hasChanged || (people.isEmpty && last != .nobody) else { return nil }
        typing.hasChanged = false
        paused.hasChanged = false
        let snapshot = TypingSnapshot(
            typing: typing.first(policy.typerLimit), paused: paused.first(policy.typerLimit),
            typingCount: typing.count, pausedCount: paused.count)
        return snapshot == last ? nil : snapshot
    }

    // MARK: Being shown for longer

    /// Until when somebody is shown who has stopped then; nil: no longer.
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

    // MARK: Lines

    /// Puts a person into the line where they belong.
    private mutating func show(_ person: Person, _ key: TypingPerson) {
        var person = person
        let shown = person.hold == nil ? person.state : .typing
        if shown != person.shown {
            line(person.shown) { $0.remove(person.place) }
            if let shown { line(shown) { $0.insert(person.place, person.typer) } }
        }
        guard let shown else {
            people[key] = nil
            return
        }
        person.shown = shown
        if shown == .paused { person.typingSince = nil }
        people[key] = person
    }

    private mutating func line(_ state: State, _ change: (inout Line) -> Void) {
        switch state {
        case .typing: change(&typing)
        case .paused: change(&paused)
        }
    }

    /// People in the order of their places.
    private struct Line {
        private var members: [(place: Int, typer: TypingSnapshot.Typer)] = []
        var hasChanged = false

        var count: Int { members.count }
        func first(_ limit: Int) -> [TypingSnapshot.Typer] { members.prefix(limit).map(\.typer) }

        mutating func insert(_ place: Int, _ typer: TypingSnapshot.Typer) {
            members.insert((place, typer), at: index(of: place))
            hasChanged = true
        }

        mutating func remove(_ place: Int) {
            let index = index(of: place)
            guard index < members.count, members[index].place == place else { return }
            members.remove(at: index)
            hasChanged = true
        }

        /// Where the place is, or would be.
        private func index(of place: Int) -> Int {
            var (low, high) = (0, members.count)
            while low < high {
                let middle = (low + high) / 2
                if members[middle].place < place { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

/// People are put together by their user, if somebody knows it.
enum TypingPerson: Hashable, Sendable {
    case user(String)
    case connection(ConnectionID)
}
