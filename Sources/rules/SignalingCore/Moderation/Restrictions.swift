import DequeModule
import SignalingProtocol

/// What moderators and REST have taken from the users of a session, and the latest of what they did (MOD-2, MOD-7).
///
/// Bounded: ``Limits/restrictionCount`` restrictions, and as many actions (MOD-9). A restriction that has ended stays
/// until an action removes it, and has no effect.
struct Restrictions: Sendable {
    /// What a restriction is found by: there is one of a kind and subject.
    enum Key: Hashable, Sendable {
        case mute(UserID)
        case ban(UserID)
        /// Concerns all connections with this token that have no user.
        case guestBan(TokenFingerprint)
        case freeze
    }

    struct Entry: Hashable, Sendable {
        let key: Key
        /// Its ``Restriction/until`` is for people: the clock of the server that accepted the action said so.
        let record: RestrictionRecord
        /// When it ends, in the time of the session's commands; `nil` if it holds until it is lifted.
        let until: MonotonicInstant?
        /// A guest's ban concerns these tokens, too.
        var otherTokens: [TokenFingerprint] = []

        /// The maximum number of tokens that one ban concerns.
        static let tokenLimit = 64

        func holds(at now: MonotonicInstant) -> Bool { until.map { now < $0 } ?? true }
    }

    private var entries: [Key: Entry] = [:]
    /// The newest is last.
    private(set) var actions: Deque<ModerationRecord> = []

    init() {}

    /// As they were kept; `nil` if two entries have one key.
    init?(entries: [Entry], actions: Deque<ModerationRecord>) {
        for entry in entries {
            guard self.entries.updateValue(entry, forKey: entry.key) == nil else { return nil }
        }
        self.actions = actions
    }

    /// Whether there is no restriction at all: the question that every signal asks.
    var isEmpty: Bool { entries.isEmpty }

    /// In the order of their actions. Those that have ended count, too.
    var ordered: [Entry] { entries.values.sorted { $0.record.ref < $1.record.ref } }

    /// Whether one holds.
    func hold(at now: MonotonicInstant) -> Bool { entries.values.contains { $0.holds(at: now) } }

    /// When the last one ends.
    var end: RestrictionEnd? {
        var end: RestrictionEnd?
        for entry in entries.values { end = RestrictionEnd.later(end, entry.until.map { .at($0) } ?? .whenLifted) }
        return end
    }

    // MARK: - What holds

    /// The restriction with this key, if it holds.
    func held(_ key: Key, at now: MonotonicInstant) -> Entry? {
        entries[key].flatMap { $0.holds(at: now) ? $0 : nil }
    }

    /// The restriction that the action with this seq began, if it holds.
    func held(_ ref: Seq, at now: MonotonicInstant) -> Entry? {
        entries.values.first { $0.record.ref == ref && $0.holds(at: now) }
    }

    /// The ban because of which a client may not be in the session (MOD-3).
    ///
    /// - Parameter tokens: those that the client has shown. They count if it has no user.
    func ban(of user: UserID?, _ tokens: [TokenFingerprint], at now: MonotonicInstant) -> Entry? {
        if entries.isEmpty { return nil }
        if let user { return held(.ban(user), at: now) }
        for token in tokens {
            if let ban = held(.guestBan(token), at: now) { return ban }
        }
        return entries.values.filter { $0.holds(at: now) && $0.otherTokens.contains(where: tokens.contains) }
            .min { $0.record.ref < $1.record.ref }
    }

    /// The same for a connection of the session.
    func ban(of member: Roster.Member, at now: MonotonicInstant) -> Entry? {
        ban(of: member.connection.user, member.tokens, at: now)
    }

    /// The restriction because of which a client may not signal (MOD-4). A freeze exempts moderators, and a mute nobody.
    func silencing(_ user: UserID?, _ role: Role, at now: MonotonicInstant) -> Entry? {
        if entries.isEmpty { return nil }
        if let mute = user.flatMap({ held(.mute($0), at: now) }) { return mute }
        return role.mayModerate ? nil : held(.freeze, at: now)
    }

    /// What a client is told that comes into the session (MOD-5).
    func told(to user: UserID?, at now: MonotonicInstant) -> [Restriction] {
        if entries.isEmpty { return [] }
        return [user.flatMap { held(.mute($0), at: now) }, held(.freeze, at: now)].compactMap { $0?.record.restriction }
    }

    /// What moderators and REST are told, in the order of the actions.
    func records(at now: MonotonicInstant) -> [RestrictionRecord] {
        ordered.filter { $0.holds(at: now) }.map(\.record)
    }

    // MARK: - Changes

    /// MOD-9: those that have ended make room.
    mutating func removeEnded(at now: MonotonicInstant) {
        if entries.values.contains(where: { !$0.holds(at: now) }) { entries = entries.filter { $1.holds(at: now) } }
    }

    /// Whether a restriction with this key can be added.
    func hasRoom(for key: Key) -> Bool { entries.count < Limits.restrictionCount || entries[key] != nil }

    /// Adds a restriction in the place of an older one with its key.
    mutating func add(_ entry: Entry) { entries[entry.key] = entry }

    mutating func lift(_ key: Key) { entries[key] = nil }

    mutating func note(_ action: ModerationRecord) {
        actions.append(action)
        if actions.count > Limits.restrictionCount { actions.removeFirst() }
    }
}

/// When the restrictions of a session have all ended.
public enum RestrictionEnd: Hashable, Sendable {
    case at(MonotonicInstant)
    /// One of them holds until it is lifted.
    case whenLifted

    public func isOver(at now: MonotonicInstant) -> Bool {
        switch self {
        case .at(let end): end <= now
        case .whenLifted: false
        }
    }

    static func later(_ one: RestrictionEnd?, _ other: RestrictionEnd) -> RestrictionEnd {
        switch (one, other) {
        case (nil, _): other
        case (.at(let one), .at(let other)): .at(max(one, other))
        case (.whenLifted, _), (_, .whenLifted): .whenLifted
        }
    }
}

/// An action that a session records (MOD-7).
public struct ModerationRecord: Hashable, Sendable {
    public let seq: Seq
    /// When the server accepted it.
    public let time: WallTime
    public let event: ModerationEvent

    public init(seq: Seq, time: WallTime, event: ModerationEvent) {
        self.seq = seq
        self.time = time
        self.event = event
    }
}

/// What moderators and REST can read of the moderation of a session (MOD-7).
public struct ModerationReport: Hashable, Sendable {
    /// What holds, in the order of the actions.
    public let restrictions: [RestrictionRecord]
    /// The latest actions, oldest first.
    public let actions: [ModerationRecord]
}

extension SessionState {
    /// What REST reads of the session's moderation (MOD-7); `nil` for a session that nobody has joined.
    func moderationReport(at now: MonotonicInstant) -> ModerationReport? {
        guard log.lastSeq > .zero else { return nil }
        return ModerationReport(restrictions: restrictions.records(at: now), actions: Array(restrictions.actions))
    }
}
