import SignalingProtocol
import SignalingTransport

/// A resource below `/admin/v1/`, for operators.
enum AdminRoute: Hashable {
    /// `/stats`
    case stats
    /// `/sessions`
    case sessions
    /// `/feeds`: who consumes the feeds of projects.
    case feeds
    /// `/connections`: those of all sessions.
    case connections
    /// `/sessions/{sessionId}`
    case session(SessionID)
    /// `/sessions/{sessionId}/connections`
    case sessionConnections(SessionID)
    /// `/sessions/{sessionId}/events`
    case events(SessionID)
    /// `/sessions/{sessionId}/moderation` (MOD-7)
    case moderation(SessionID)
    /// `/sessions/{sessionId}/messages` (HIS-9)
    case messages(SessionID)
    /// `/sessions/{sessionId}/connections/{connectionId}`
    case connection(SessionID, ConnectionID)

    /// - Parameter parts: the path's segments after `/admin/v1/`.
    init?(parts: [String]) {
        switch (parts.first, parts.count) {
        case ("stats", 1): self = .stats
        case ("sessions", 1): self = .sessions
        case ("connections", 1): self = .connections
        case ("feeds", 1): self = .feeds
        case ("sessions", 2...):
            guard let session = PathText.decoded(parts[1]) else { return nil }
            self.init(session: SessionID(session), parts: Array(parts[2...]))
        default: return nil
        }
    }

    private init?(session: SessionID, parts: [String]) {
        switch (parts.first, parts.count) {
        case (nil, _): self = .session(session)
        case ("connections", 1): self = .sessionConnections(session)
        case ("events", 1): self = .events(session)
        case ("moderation", 1): self = .moderation(session)
        case ("messages", 1): self = .messages(session)
        case ("connections", 2):
            guard let connection = PathText.decoded(parts[1]) else { return nil }
            self = .connection(session, ConnectionID(connection))
        default: return nil
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .stats, .sessions, .connections, .feeds, .session, .sessionConnections, .events: [.get, .head]
        case .moderation: [.get, .head, .post]
        case .messages, .connection: [.delete]
        }
    }
}
