/// Sends the messages of an ``OTKTextChatComponent``.
///
/// OpenTok's delegate has one method, which Swift has imported under different names. Implement one of the three: a
/// delegate with none of them stops the program with a fatal error.
public protocol OTKTextChatDelegate: AnyObject {
    /// Called once for each message, before it is shown. Return true if you send the message. With false the message is
    /// not shown, and its text stays in the draft.
    // OpenTok's signature, so that code written for it compiles.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    func onMessageReady(toSend message: OTKChatMessage!) -> Bool

    /// The same method, for code without `!`.
    func onMessageReady(toSend message: OTKChatMessage) -> Bool

    /// The same method under its name in Objective-C.
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
        preconditionFailure("Implement onMessageReady(toSend:) in \(type(of: self)).")
    }
}
