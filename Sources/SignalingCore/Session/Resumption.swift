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
    /// The connection may read only events after this seq (RES-11).
    let begin: Seq
    /// The seq of the connection's own `connectionCreated`. Later than `begin` for a recovered connection, which also
    /// gets the events that its predecessor missed.
    let joined: Seq
    private(set) var secretHash: ResumeSecretHash
    /// Valid until the first message from the client arrives on the new socket: the `connected` with the new secret may
    /// have been lost (RES-6).
    private(set) var previousSecretHash: ResumeSecretHash?

    init(
        connectionId: ConnectionID, role: Role, data: String, begin: Seq, joined: Seq, secretHash: ResumeSecretHash,
        previousSecretHash: ResumeSecretHash? = nil
    ) {
        self.connectionId = connectionId
        self.role = role
        self.data = data
        self.begin = begin
        self.joined = joined
        self.secretHash = secretHash
        self.previousSecretHash = previousSecretHash
    }

    /// Whether the claim has the right secret (RES-6), and the token the same role and connection data (RES-7).
    func admits(_ claim: Resumption, of request: JoinRequest) -> Bool {
        guard claim.connectionId == connectionId, request.role == role, request.data == data else { return false }
        return claim.secretHash == secretHash || claim.secretHash == previousSecretHash
    }

    /// Replaces the secret after a resume.
    ///
    /// - Parameter claimed: the hash of the secret that the client presented. It stays valid until ``confirm()``.
    mutating func rotate(to new: ResumeSecretHash, claimed: ResumeSecretHash) {
        previousSecretHash = claimed
        secretHash = new
    }

    /// Ends the validity of the previous secret: the client has the newest one.
    mutating func confirm() { previousSecretHash = nil }
}
