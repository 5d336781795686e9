import SignalingProtocol

/// Recognizes one's own messages when they come back. A broadcast also reaches its sender, and must not be shown twice.
struct EchoBook {
    /// Messages sent as bare text, which come back without a local id.
    private var bare: [(localID: LocalID, text: String)] = []
    /// One's own connections, past and present: after a reconnect an echo may come back with the old id.
    private var ownConnections: [ConnectionID] = []

    /// Bounds of both lists: an older echo does not come back.
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

    func isOwn(_ connection: ConnectionID) -> Bool { ownConnections.contains(connection) }

    /// The message of an echo of bare text: the oldest with that text.
    mutating func settleBare(_ text: String) -> LocalID? {
        guard let index = bare.firstIndex(where: { $0.text == text }) else { return nil }
        return bare.remove(at: index).localID
    }
}
