import SignalingClient
import SignalingProtocol

/// The lines that tell a terminal's user which clients are in the session.
struct PresenceText {
    private static let nameCount = 10

    private let me: ConnectionID?
    private let connections: [Connection]
    private let away: Set<ConnectionID>

    init(of session: Session) {
        me = session.connectionId
        connections = session.connections
        away = Set(session.awayConnections.map(\.connectionId))
    }

    /// "You are in. 2 others are here: Ada, Bob."
    var arrival: String {
        let others = connections.filter { $0.connectionId != me }
        let shown = others.prefix(Self.nameCount).map(name).joined(separator: ", ")
        let rest = others.count > Self.nameCount ? ", and \(others.count - Self.nameCount) more" : ""
        let presence =
            switch others.count {
            case 0: "Nobody else is here yet."
            case 1: "One other is here: \(shown)."
            case let count: "\(count) others are here: \(shown)\(rest)."
            }
        return "You are in. \(presence) /help shows the commands; Ctrl-D leaves."
    }

    /// Everybody, in the order in which they joined.
    var list: String {
        let names = connections.map { name($0) + ($0.connectionId == me ? " (you)" : "") }
        return "\(names.count) here: \(names.joined(separator: ", "))"
    }

    private func name(_ connection: Connection) -> String {
        Printable.name(connection) + (away.contains(connection.connectionId) ? " (away)" : "")
    }
}
