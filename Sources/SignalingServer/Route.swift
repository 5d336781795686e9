import SignalingProtocol
import SignalingTransport

/// What an HTTP request is about, by its path alone.
enum Route: Hashable {
    case livez
    case readyz
    /// `POST /session/create`
    case createSession
    /// `POST /v2/project/{apiKey}/session/{sessionId}/signal` and `…/connection/{connectionId}/signal`
    case signal(APIKey, SessionID, to: ConnectionID?)
    /// `DELETE /v2/project/{apiKey}/session/{sessionId}/connection/{connectionId}`
    case forceDisconnect(APIKey, SessionID, ConnectionID)
    /// `GET /session` and `GET /room/{name}`, in development mode.
    case room(String)
    case file(String)

    /// Every path is something: what is nothing else names a file, which may not be there.
    init(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        switch parts.first {
        case "livez" where parts.count == 1: self = .livez
        case "readyz" where parts.count == 1: self = .readyz
        case "session" where parts.count == 1: self = .room("default")
        case "session" where parts.count == 2 && parts[1] == "create": self = .createSession
        case "room" where parts.count == 2: self = .room(parts[1])
        case "v2": self = Route(projectParts: Array(parts.dropFirst())) ?? .file(path)
        default: self = .file(path)
        }
    }

    /// `project/{apiKey}/session/{sessionId}/…`
    private init?(projectParts parts: [String]) {
        guard parts.count >= 5, parts[0] == "project", parts[2] == "session" else { return nil }
        let (apiKey, session) = (APIKey(parts[1]), SessionID(parts[3]))
        switch (parts[4], parts.count) {
        case ("signal", 5): self = .signal(apiKey, session, to: nil)
        case ("connection", 6): self = .forceDisconnect(apiKey, session, ConnectionID(parts[5]))
        case ("connection", 7) where parts[6] == "signal":
            self = .signal(apiKey, session, to: ConnectionID(parts[5]))
        default: return nil
        }
    }

    /// The methods that it takes, the first being the usual one.
    var methods: [HTTPMethod] {
        switch self {
        case .livez, .readyz, .room, .file: [.get, .head]
        case .createSession, .signal: [.post]
        case .forceDisconnect: [.delete]
        }
    }
}
