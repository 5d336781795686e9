/// Sends the messages of a ``TextChatComponent`` without a channel, or may refuse them (OpenTok's
/// `OTKTextChatDelegate`).
public protocol TextChatDelegate: AnyObject {
    /// Called once for each message, before it is shown. True: the message is sent, or will be. False: it stays in the
    /// draft.
    ///
    /// Without a channel the delegate sends the message; with one it may only refuse.
    func onMessageReadyToSend(_ message: ChatMessage) -> Bool
}
