import CommandSupport
import SignalingClient
import SignalingProtocol

/// The lines that tell a terminal's user who is in the session: each user once, and each guest's connection.
struct PresenceText {
    /// A user, or a guest's connection.
    private struct Person {
        let name: String
        let isMe: Bool
        let isAway: Bool
    }

    private static let nameCount = 10

    /// In the order in which they have joined.
    private let people: [Person]

    init(of session: Session) {
        let me = session.connection
        let away = Set(session.awayConnections.map(\.connectionId))
        let users = session.users
        let connections = session.connections
        let byUser = Dictionary(users.map { ($0.id, $0) }) { first, _ in first }
        var listed: Set<UserID> = []
        people = connections.compactMap { connection in
            guard let user = connection.user else {
                return Person(
                    // Where there are users, a guest cannot pass for one.
                    name: Printable.name(connection) + (users.isEmpty ? "" : " (guest)"),
                    isMe: connection.connectionId == me?.connectionId, isAway: away.contains(connection.connectionId))
            }
            guard listed.insert(user).inserted else { return nil }
            let all = byUser[user]?.connections ?? [connection]
            return Person(
                name: Printable.name(connection), isMe: user == me?.user,
                isAway: all.allSatisfy { away.contains($0.connectionId) })
        }
    }

    /// "You are in. 2 others are here: Ada, Bob."
    var arrival: String {
        let others = people.filter { !$0.isMe }
        let shown = others.prefix(Self.nameCount).map(Self.text).joined(separator: ", ")
        let rest = others.count > Self.nameCount ? ", and \(others.count - Self.nameCount) more" : ""
        let presence =
            switch others.count {
            case 0: "Nobody else is here yet."
            case 1: "One other is here: \(shown)."
            case let count: "\(count) others are here: \(shown)\(rest)."
            }
        return "You are in. \(presence) /help shows the commands; Ctrl-D leaves."
    }

    /// Everybody.
    var list: String {
        let names = people.map { Self.text($0) + ($0.isMe ? " (you)" : "") }
        return "\(names.count) here: \(names.joined(separator: ", "))"
    }

    private static func text(_ person: Person) -> String { person.name + (person.isAway ? " (away)" : "") }

    /// The line for an event; nil if it changes nothing for a reader: the user is there on another connection, too.
    static func text(of event: SessionEvent, in session: Session) -> String? {
        switch event {
        case .userJoined(let user): "\(Printable.name(user)) is here"
        case .userLeft(let user): "\(Printable.name(user)) has left"
        case .connectionCreated(let connection): connection.user == nil ? "\(Printable.name(connection)) is here" : nil
        case .connectionDestroyed(let connection, _):
            connection.user == nil ? "\(Printable.name(connection)) has left" : nil
        case .connectionAway(let connection):
            isAlone(connection, in: session) ? "\(Printable.name(connection)) is away" : nil
        case .connectionBack(let connection):
            isAlone(connection, in: session) ? "\(Printable.name(connection)) is back" : nil
        case .signal, .history, .changed, .reactions, .reacted, .read, .erased, .moderated, .restricted,
            .unrestricted, .reconnecting, .reconnected, .disconnected, .overflowed:
            nil
        }
    }

    private static func isAlone(_ connection: Connection, in session: Session) -> Bool {
        guard let user = connection.user else { return true }
        return session.users.first { $0.id == user }?.connections.count ?? 1 == 1
    }
}
