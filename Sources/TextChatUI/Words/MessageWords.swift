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

    /// Who wrote it: a name that the sender chose, or one that everybody in the chat sees alike.
    public static func sender(of message: ChatMessage) -> String {
        if message.direction == .sent { return ChatWord.you.text }
        return DisplayName.text(data: message.senderAlias, connectionID: message.senderID)
    }

    /// What VoiceOver says of the message, as one sentence after the other.
    public static func spoken(_ message: ChatMessage, time: String?) -> String {
        let parts = [sender(of: message), message.text, time, state(of: message)?.text]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
