/// The permissions of a token: OpenTok's four roles (OpenTok, "Token Creation Overview").
public enum Role: String, CaseIterable, Sendable {
    case subscriber
    /// The default for a token without a role (TOK-4).
    case publisher
    case moderator
    case publisherOnly = "publisheronly"

    /// Whether a client of this role may signal: every role but `publisheronly` (CON-10).
    public var maySignal: Bool {
        switch self {
        case .subscriber, .publisher, .moderator: true
        case .publisherOnly: false
        }
    }

    /// Whether a client of this role may end other connections: moderators only (CON-10).
    public var mayForceDisconnect: Bool {
        switch self {
        case .moderator: true
        case .subscriber, .publisher, .publisherOnly: false
        }
    }

    /// The role's values in OpenTok's `session.capabilities`.
    public var capabilities: Capabilities {
        switch self {
        case .subscriber: Capabilities(publish: false, subscribe: true, moderate: false)
        case .publisher: Capabilities(publish: true, subscribe: true, moderate: false)
        case .moderator: Capabilities(publish: true, subscribe: true, moderate: true)
        case .publisherOnly: Capabilities(publish: true, subscribe: false, moderate: false)
        }
    }
}

/// OpenTok's capabilities of a connected client. They do not cover signaling: see ``Role/maySignal``.
public struct Capabilities: Hashable, Sendable {
    public var publish: Bool
    public var subscribe: Bool
    public var forceDisconnect: Bool
    public var forceUnpublish: Bool
    public var forceMute: Bool

    /// The capabilities before connecting: none.
    public static let none = Capabilities(publish: false, subscribe: false, moderate: false)

    /// - Parameter moderate: sets `forceDisconnect`, `forceUnpublish` and `forceMute`, which OpenTok gives to
    ///   moderators together.
    public init(publish: Bool, subscribe: Bool, moderate: Bool) {
        self.publish = publish
        self.subscribe = subscribe
        forceDisconnect = moderate
        forceUnpublish = moderate
        forceMute = moderate
    }
}
