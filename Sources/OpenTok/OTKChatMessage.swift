import Foundation
import SignalingProtocol
import TextChat

/// One line of chat. Its members are implicitly unwrapped, as OpenTok's are.
open class OTKChatMessage: NSObject {
    // OpenTok's own signatures: code that was written for them compiles.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var senderAlias: String!
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var senderId: String!
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var text: String!
    /// Now, unless it is set, once a component has taken the message.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var dateTime: Date!

    public override init() {}

    init(_ message: ChatMessage) {
        senderAlias = message.senderAlias
        senderId = message.senderID
        text = message.text
        dateTime = message.sentAt.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }
    }
}
