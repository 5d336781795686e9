import SignalingProtocol

/// The connections that are away: their sockets were lost ``Limits/awayDelay`` ago, and they have not come back (PRES-4).
///
/// A client is told of the difference between this value and the one that it was told before. So a slow client needs no
/// queue: it skips what changed back meanwhile.
public struct Absences: Sendable {
    /// The connections in the order in which they went away; at most `Limits.awayCount`.
    public private(set) var ids: [ConnectionID] = []
    private(set) var members: Set<ConnectionID> = []
    /// Changes with every change in a session, so that comparing two values of one session is cheap.
    public private(set) var version: UInt64 = 0

    public init() {}

    /// Absences as they were kept; `nil` if a connection occurs twice.
    init?(ids: [ConnectionID], version: UInt64) {
        self.ids = ids
        self.version = version
        members = Set(ids)
        guard members.count == ids.count else { return nil }
    }

    public func contains(_ connection: ConnectionID) -> Bool { members.contains(connection) }

    /// Does nothing over the limit: the connection is then never told away.
    mutating func insert(_ connection: ConnectionID) {
        guard members.count < Limits.awayCount, members.insert(connection).inserted else { return }
        ids.append(connection)
        version += 1
    }

    mutating func remove(_ connection: ConnectionID) {
        guard members.remove(connection) != nil else { return }
        ids.removeAll { $0 == connection }
        version += 1
    }
}
