import SignalingProtocol

/// An event of a chat, apart from the changes of its rows.
public enum ChatActivity: Equatable, Sendable {
    /// The user has edited the draft; sending and restoring do not count.
    case draftEdited(String)
    /// A message of the user was queued, or passed to the delegate; the draft is empty now.
    case messageSubmitted(LocalID)
    /// A new message of another user has arrived from this connection; nil: by REST.
    case messageReceived(from: ConnectionID?)
    /// A signal that is not a chat message, such as a typing signal.
    case otherSignal(Signal)
    case connectionCreated(Connection)
    case connectionDestroyed(Connection)
    /// The channel's connection is up.
    case connected(ConnectionID)
    case reconnecting
    case reconnected
    case disconnected
    /// ``TextChatComponent/hasEarlier``, ``TextChatComponent/isLoadingEarlier`` or ``TextChatComponent/historyError`` has
    /// changed.
    case historyChanged
    /// A page of the history was read, with the changes of the rows that it made.
    case historyRead([TimelineChange])
    /// ``TextChatComponent/outboxError`` has changed.
    case outboxChanged
    /// A message of the session's history was changed. It is no new message (CHAT-14).
    case changed(ChangeEvent)
    /// Messages were erased from the session's history.
    case erased(Erasure)
    /// ``TextChatComponent/restriction`` has changed.
    case restrictionChanged
}
