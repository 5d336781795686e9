/// What proves that a program owned a connection: another run of it can replace that connection.
///
/// Whoever has the secret can take the connection over, so keep it where only the program can read it.
public struct ConnectionClaim: Hashable, Sendable {
    public var connectionId: ConnectionID
    public var secret: ResumeSecret
    public var epoch: Epoch
    /// Everything that the connection has sent since it got this secret has a greater seq.
    public var seq: Seq

    public init(connectionId: ConnectionID, secret: ResumeSecret, epoch: Epoch, seq: Seq) {
        self.connectionId = connectionId
        self.secret = secret
        self.epoch = epoch
        self.seq = seq
    }

    /// Ends the connection, and never resumes it: no session has this seq, so the outcome is `lost`, and the server ends
    /// the old connection (RES-3). A new run does not know the members and events that a resumed connection continues.
    package var replacement: ResumeRequest {
        ResumeRequest(
            connectionId: connectionId, secret: secret, epoch: epoch, after: Seq(9_007_199_254_740_991))
    }
}

extension ConnectionClaim: CustomStringConvertible {
    /// Omits the secret.
    public var description: String { "the claim of \(connectionId)" }
}
