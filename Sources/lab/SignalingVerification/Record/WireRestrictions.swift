import SignalingProtocol

/// What holds in a session at a place of its order: the newest restriction of each kind and subject (MOD-1).
struct WireRestrictions: Sendable {
    typealias Kind = WireRestriction.Kind

    /// Whom a restriction concerns.
    enum Subject: Hashable, Sendable {
        case user(WireOrder.User)
        /// All connections of guests with this token.
        case token(Int32)
        case session
    }

    /// The client of a connection, or of a connect, as its token describes it.
    struct Person: Sendable {
        var subject: Subject?
        var isModerator: Bool
    }

    private struct Key: Hashable {
        var kind: Kind
        var subject: Subject
    }

    private var held: [Key: WireOrder.NotedAction] = [:]

    var isEmpty: Bool { held.isEmpty }
    /// Those that hold, in the order of their actions.
    var all: [WireOrder.NotedAction] { held.values.sorted { $0.seq < $1.seq } }

    /// - Parameter subject: of the action's target; nil if it is not known.
    mutating func apply(_ noted: WireOrder.NotedAction, to subject: Subject?) {
        let kind = noted.action.kind.restriction
        if case .action(let seq) = noted.action.target {
            held = held.filter { $0.key.kind != kind || $0.value.seq != seq }
        } else if let subject {
            held[Key(kind: kind, subject: subject)] = noted.action.kind.isLift ? nil : noted
        }
    }

    mutating func remove(_ noted: WireOrder.NotedAction) { held = held.filter { $0.value.seq != noted.seq } }

    /// Because of which the person may not be in the session.
    func ban(of person: Person) -> WireOrder.NotedAction? { restriction(.ban, of: person) }

    /// Those because of which the person may not signal (MOD-3, MOD-4).
    func silencing(_ person: Person) -> [WireOrder.NotedAction] {
        [restriction(.ban, of: person), restriction(.mute, of: person), freeze(for: person)].compactMap(\.self)
    }

    func restriction(_ kind: Kind, of person: Person) -> WireOrder.NotedAction? {
        person.subject.flatMap { held[Key(kind: kind, subject: $0)] }
    }

    func freeze(for person: Person) -> WireOrder.NotedAction? {
        person.isModerator ? nil : held[Key(kind: .freeze, subject: .session)]
    }
}
