import Foundation
import SignalingProtocol
import TextChat
import TextChatFoundation

/// OpenTok's text chat without its view: the list of messages, and what happens when Send is pressed.
///
/// It belongs to one queue or thread, by custom the one on which the session's delegate is called.
open class OTKTextChatComponent: NSObject {
    /// Who sends; held weakly. Without one nothing is sent.
    public weak var delegate: (any OTKTextChatDelegate)?

    // White space alone is sent, length is counted as `NSString` counts it, and rows are grouped as they were in 2015.
    private let chat = TextChatComponent(
        composer: Composer(maxLength: 1000, unit: .utf16, sendsBlankText: true),
        timeline: ChatTimeline(rule: .openTok), wireForm: .bareText)
    private let messenger = Messenger()
    private var randomness = SystemRandomNumberGenerator()

    public override init() {
        super.init()
        messenger.component = self
        chat.delegate = messenger
    }

    /// The longest text that can be written, in UTF-16 units. Default 1000.
    public func setMaxLength(_ length: Int32) { chat.maxLength = Int(length) }

    /// Says who "I" am: by custom one's connection id, and a name to show.
    public func setSenderId(_ senderId: String?, alias: String?) { chat.setSenderId(senderId, alias: alias) }

    /// Adds a message as received, whoever it says sent it. Always true. One's own echo has to be kept from it.
    @discardableResult
    public func addMessage(_ message: OTKChatMessage) -> Bool {
        if message.dateTime == nil { message.dateTime = Date() }
        return chat.addMessage(
            ChatMessage(
                text: message.text ?? "", senderID: message.senderId, senderAlias: message.senderAlias,
                sentAt: WallTime(message.dateTime)),
            now: WallTime(Date()))
    }

    // MARK: - Not OpenTok's: what its view did

    /// What is being written.
    public var draft: String { chat.draft }

    /// How much may still be written; negative when the limit was lowered below what is there.
    public var charactersLeft: Int { chat.remaining }

    /// Replaces the draft; false, and nothing changes, when the text is too long.
    @discardableResult
    public func edit(_ text: String) -> Bool { chat.edit(text).isAccepted }

    /// Presses Send: asks the delegate, and shows the draft as sent when it agrees. False when there is nothing to send, or
    /// the delegate refused; the draft stays then.
    @discardableResult
    public func send() -> Bool {
        chat.submit(now: WallTime(Date()), localID: LocalID(using: &randomness)) == .sent
    }

    /// Writes a text and presses Send; false when it is too long, too.
    @discardableResult
    public func send(_ text: String) -> Bool { edit(text) && send() }

    /// The list as it is to be drawn.
    public var rows: [Row] { OpenTokRow.rows(of: chat.rows).map { Row($0) } }

    /// One line of the list.
    public struct Row {
        public enum Kind: String, CaseIterable, Sendable {
            /// With name and time.
            case sent, received
            /// Less than 120 s after the one before it, and from the same sender: text only.
            case sentShort, receivedShort
            /// A line between two groups, and one at the end.
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
    /// Dates beyond what milliseconds can count, of which others' clocks may speak, are the last that they can.
    init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min))
    }
}
