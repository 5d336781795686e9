import SignalingProtocol

/// What has become of a message that was to be sent.
public enum SendResult: Equatable, Sendable {
    /// The draft is empty; nobody was asked.
    case nothingToSend
    /// Not sent and not shown; the draft stays as it is.
    case refused(Refusal)
    /// Shown, and given to the delegate or acknowledged by the server.
    case sent
    /// Shown as failed; see ``TextChatComponent/retry(_:)``.
    case failed(SignalingError)

    public enum Refusal: Sendable {
        /// The delegate said no.
        case byDelegate
        /// There is neither a channel nor a delegate.
        case nobodyToSend
        /// As a signal it would be longer than `Limits.dataLength`.
        case tooLong
    }
}
