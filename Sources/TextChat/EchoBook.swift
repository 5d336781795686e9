import SignalingProtocol

/// Which of one's own messages have not come back yet. Broadcasts reach their sender, too, and must not be shown twice.
struct EchoBook {
    private var waiting: [(localID: LocalID, text: String)] = []
    /// The connections that were one's own: after a reconnect, what was sent before may come back with the old id.
    private var ownConnections: [ConnectionID] = []

    /// Both lists are short; what is older than this comes back no more.
    private static let longestWait = 256
    private static let connectionCount = 8

    mutating func expect(_ localID: LocalID, text: String) {
        waiting.append((localID, text))
        if waiting.count > Self.longestWait { waiting.removeFirst() }
    }

    mutating func forget(_ localID: LocalID) { waiting.removeAll { $0.localID == localID } }

    mutating func note(_ connection: ConnectionID?) {
        guard let connection, ownConnections.last != connection else { return }
        ownConnections.append(connection)
        if ownConnections.count > Self.connectionCount { ownConnections.removeFirst() }
    }

    func isOwn(_ connection: ConnectionID) -> Bool { ownConnections.contains(connection) }

    /// The message that has come back as this one: by its local id; by its text only when it has none, the oldest first.
    mutating func settle(_ message: ChatMessage) -> LocalID? {
        if let localID = message.localID {
            forget(localID)
            return localID
        }
        guard let place = waiting.firstIndex(where: { $0.text == message.text }) else { return nil }
        return waiting.remove(at: place).localID
    }
}
