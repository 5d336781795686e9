/// Who sends what a ``TextChatComponent`` has ready (OpenTok's `OTKTextChatDelegate`).
public protocol TextChatDelegate: AnyObject {
    /// Asked once for each message, before it is shown. True: it is sent, or will be. False: it stays in the draft.
    ///
    /// Without a channel the delegate does the sending; with one, it may only refuse.
    func onMessageReadyToSend(_ message: ChatMessage) -> Bool
}
