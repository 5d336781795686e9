/// One client in one session, as the other clients see it.
public struct Connection: Hashable, Sendable {
    public let connectionId: ConnectionID
    /// When the client joined, by the server's clock. Strictly increasing within a session, so that it orders peers.
    public let creationTime: WallTime
    /// The connection data of the client's token; empty when the token has none. Signed by the application's server, so
    /// a client cannot choose it.
    public let data: String
    /// The user that the client's token names; `nil` for a guest (USR-1). Signed, too.
    public let user: UserID?

    public init(connectionId: ConnectionID, creationTime: WallTime, data: String, user: UserID? = nil) {
        self.connectionId = connectionId
        self.creationTime = creationTime
        self.data = data
        self.user = user
    }
}
