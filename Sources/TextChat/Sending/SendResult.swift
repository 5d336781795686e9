import SignalingProtocol

/// The outcome of sending a message.
public enum SendResult: Equatable, Sendable {
    /// Not sent and not shown; the draft stays.
    case refused(SendRefusal)
    /// Shown, and in the session's log or accepted by the delegate.
    case sent
    /// Shown as failed; see ``TextChatComponent/retry(_:isolation:)``.
    case failed(ChatMessage.Failure)
    /// There is no such message, or it was discarded.
    case discarded
}

/// Why a draft is not sent. The component checks in this order and returns the first reason that applies.
public enum SendRefusal: Equatable, Sendable {
    /// The draft is empty, or has only white space.
    case blank
    /// The draft is longer than ``Composer/maxLength`` by `excess`, in the composer's unit.
    case tooLong(excess: Int)
    /// The signal would be longer than `Limits.dataLength` by `excess` UTF-16 units.
    case signalTooLong(excess: Int)
    /// The channel has no connection. Without a channel: there is no delegate.
    case notConnected
    /// The queue is full of waiting and failed messages.
    case tooManyWaiting
    /// Another message has this local ID.
    case localIDTaken
    /// The delegate refused the message.
    case byDelegate
}
