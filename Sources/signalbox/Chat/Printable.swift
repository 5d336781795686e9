import SignalingProtocol
import TextChat

/// Text of other users, made safe for a terminal: without control characters, escape sequences and line breaks.
enum Printable {
    static func text(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
                        ? " " : $0
                }))
    }

    static func name(_ connection: Connection) -> String {
        connection.data.isEmpty ? "somebody" : text(connection.data)
    }
}

extension ChatMessage.Failure {
    /// For the user.
    var reason: String {
        switch self {
        case .error(let error): error.message
        case .interrupted: "interrupted"
        case .cancelled: "cancelled"
        }
    }
}
