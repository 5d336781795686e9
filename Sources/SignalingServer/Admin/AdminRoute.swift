import SignalingProtocol
import SignalingTransport

/// A resource below `/admin/v1/`, for operators.
enum AdminRoute: Hashable {
    /// `/stats`
    case stats
    /// `/sessions`
    case sessions
    /// `/connections`: those of all sessions.
    case connections
    /// `/sessions/{sessionId}`
    case session(SessionID)
    /// `/sessions/{sessionId}/connections`
    case sessionConnections(SessionID)
    /// `/sessions/{sessionId}/events`
    case events(SessionID)
    /// `/sessions/{sessionId}/connections/{connectionId}`
    case connection(SessionID, ConnectionID)

    /// - Parameter parts: the path's segments after `/admin/v1/`.
    init?(parts: [String]) {
        switch (parts.first, parts.count) {
        case ("stats", 1): self = .stats
        case ("sessions", 1): self = .sessions
        case ("connections", 1): self = .connections
        case ("sessions", 2): self = .session(SessionID(parts[1]))
        case ("sessions", 3) where parts[2] == "connections": self = .sessionConnections(SessionID(parts[1]))
        case ("sessions", 3) where parts[2] == "events": self = .events(SessionID(parts[1]))
        case ("sessions", 4) where parts[2] == "connections":
            self = .connection(SessionID(parts[1]), ConnectionID(parts[3]))
        default: return nil
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .stats, .sessions, .connections, .session, .sessionConnections, .events: [.get, .head]
        case .connection: [.delete]
        }
    }
}
