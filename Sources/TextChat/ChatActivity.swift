import SignalingProtocol

/// An event of a chat that does not change its rows.
public enum ChatActivity: Equatable, Sendable {
    /// The user has edited the draft; sending and restoring do not count.
    case draftEdited(String)
    /// One's own message was queued, or given to the delegate; the draft is empty now.
    case messageSubmitted(LocalID)
    /// Another's message has arrived from this connection; nil: by REST.
    case messageReceived(from: ConnectionID?)
    /// A signal that is not a chat message.
    case otherSignal(Signal)
    case connectionCreated(Connection)
    case connectionDestroyed(Connection)
    /// The channel's connection is up.
    case connected(ConnectionID)
    case reconnecting
    case reconnected
    case disconnected
}
