import SignalingProtocol

/// Why the user's message was not changed. The component checks the first ten in this order, before it asks the server,
/// and throws the first that applies. The message stays as it is.
public enum ChangeError: Error, Equatable, Sendable {
    /// There is no such message.
    case unknown
    case erased
    /// It is another user's message. A guest's own are those of the present connection (CHG-5).
    case notOwn
    /// The session does not permit it (CHG-3), or does not have the message yet.
    case notPermitted
    /// The channel has no connection, or it has ended.
    case notConnected
    /// A moderator keeps the user from writing (MOD-4).
    case restricted(Restriction)
    case blank
    /// The text is longer than ``Composer/maxLength`` by `excess`, in the composer's unit.
    case tooLong(excess: Int)
    /// The message would be longer than `Limits.dataLength` by `excess` UTF-16 units.
    case signalTooLong(excess: Int)
    /// The message has this text already.
    case unchanged
    /// The channel's error. After a lost connection the message may have changed all the same; its row shows it then.
    case refused(SignalingError)
    /// The waiting task was cancelled. The message may change all the same.
    case cancelled
}

/// What the message that another one answers shows (CHAT-12).
public enum ChatQuote: Equatable, Sendable {
    /// The message as it is now, and its row.
    case shown(TimelineRow.ID, ChatMessage)
    /// It was deleted; its row.
    case deleted(TimelineRow.ID)
    /// It is not loaded, or not in the history any more; see ``TextChatComponent/loadQuoted(_:isolation:)``.
    case earlier(Seq)

    /// The row of the message, if there is one.
    public var rowID: TimelineRow.ID? {
        switch self {
        case .shown(let id, _), .deleted(let id): id
        case .earlier: nil
        }
    }
}
