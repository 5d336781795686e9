import Foundation
import SignalingProtocol
import TextChat

/// What a reader sees and hears of a message beside its text.
public enum MessageWords {
    /// The state of the user's own message; nil when there is nothing to say: it was sent.
    public static func state(of message: ChatMessage) -> ChatWord? {
        guard message.direction == .sent else { return nil }
        switch message.state {
        case .sent: return nil
        case .sending: return .sending
        case .failed(.interrupted): return .perhapsSent
        case .failed(.notSaved): return .notSaved
        case .failed(.cancelled): return .failed
        case .failed(.error(let error)):
            switch error.code {
            case .notConnected: return .perhapsSent
            case .permissionDenied: return .notAllowed
            // Every other code says only that the server did not accept the message.
            default: return .failed
            }
        }
    }

    /// The author: the name that the sender's token vouches for, or else one that is nobody else's (CHAT-4).
    public static func sender(of message: ChatMessage, in names: NameBook) -> String {
        if message.direction == .sent { return ChatWord.you.text }
        return names.name(of: message).text(server: ChatWord.system.text)
    }

    /// What VoiceOver says of the message, as one sentence after the other.
    public static func spoken(_ message: ChatMessage, in names: NameBook, time: String?) -> String {
        let parts = [sender(of: message, in: names), message.text, time, state(of: message)?.text]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
