import SignalingProtocol

/// A user of a session (USR-1): one person over tabs, devices and reloads.
public struct SessionUser: Hashable, Sendable, Identifiable {
    public let id: UserID
    /// The user's connections, in the order in which they have joined; at least one.
    public let connections: [Connection]

    public init(id: UserID, connections: [Connection]) {
        self.id = id
        self.connections = connections
    }
}
