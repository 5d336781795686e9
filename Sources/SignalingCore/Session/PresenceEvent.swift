import SignalingProtocol

/// What happened to a session and its connections, as the project's own server wants to know it.
///
/// Of one session they come in this order: created, then one `connectionCreated` and one `connectionDestroyed` for each
/// connection (G7), then destroyed.
public enum PresenceEvent: Hashable, Sendable {
    /// The first client is about to be in it.
    case sessionCreated
    case connectionCreated(Connection)
    case connectionDestroyed(Connection, DisconnectReason)
    /// Nobody is in it any more. Its order may be kept for a while for those who come back.
    case sessionDestroyed
}
