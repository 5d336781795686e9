import SignalingProtocol

/// Recognizes echoes: the user's own broadcasts, which the server also sends back. The chat must not show them twice.
struct EchoBook {
    /// Messages sent as bare text, whose echoes have no local ID.
    private var bare: [(localID: LocalID, text: String)] = []
    /// The user's own connections, past and present: after a reconnect an echo may have the old ID.
    private(set) var ownConnections: [ConnectionID] = []
    /// The user of the present connection; nil for a guest.
    private(set) var user: UserID?

    /// The bounds of both lists: no echo is expected for an older text, and a history has messages of old connections.
    private static let bareCount = 256
    private static let connectionCount = 256

    mutating func expectBare(_ localID: LocalID, text: String) {
        forget(localID)
        bare.append((localID, text))
        if bare.count > Self.bareCount { bare.removeFirst() }
    }

    mutating func forget(_ localID: LocalID) { bare.removeAll { $0.localID == localID } }

    /// The channel has this connection.
    mutating func note(_ connection: ConnectionID, of user: UserID?) {
        self.user = user
        note(connection)
    }

    /// A connection of the user, of now or of an earlier run.
    mutating func note(_ connection: ConnectionID) {
        guard ownConnections.last != connection else { return }
        ownConnections.removeAll { $0 == connection }
        ownConnections.append(connection)
        if ownConnections.count > Self.connectionCount { ownConnections.removeFirst() }
    }

    func isOwn(_ connection: ConnectionID) -> Bool { ownConnections.contains(connection) }

    /// Whether the user is on this connection, perhaps in another tab (CHAT-9).
    func isOwn(_ connection: Connection) -> Bool {
        (user != nil && connection.user == user) || isOwn(connection.connectionId)
    }

    /// Returns the message of a bare-text echo: the oldest with that text.
    mutating func settleBare(_ text: String) -> LocalID? {
        guard let index = bare.firstIndex(where: { $0.text == text }) else { return nil }
        return bare.remove(at: index).localID
    }
}
