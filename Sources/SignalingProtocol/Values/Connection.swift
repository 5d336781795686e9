/// One client in one session, as all its peers see it.
public struct Connection: Hashable, Sendable {
    public let connectionId: ConnectionID
    /// When it joined, by the server's clock; strictly increasing within a session, so peers can be put in order by it.
    public let creationTime: WallTime
    /// What the token's maker said of this client; `""` when nothing. The application server vouches for it, nobody else.
    public let data: String

    public init(connectionId: ConnectionID, creationTime: WallTime, data: String) {
        self.connectionId = connectionId
        self.creationTime = creationTime
        self.data = data
    }
}
