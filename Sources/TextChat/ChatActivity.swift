import SignalingProtocol

/// What goes on in a chat beside its rows, told as it happens: what a typing indicator has to know.
public enum ChatActivity: Equatable, Sendable {
    /// The draft was changed by an edit, not by sending or restoring.
    case draftEdited(String)
    /// One's own message was given to be sent; the draft is empty now.
    case messageSubmitted(LocalID)
    /// Another's message has come from this connection; nil by REST.
    case messageReceived(from: ConnectionID?)
    /// A signal that is no chat message.
    case otherSignal(Signal)
    case connectionCreated(Connection)
    case connectionDestroyed(Connection)
    /// The channel has this connection now.
    case connected(ConnectionID)
    case reconnecting
    case reconnected
    case disconnected
}
