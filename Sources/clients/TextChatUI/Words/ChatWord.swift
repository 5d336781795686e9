import Foundation

/// The texts of the chat. Each has its translations in `Resources`, under its English text.
public enum ChatWord: String, CaseIterable, Sendable {
    case messages = "Messages"
    case placeholder = "Send a message…"
    case send = "Send"
    case you = "You"
    /// The name of a message that no user has sent.
    case system = "System"

    // The state of the connection
    case connecting = "Connecting…"
    case reconnecting = "Reconnecting. Your messages are sent when the connection is back."
    case unreachable = "The chat cannot be reached. It tries again by itself."
    case full = "This chat is full. It tries again by itself."
    case refused = "Your link is not valid. Ask for a new one."
    case wrongChat = "This chat does not exist. Check your link, or ask for a new one."
    case removed = "You were removed from this chat."

    case banned = "You were banned from this chat."
    case bannedUntil = "You were banned from this chat until %@."

    // Why the user cannot write
    case muted = "You cannot write in this chat at the moment."
    case mutedUntil = "You cannot write in this chat until %@."
    case frozen = "Nobody can write in this chat at the moment."
    case frozenUntil = "Nobody can write in this chat until %@."
    case reason = "Reason: %@"

    // The messages
    case newMessages = "New messages"
    case beginning = "This is the beginning of the conversation."
    case gap = "The connection was interrupted. Messages may be missing here."
    case noMessages = "No messages yet. Write the first one."
    case fromNowOn = "You see messages from now on."
    case showEarlier = "Show earlier messages"
    case loadingEarlier = "Loading earlier messages…"

    // The state of a message
    case sending = "Sending"
    case failed = "Not sent"
    case perhapsSent = "Perhaps not sent: the connection was lost."
    case notAllowed = "Not sent: you cannot write in this chat."
    case notSaved = "Not sent: this device could not save the message."
    case tryAgain = "Try again"
    case discard = "Discard"

    // The draft
    case tooLong = "This message is too long. Shorten it to send it."
    case tooManyWaiting = "Too many messages are waiting to be sent. Try again later."
    case damaged = "Messages that had not been sent could not be read from this device."

    /// In the language of the app; in English if the chat does not have that language.
    public var text: String { Bundle.module.localizedString(forKey: rawValue, value: rawValue, table: nil) }

    /// The text with a word of the moment in the place of `%@`.
    func text(_ argument: String) -> String { text.replacingOccurrences(of: "%@", with: argument) }
}
