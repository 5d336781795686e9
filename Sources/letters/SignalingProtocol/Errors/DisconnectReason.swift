/// Why a connection left its session: OpenTok's three reasons (OpenTok, "SessionDisconnectEvent"; PRES-2).
public enum DisconnectReason: String, CaseIterable, Sendable {
    /// The client disconnected, or its page was closed.
    case clientDisconnected
    /// A moderator or a REST request ended the connection.
    case forceDisconnected
    /// The socket was lost, or the server closed it.
    case networkDisconnected
}
