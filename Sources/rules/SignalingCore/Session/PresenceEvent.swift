import SignalingProtocol

/// A presence event for observers outside of the session, such as webhooks.
///
/// The order for one session: `sessionCreated`, then one `connectionCreated` and one `connectionDestroyed` for each
/// connection (G7), then `sessionDestroyed`.
public enum PresenceEvent: Hashable, Sendable {
    /// The first client is about to join.
    case sessionCreated
    case connectionCreated(Connection)
    case connectionDestroyed(Connection, DisconnectReason)
    /// The last client has left. The session's log may be kept for a while, for clients that come back.
    case sessionDestroyed
}
