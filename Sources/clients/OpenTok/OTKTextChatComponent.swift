import Foundation
import SignalingProtocol
import TextChat
import TextChatFoundation

/// OpenTok's text chat: the list of messages, the draft, and the Send button. On Apple's systems it has its `view`.
///
/// Use it on one queue or thread, usually the one on which the session's delegate is called.
open class OTKTextChatComponent: NSObject {
    /// Sends the messages; held weakly. Without a delegate nothing is sent.
    public weak var delegate: (any OTKTextChatDelegate)?

    // The behaviour of OpenTok's component of 2015: it sends blank text, counts length as `NSString` does, and groups
    // rows by its own rule.
    let chat = TextChatComponent(
        composer: Composer(maxLength: 1000, unit: .utf16, sendsBlankText: true),
        timeline: ChatTimeline(rule: .openTok), wireForm: .bareText)
    #if canImport(SwiftUI)
        /// Nil until the program asks for the view.
        @MainActor var screen: OTKScreen?
    #endif
    private let messenger = Messenger()
    private var randomness = SystemRandomNumberGenerator()

    public override init() {
        super.init()
        messenger.component = self
        chat.delegate = messenger
    }

    /// Sets the maximum length of a message, in UTF-16 units. Default 1000.
    public func setMaxLength(_ length: Int32) { chat.maxLength = Int(length) }

    /// Sets the sender of this user's messages: usually the user's connection ID, and a name to show.
    public func setSenderId(_ senderId: String?, alias: String?) { chat.setSenderId(senderId, alias: alias) }

    /// Adds a received message. Always true. Do not add this user's own messages: the component shows them already.
    @discardableResult
    public func addMessage(_ message: OTKChatMessage) -> Bool {
        if message.dateTime == nil { message.dateTime = Date() }
        return chat.addMessage(
            ChatMessage(
                text: message.text ?? "", senderID: message.senderId, senderAlias: message.senderAlias,
                sentAt: WallTime(message.dateTime)),
            now: WallTime(Date()))
    }

    /// Not in OpenTok: adds a page of the session's history, so that a user who joins late sees what was said. Add it
    /// before messages that arrive. The user's own messages are those of the ID given to ``setSenderId(_:alias:)``.
    public func addHistory(_ page: HistoryPage) { chat.handle(.history(page), now: WallTime(Date())) }

    // MARK: - Not in OpenTok: the tasks of its view

    /// The text in the composer.
    public var draft: String { chat.draft }

    /// The remaining length; negative if the limit was lowered below the length of the draft.
    public var charactersLeft: Int { chat.remaining }

    /// Replaces the draft. False if the text is too long; the draft is unchanged then.
    @discardableResult
    public func edit(_ text: String) -> Bool { chat.edit(text).isAccepted }

    /// Sends the draft: asks the delegate, and shows the message as sent if it agrees. False if the draft is empty or
    /// the delegate refuses; the draft is unchanged then.
    @discardableResult
    public func send() -> Bool {
        chat.submit(now: WallTime(Date()), localID: LocalID(using: &randomness)) == .sent
    }

    /// Replaces the draft and sends it. False also if the text is too long.
    @discardableResult
    public func send(_ text: String) -> Bool { edit(text) && send() }

    /// The rows to show.
    public var rows: [Row] { OpenTokRow.rows(of: chat.rows).map { Row($0) } }

    /// One row of the list.
    public struct Row {
        public enum Kind: String, CaseIterable, Sendable {
            /// With name and time.
            case sent, received
            /// Text only: from the same sender as the row before, and less than 120 s apart.
            case sentShort, receivedShort
            /// A line between two groups, and after the last one.
            case divider
        }

        public let kind: Kind
        /// `nil` for a divider.
        public let message: OTKChatMessage?

        init(_ row: OpenTokRow) {
            kind =
                switch row {
                case .sent: .sent
                case .received: .received
                case .sentShort: .sentShort
                case .receivedShort: .receivedShort
                case .divider: .divider
                }
            message = row.message.map { OTKChatMessage($0) }
        }

        /// The time as OpenTok's view shows it: `03:07PM`. `nil` for short rows and dividers.
        public func timeText(in timeZone: TimeZone = .current) -> String? {
            guard kind == .sent || kind == .received, let date = message?.dateTime else { return nil }
            return ChatTimeText.text(WallTime(date), in: timeZone)
        }
    }

    /// Asks OpenTok's delegate on behalf of the chat.
    private final class Messenger: TextChatDelegate {
        weak var component: OTKTextChatComponent?

        func onMessageReadyToSend(_ message: ChatMessage) -> Bool {
            let message: OTKChatMessage? = OTKChatMessage(message)
            return component?.delegate?.onMessageReady(toSend: message) ?? false
        }
    }
}

extension WallTime {
    /// A date that 64-bit milliseconds cannot hold becomes the earliest or latest one. Clocks of other clients may be
    /// that wrong.
    init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min))
    }
}
