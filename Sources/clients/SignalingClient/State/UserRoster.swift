import SignalingProtocol

/// The users of a session, derived from its connections (USR-3). A user is there from their first connection to the
/// departure of their last. Guests do not count.
///
/// The browser library has the same roster in `web-test-client/client/user-roster.js`.
struct UserRoster {
    private struct Entry {
        /// Counts users in the order in which they have joined.
        let rank: Int
        var connections: [ConnectionID: (rank: Int, connection: Connection)] = [:]
    }

    private var entries: [UserID: Entry] = [:]
    private var lastRank = 0

    init() {}

    /// The users of a list of connections, which is in the order of creation.
    init(_ connections: [Connection]) {
        for connection in connections { add(connection) }
    }

    /// In the order in which they have joined.
    var users: [SessionUser] {
        entries.sorted { $0.value.rank < $1.value.rank }.map { Self.user($0.key, $0.value) }
    }

    /// A connection has joined.
    ///
    /// - Returns: the user who has joined with it.
    @discardableResult
    mutating func add(_ connection: Connection) -> SessionUser? {
        guard let user = connection.user, entries[user]?.connections[connection.connectionId] == nil else { return nil }
        lastRank += 1
        let isFirst = entries[user] == nil
        entries[user, default: Entry(rank: lastRank)].connections[connection.connectionId] = (lastRank, connection)
        return isFirst ? SessionUser(id: user, connections: [connection]) : nil
    }

    /// A connection has left.
    ///
    /// - Returns: the user who has left with it.
    @discardableResult
    mutating func remove(_ connection: Connection) -> SessionUser? {
        guard let user = connection.user,
            entries[user]?.connections.removeValue(forKey: connection.connectionId) != nil,
            entries[user]?.connections.isEmpty == true
        else { return nil }
        entries[user] = nil
        return SessionUser(id: user, connections: [connection])
    }

    /// Who has left and who has joined since, by the lists as a whole: a user of both has done neither.
    func changes(since before: UserRoster) -> (left: [SessionUser], joined: [SessionUser]) {
        (Self.users(of: before, without: self), Self.users(of: self, without: before))
    }

    private static func users(of roster: UserRoster, without other: UserRoster) -> [SessionUser] {
        roster.entries.filter { other.entries[$0.key] == nil }.sorted { $0.value.rank < $1.value.rank }
            .map { user($0.key, $0.value) }
    }

    private static func user(_ id: UserID, _ entry: Entry) -> SessionUser {
        SessionUser(
            id: id, connections: entry.connections.values.sorted { $0.rank < $1.rank }.map(\.connection))
    }
}
