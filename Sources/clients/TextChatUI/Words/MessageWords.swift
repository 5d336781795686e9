import SignalingProtocol
import TextChat

/// What a reader sees and hears of a message.
extension ChatWords {
    /// The state of the user's own message; nil when there is nothing to say: it was sent.
    public static func state(of message: ChatMessage) -> ChatWord? {
        guard message.direction == .sent else { return nil }
        switch message.state {
        case .sent: return nil
        case .sending: return .stateSending
        case .failed(.interrupted): return .failedLost
        case .failed(.notSaved): return .notSaved
        case .failed(.cancelled): return .stateFailed
        case .failed(.error(let error)):
            if error.restriction != nil { return .failedRestricted }
            switch error.code {
            case .notConnected: return .failedLost
            case .permissionDenied: return .failedNotAllowed
            case .tooLong: return .failedTooLarge
            case .rateLimited: return .failedTooFast
            // Every other code says only that the server did not accept the message.
            default: return .failedOther
            }
        }
    }

    /// The author: the name that the sender's token vouches for, or else one that is nobody else's (CHAT-4).
    public func sender(of message: ChatMessage, in names: NameBook) -> String {
        message.direction == .sent ? self(.you) : name(names.name(of: message))
    }

    func name(_ name: SenderName) -> String {
        switch name {
        case .name(let name): name
        case .guest(let number): self(.guest, ["id": .text(number.map(String.init) ?? "")]).plainEnd
        case .server: self(.server)
        }
    }

    /// The text of a message, or that it was deleted.
    public func text(of message: ChatMessage) -> String { message.isErased ? self(.erased) : message.text }

    /// What VoiceOver says of the message, as one sentence after the other.
    public func spoken(_ message: ChatMessage, in names: NameBook) -> String {
        let name = sender(of: message, in: names)
        let isGuest = message.direction == .received && names.isGuest(message)
        let parts = [
            isGuest ? self(.guestNamed, ["name": .name(name)]) : name, text(of: message),
            message.editedAt == nil ? nil : self(.edited), message.receivedAt.map(time),
            Self.state(of: message).map { self($0) },
        ]
        return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension String {
    /// Without a space at the end, where a number is missing.
    fileprivate var plainEnd: String { last == " " ? String(dropLast()) : self }
}
