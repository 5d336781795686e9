import SignalingProtocol

/// An action of a moderator or of REST, with the members that its request and `moderated` have in common (MOD-6).
struct WireAction: Hashable, Sendable {
    typealias Name = WireOrder.Name
    typealias User = WireOrder.User

    enum Kind: String, Sendable {
        case mute, unmute, ban, unban, freeze, unfreeze

        /// The restriction that it begins or ends.
        var restriction: WireRestriction.Kind {
            switch self {
            case .mute, .unmute: .mute
            case .ban, .unban: .ban
            case .freeze, .unfreeze: .freeze
            }
        }

        var isLift: Bool {
            switch self {
            case .mute, .ban, .freeze: false
            case .unmute, .unban, .unfreeze: true
            }
        }
    }

    enum Target: Hashable, Sendable {
        case user(User)
        case connection(Name)
        /// The restriction that the action with this seq began.
        case action(Int)
        case session
    }

    var kind: Kind
    var target: Target
    var reason: String?
    var erasesMessages: Bool
    /// nil for REST.
    var by: Name?
}

extension WireRecord {
    /// The number of the action that a program was told of; nil for one that no line has.
    func knownAction(_ event: ModerationEvent) -> Int32? {
        var (target, terms, erasesMessages) = (WireAction.Target?.some(.session), ModerationRequest.Terms?.none, false)
        switch event.action {
        case .mute(let subject, let given): (target, terms) = (self.target(subject), given)
        case .ban(let subject, let given, let erases):
            (target, terms, erasesMessages) = (self.target(subject), given, erases)
        case .unmute(.user(let user)), .unban(.user(let user)): target = self.target(.user(user))
        case .unmute(.ref(let ref)), .unban(.ref(let ref)): target = .action(Int(ref.rawValue))
        case .freeze(let given): terms = given
        case .unfreeze: break
        }
        let author = event.by.map { knownName($0.connectionId.rawValue) }
        guard let target, author != .some(nil), let kind = WireAction.Kind(rawValue: event.action.name) else {
            return nil
        }
        return actions.known(
            WireAction(
                kind: kind, target: target, reason: terms?.reason, erasesMessages: erasesMessages, by: author ?? nil))
    }

    private func target(_ subject: ModerationRequest.Subject) -> WireAction.Target? {
        switch subject {
        case .user(let user): knownUser(user.rawValue).map { .user($0) }
        case .connection(let id): knownName(id.rawValue).map { .connection($0) }
        }
    }
}

/// A restriction as the user concerned is told of it (MOD-2).
struct WireRestriction: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable { case mute, ban, freeze }

    var kind: Kind
    /// In ms since 1970.
    var until: Int64?
    var reason: String?

    /// nil if the line names no kind.
    init?(_ line: WireLine) {
        guard let kind = line.text("kind").flatMap(Kind.init) else { return nil }
        self.kind = kind
        until = line.number("until")
        reason = line.text("reason")
    }
}

extension WireOrder {
    /// What is known of an action that has a seq.
    struct NotedAction: Sendable {
        var seq: Int
        var action: WireAction
        /// When the tap first saw that it has been carried out.
        var seenAt: MonotonicInstant
        /// When the tap first saw its request. The action has been carried out later.
        var askedAt = MonotonicInstant.unknown
        /// When its answer passed.
        var acknowledgedAt: MonotonicInstant?
        /// As `moderated` says it.
        var until: Int64?
        /// The restriction does not end by itself before this moment.
        var earliestEnd = MonotonicInstant.never
        /// When it ends by `moderated`, and at the latest by its length; nil for what is not known.
        var told: MonotonicInstant?
        var latestCount: MonotonicInstant?

        /// The restriction ends by itself at this moment at the latest.
        var latestEnd: MonotonicInstant { [told, latestCount].compactMap(\.self).max() ?? .never }
    }
}

extension MonotonicInstant {
    /// Before everything that passes, and after it.
    static let unknown = MonotonicInstant(nanoseconds: .min)
    static let never = MonotonicInstant(nanoseconds: .max)
}
