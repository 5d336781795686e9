import SignalingClient
import SignalingProtocol
import SignalingServer
import TextChat

/// Text of others, made safe for a terminal: without escape sequences, and without marks that reverse the direction of
/// what follows.
enum Printable {
    /// In one line.
    static func text(_ text: String) -> String { lines(TerminalText.text(text, replacement: " ") { $0 == "\n" }) }

    /// In as many lines as the text has.
    static func lines(_ text: String) -> String {
        // The marks have no width, so nothing stands for them.
        TerminalText.text(TerminalText.text(text, replacement: nil) { $0.properties.isBidiControl }, replacement: " ") {
            $0.controlsTerminals && $0 != "\n"
        }
    }

    /// A sentence of `TypingPhrase`, which isolates the direction of the names in it.
    static func phrase(_ text: String) -> String {
        TerminalText.text(text, replacement: " ") { $0.controlsTerminals && !$0.properties.isBidiControl }
    }

    static func name(_ connection: Connection) -> String {
        text(
            DisplayName.text(
                data: connection.data, connectionID: connection.connectionId.rawValue, user: connection.user))
    }

    /// The name under which the user has joined.
    static func name(_ user: SessionUser) -> String { user.connections.first.map(name) ?? text(user.id.rawValue) }

    /// The name of the sender (CHAT-4).
    static func name(_ message: ChatMessage, in names: NameBook) -> String {
        text(names.name(of: message).text(server: server))
    }

    /// The name of a message that came by REST without one.
    static let server = "the server"
}

extension ChatMessage.Failure {
    /// For the user.
    var reason: String {
        switch self {
        case .error(let error):
            error.restriction.map { RestrictionText.text($0) } ?? Printable.text(error.message)
        case .interrupted: "interrupted"
        case .notSaved: "not saved"
        case .cancelled: "cancelled"
        }
    }
}
