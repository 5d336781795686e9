import CommandSupport
import SignalingClient
import SignalingProtocol
import TextChat

extension Printable {
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
