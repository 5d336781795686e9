import SignalingProtocol

/// Recognizes echoes: the user's own broadcasts, which the server also sends back. The chat must not show them twice.
struct EchoBook {
    /// Messages sent as bare text, whose echoes have no local ID.
    private var bare: [(localID: LocalID, text: String)] = []
    /// The user's own connections, past and present: after a reconnect an echo may have the old ID.
    private var ownConnections: [ConnectionID] = []

    /// The bounds of both lists. Echoes of older messages have arrived by then.
    private static let bareCount = 256
    private static let connectionCount = 8

    mutating func expectBare(_ localID: LocalID, text: String) {
        forget(localID)
        bare.append((localID, text))
        if bare.count > Self.bareCount { bare.removeFirst() }
    }

    mutating func forget(_ localID: LocalID) { bare.removeAll { $0.localID == localID } }

    /// Notes the connection, and returns whether it differs from the one before.
    @discardableResult
    mutating func note(_ connection: ConnectionID?) -> Bool {
        guard let connection, ownConnections.last != connection else { return false }
        let isAnother = !ownConnections.isEmpty
        ownConnections.removeAll { $0 == connection }
        ownConnections.append(connection)
        if ownConnections.count > Self.connectionCount { ownConnections.removeFirst() }
        return isAnother
    }

    /// The user's own connection, as far as it was noted.
    var lastConnection: ConnectionID? { ownConnections.last }

    func isOwn(_ connection: ConnectionID) -> Bool { ownConnections.contains(connection) }

    /// Returns the message of a bare-text echo: the oldest with that text.
    mutating func settleBare(_ text: String) -> LocalID? {
        guard let index = bare.firstIndex(where: { $0.text == text }) else { return nil }
        return bare.remove(at: index).localID
    }
}
