/// What a token permits (OpenTok's four roles; "Token Creation Overview").
public enum Role: String, CaseIterable, Sendable {
    case subscriber
    /// The default of a token that names none.
    case publisher
    case moderator
    case publisherOnly = "publisheronly"

    /// Everyone but `publisheronly` may signal.
    public var maySignal: Bool {
        switch self {
        case .subscriber, .publisher, .moderator: true
        case .publisherOnly: false
        }
    }

    /// Only a moderator may end another's connection.
    public var mayForceDisconnect: Bool {
        switch self {
        case .moderator: true
        case .subscriber, .publisher, .publisherOnly: false
        }
    }

    /// OpenTok's `session.capabilities`: 1 or 0 for each.
    public var capabilities: Capabilities {
        switch self {
        case .subscriber: Capabilities(publish: false, subscribe: true, moderate: false)
        case .publisher: Capabilities(publish: true, subscribe: true, moderate: false)
        case .moderator: Capabilities(publish: true, subscribe: true, moderate: true)
        case .publisherOnly: Capabilities(publish: true, subscribe: false, moderate: false)
        }
    }
}

/// OpenTok's capabilities of a connected client. There is no `signal` among them; the role decides that.
public struct Capabilities: Hashable, Sendable {
    public var publish: Bool
    public var subscribe: Bool
    public var forceDisconnect: Bool
    public var forceUnpublish: Bool
    public var forceMute: Bool

    /// What one has before connecting: nothing.
    public static let none = Capabilities(publish: false, subscribe: false, moderate: false)

    /// `moderate` stands for the three that OpenTok gives to moderators together.
    public init(publish: Bool, subscribe: Bool, moderate: Bool) {
        self.publish = publish
        self.subscribe = subscribe
        forceDisconnect = moderate
        forceUnpublish = moderate
        forceMute = moderate
    }
}
