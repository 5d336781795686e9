/// What a moderator or REST has taken from a user or a session, as the user concerned is told of it (MOD-2).
public struct Restriction: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The user may not signal (MOD-4).
        case mute
        /// The user may not be in the session (MOD-3).
        case ban
        /// Only moderators and REST may signal (MOD-4).
        case freeze
    }

    public var kind: Kind
    /// When it ends by itself; `nil` if it holds until it is lifted.
    public var until: WallTime?
    /// A text for the user concerned, of at most ``Limits/reasonLength`` UTF-16 units.
    public var reason: String?

    public init(_ kind: Kind, until: WallTime? = nil, reason: String? = nil) {
        self.kind = kind
        self.until = until
        self.reason = reason
    }
}

/// A restriction that holds, as moderators and REST are told of it (MOD-2).
public struct RestrictionRecord: Hashable, Sendable {
    /// What a restriction concerns.
    public enum Subject: Hashable, Sendable {
        case user(UserID)
        /// All connections with the token of this guest's connection.
        case guest(ConnectionID)
        case session
    }

    /// The seq of the action that began it. It names the restriction.
    public var ref: Seq
    public var subject: Subject
    public var restriction: Restriction
    /// When it began.
    public var time: WallTime
    /// `nil` for REST.
    public var by: Moderator?

    public init(ref: Seq, subject: Subject, restriction: Restriction, time: WallTime, by: Moderator?) {
        self.ref = ref
        self.subject = subject
        self.restriction = restriction
        self.time = time
        self.by = by
    }
}

/// The author of an action (MOD-6).
public struct Moderator: Hashable, Sendable {
    public var connectionId: ConnectionID
    /// `nil` for a guest.
    public var user: UserID?

    public init(connectionId: ConnectionID, user: UserID?) {
        self.connectionId = connectionId
        self.user = user
    }
}
