import SignalingProtocol

/// A `connected` whose list of connections has not arrived completely (CON-11).
struct ArrivingWelcome {
    private let id: RequestID
    private var welcome: Welcome
    /// Without the client's own connection.
    private var others: [Connection] = []

    /// - Returns: `nil` if no page follows.
    init?(_ id: RequestID, _ welcome: Welcome) {
        guard let count = welcome.connectionCount, count > welcome.connections.count else { return nil }
        self.id = id
        self.welcome = welcome
    }

    mutating func append(_ page: [Connection]) { others += page }

    /// The `connected` with all pages: the connections are in the order of creation, the client's own is the newest.
    var complete: (RequestID, Welcome) {
        var whole = welcome
        whole.connections = others + welcome.connections
        whole.connectionCount = nil
        return (id, whole)
    }
}
