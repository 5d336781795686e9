/// Who sends what an ``OTKTextChatComponent`` has ready.
///
/// OpenTok's has one method, which Swift has called by different names over the years. One of the three has to be there;
/// asking a delegate that has none of them is a fault of the program.
public protocol OTKTextChatDelegate: AnyObject {
    /// Asked once for each message, before it is shown. True: it is sent, or will be. False: it is not shown, and its text
    /// stays in the draft.
    // OpenTok's own signature: code that was written for it compiles.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    func onMessageReady(toSend message: OTKChatMessage!) -> Bool

    /// The same, for code without `!`.
    func onMessageReady(toSend message: OTKChatMessage) -> Bool

    /// The same, by its name in Objective-C.
    func onMessageReadyToSend(_ message: OTKChatMessage) -> Bool
}

extension OTKTextChatDelegate {
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public func onMessageReady(toSend message: OTKChatMessage!) -> Bool {
        guard let message else { return false }
        let present: OTKChatMessage = message
        return onMessageReady(toSend: present)
    }

    public func onMessageReady(toSend message: OTKChatMessage) -> Bool { onMessageReadyToSend(message) }

    public func onMessageReadyToSend(_ message: OTKChatMessage) -> Bool {
        preconditionFailure("\(type(of: self)) has to implement onMessageReady(toSend:)")
    }
}
