import SignalingProtocol

/// How one's own messages are known again when they come back. Broadcasts reach their sender, too, and must not be shown twice.
struct EchoBook {
    /// What was sent as bare text, which comes back without a local id.
    private var bare: [(localID: LocalID, text: String)] = []
    /// The connections that were one's own: after a reconnect, what was sent before may come back with the old id.
    private var ownConnections: [ConnectionID] = []

    /// Both lists are short; what is older than this comes back no more.
    private static let longestWait = 256
    private static let connectionCount = 8

    mutating func expectBare(_ localID: LocalID, text: String) {
        forget(localID)
        bare.append((localID, text))
        if bare.count > Self.longestWait { bare.removeFirst() }
    }

    mutating func forget(_ localID: LocalID) { bare.removeAll { $0.localID == localID } }

    /// Returns whether it is another connection than the one before.
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

    /// The message that has come back as this bare text: the oldest of that text.
    mutating func settleBare(_ text: String) -> LocalID? {
        guard let place = bare.firstIndex(where: { $0.text == text }) else { return nil }
        return bare.remove(at: place).localID
    }
}
