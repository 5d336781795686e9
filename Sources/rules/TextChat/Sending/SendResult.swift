import SignalingProtocol

/// The outcome of sending a message.
public enum SendResult: Equatable, Sendable {
    /// Not sent. A draft stays in the composer and is not shown; a message to retry stays failed.
    case refused(SendRefusal)
    /// Shown, and in the session's log or accepted by the delegate.
    case sent
    /// Shown as failed; see ``TextChatComponent/retry(_:isolation:)``.
    case failed(ChatMessage.Failure)
    /// There is no such message, or it was discarded.
    case discarded
    /// Queued and shown as sending, but held back by this failed message (CHAT-8). The component sends it after
    /// ``TextChatComponent/retry(_:isolation:)``, ``TextChatComponent/discard(_:)`` or
    /// ``TextChatComponent/passFailed()``.
    case heldBack(by: LocalID)
    /// Shown as sending; its row shows the outcome later. The wait was cancelled after the message had left, or in
    /// ``TextChatComponent/outcome(of:)``, or ``TextChatComponent/retry(_:isolation:)`` found it being sent already.
    case stillSending
}

/// Why a draft is not sent. The component checks ``cancelled`` first, then the others in this order, and returns the
/// first reason that applies.
public enum SendRefusal: Equatable, Sendable {
    /// The draft is empty, or has only white space.
    case blank
    /// The draft is longer than ``Composer/maxLength`` by `excess`, in the composer's unit.
    case tooLong(excess: Int)
    /// The signal would be longer than `Limits.dataLength` by `excess` UTF-16 units.
    case signalTooLong(excess: Int)
    /// The channel has no connection, or it has ended. Without a channel: there is no delegate.
    case notConnected
    /// A moderator keeps the user from writing (MOD-4). The draft stays.
    case restricted(Restriction)
    /// The queue is full: 100 messages wait, are being sent, or have failed.
    case tooManyWaiting
    /// Another message has this local ID.
    case localIDTaken
    /// The delegate refused the message.
    case byDelegate
    /// The task was cancelled before it called `send` or `retry`.
    case cancelled
}
