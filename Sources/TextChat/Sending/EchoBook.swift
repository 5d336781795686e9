import SignalingProtocol

/// Recognizes echoes: the user's own broadcasts, which the server also sends back. The chat must not show them twice.
struct EchoBook {
    /// Messages sent as bare text, whose echoes have no local ID.
    private var bare: [(localID: LocalID, text: String)] = []
    /// The user's own connections, past and present: after a reconnect an echo may have the old ID.
    private(set) var ownConnections: [ConnectionID] = []

    /// The bounds of both lists: no echo is expected for an older text, and a history has messages of old connections.
    private static let bareCount = 256
    private static let connectionCount = 256

    mutating func expectBare(_ localID: LocalID, text: String) {
        forget(localID)
        bare.append((localID, text))
        if bare.count > Self.bareCount { bare.removeFirst() }
    }

    mutating func forget(_ localID: LocalID) { bare.removeAll { $0.localID == localID } }

    mutating func note(_ connection: ConnectionID) {
        guard ownConnections.last != connection else { return }
        ownConnections.removeAll { $0 == connection }
        ownConnections.append(connection)
        if ownConnections.count > Self.connectionCount { ownConnections.removeFirst() }
    }

    func isOwn(_ connection: ConnectionID) -> Bool { ownConnections.contains(connection) }

    /// Returns the message of a bare-text echo: the oldest with that text.
    mutating func settleBare(_ text: String) -> LocalID? {
        guard let index = bare.firstIndex(where: { $0.text == text }) else { return nil }
        return bare.remove(at: index).localID
    }
}
