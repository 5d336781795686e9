import SignalingProtocol

/// What the server keeps of a resume secret: its SHA-256. Who reads it cannot resume with it (RES-6).
public struct ResumeSecretHash: Hashable, Sendable {
    /// 32 bytes.
    public let bytes: [UInt8]
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What a client that comes back says it is, and the proof (RES-1).
public struct Resumption: Sendable {
    public var connectionId: ConnectionID
    public var secretHash: ResumeSecretHash
    public var epoch: Epoch
    /// The last seq that the client has seen.
    public var after: Seq

    public init(connectionId: ConnectionID, secretHash: ResumeSecretHash, epoch: Epoch, after: Seq) {
        self.connectionId = connectionId
        self.secretHash = secretHash
        self.epoch = epoch
        self.after = after
    }
}

/// Who may continue a connection, or have what it missed.
struct ResumeTicket: Hashable, Sendable {
    let connectionId: ConnectionID
    let role: Role
    let data: String
    /// What was said before the connection began is not its to read (RES-11).
    let begin: Seq
    /// The connection's own coming. Later than `begin` for a recovered one, which is owed what the one before had missed.
    let joined: Seq
    private(set) var secretHash: ResumeSecretHash
    /// Good until the client has shown that it knows the new one: the answer that told it may have been lost.
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

    /// RES-6 and RES-7: the right secret, and a token that says the same as the one before.
    func admits(_ claim: Resumption, of request: JoinRequest) -> Bool {
        guard claim.connectionId == connectionId, request.role == role, request.data == data else { return false }
        return claim.secretHash == secretHash || claim.secretHash == previousSecretHash
    }

    /// A new secret was given out. `claimed` is the one that the client had come with: it may have to come with it again.
    mutating func rotate(to new: ResumeSecretHash, claimed: ResumeSecretHash) {
        previousSecretHash = claimed
        secretHash = new
    }

    /// The client has been heard since: it knows the newest secret.
    mutating func confirm() { previousSecretHash = nil }
}
