import Foundation
import SignalingProtocol
import TextChat

/// A chat message. Its members are implicitly unwrapped, as in OpenTok.
open class OTKChatMessage: NSObject {
    // OpenTok's signatures, so that code written for them compiles.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var senderAlias: String!
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var senderId: String!
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var text: String!
    /// The time of the message. A component that gets a message without it sets the current time.
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
