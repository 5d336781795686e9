import SignalingProtocol

/// What has become of a message that was to be sent.
public enum SendResult: Equatable, Sendable {
    /// Not sent and not shown; the draft stays as it is.
    case refused(SendRefusal)
    /// Shown, and given to the delegate or in the session's log.
    case sent
    /// Shown as failed; see ``TextChatComponent/retry(_:)``.
    case failed(ChatMessage.Failure)
    /// There is no such message to send, or not any more: it was discarded.
    case discarded
}

/// Why a text is not sent. They are asked in this order, and the first that holds is told.
public enum SendRefusal: Equatable, Sendable {
    /// Nothing is written, or white space alone.
    case blank
    /// Longer than ``Composer/maxLength`` by so much, in the composer's unit.
    case tooLong(excess: Int)
    /// As a signal it would be longer than `Limits.dataLength` by so many UTF-16 units.
    case signalTooLong(excess: Int)
    /// There is no connection, and without a channel no delegate.
    case notConnected
    /// As many messages as may be are waiting, or have failed, already.
    case tooManyWaiting
    /// The local id is that of another message.
    case localIDTaken
    /// The delegate said no.
    case byDelegate
}
