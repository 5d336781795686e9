/// What a client says to the server: one line of a text message (`docs/PROTOCOL.md`, sections 4 to 8).
public enum ClientMessage: Hashable, Sendable {
    case connect(RequestID, ConnectRequest)
    case signal(RequestID, SignalRequest)
    case forceDisconnect(RequestID, ConnectionID)
    case disconnect(RequestID)
    /// The answer to a ping; it has no id and gets no answer (HB-1).
    case pong
}

/// What a client shows to get in.
public struct ConnectRequest: Hashable, Sendable {
    public var apiKey: APIKey
    public var sessionId: SessionID
    public var token: String
    /// No events about other connections, please (CON-4).
    public var connectionEventsSuppressed: Bool
    /// The connection to continue, if any.
    public var resume: ResumeRequest?

    public init(
        apiKey: APIKey, sessionId: SessionID, token: String, connectionEventsSuppressed: Bool = false,
        resume: ResumeRequest? = nil
    ) {
        self.apiKey = apiKey
        self.sessionId = sessionId
        self.token = token
        self.connectionEventsSuppressed = connectionEventsSuppressed
        self.resume = resume
    }
}

extension ConnectRequest: CustomStringConvertible {
    /// Without the token.
    public var description: String { "connect to \(sessionId) of \(apiKey)" }
}

/// The connection that a client wants to continue, with the proof that it is its own.
public struct ResumeRequest: Hashable, Sendable {
    public var connectionId: ConnectionID
    public var secret: ResumeSecret
    public var epoch: Epoch
    /// The last seq that it has seen.
    public var after: Seq

    public init(connectionId: ConnectionID, secret: ResumeSecret, epoch: Epoch, after: Seq) {
        self.connectionId = connectionId
        self.secret = secret
        self.epoch = epoch
        self.after = after
    }
}
