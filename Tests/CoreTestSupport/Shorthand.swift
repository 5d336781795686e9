import SignalingCore
import SignalingProtocol
import TestSupport

package let room = SessionID("1_room")

package func client(_ name: String) -> ConnectionID { ConnectionID(name) }

/// The socket on which a connection joins by default.
package let socket1 = SocketID(1)

/// A stand-in for a hash: the bytes of the secret itself.
package func hash(_ secret: String) -> ResumeSecretHash { ResumeSecretHash(bytes: Array(secret.utf8)) }

extension SessionID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension UserID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension SocketBinding {
    /// A connection and its first socket.
    package init(_ name: String, _ socket: UInt64 = 1) { self.init(client(name), SocketID(socket)) }
}

extension CommandSender {
    /// A connection on its first socket, and a request without an ID.
    package static func connection(_ id: ConnectionID) -> CommandSender { .connection(SocketBinding(id, socket1), nil) }
}

extension SessionCommand {
    package static func leave(_ id: ConnectionID, _ reason: DisconnectReason) -> SessionCommand {
        .leave(SocketBinding(id, socket1), reason)
    }
}

extension JoinRequest {
    /// By default on socket 1, with the secret `name-1`.
    package init(
        connectionId: ConnectionID, role: Role, data: String, user: UserID? = nil, suppressesPresence: Bool = false,
        wallTime: WallTime, socket: UInt64 = 1, resumption: Resumption? = nil, isUntimely: Bool = false
    ) {
        self.init(
            connectionId: connectionId, socket: SocketID(socket), role: role, data: data, user: user,
            suppressesPresence: suppressesPresence, wallTime: wallTime,
            secretHash: hash("\(connectionId)-\(socket)"), resumption: resumption, isUntimely: isUntimely)
    }
}

extension SessionEngine {
    /// Submits a command for which the time does not matter.
    package func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket) {
        submit(command, to: session, ticket: ticket, now: .seconds(0))
    }
}
