import SignalingProtocol

/// The SHA-256 of a resume secret. The server keeps only this, which is not enough to resume (RES-6).
public struct ResumeSecretHash: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// A client's claim to an earlier connection, and the proof (RES-1).
public struct Resumption: Sendable {
    public var connectionId: ConnectionID
    public var secretHash: ResumeSecretHash
    public var epoch: Epoch
    /// The last seq that the client has received.
    public var after: Seq

    public init(connectionId: ConnectionID, secretHash: ResumeSecretHash, epoch: Epoch, after: Seq) {
        self.connectionId = connectionId
        self.secretHash = secretHash
        self.epoch = epoch
        self.after = after
    }
}

/// The conditions for resuming a connection, or for recovering what it missed.
struct ResumeTicket: Hashable, Sendable {
    let connectionId: ConnectionID
    let role: Role
    let data: String
    let user: UserID?
    /// The connection may read only events after this seq (RES-11).
    let begin: Seq
    /// The seq of the connection's own `connectionCreated`. Later than `begin` for a recovered connection, which also
    /// gets the events that its predecessor missed.
    let joined: Seq
    var secrets: ValidSecrets
    /// The newest event that the client can have received; `nil` while it has a socket, and if it is not known. A client
    /// that claims more is of another past: that of a server whose state was replaced by an older copy (G4).
    var reach: Seq?

    /// Whether the claim has a valid secret (RES-6), and the token the same role, connection data and user
    /// (RES-7).
    func admits(_ claim: Resumption, of request: JoinRequest) -> Bool {
        guard claim.connectionId == connectionId, request.role == role, request.data == data,
            request.user == user
        else { return false }
        return secrets.contains(claim.secretHash)
    }
}
