/// A message from a client to the server: one line of a text message (`docs/PROTOCOL.md`, sections 4 to 8).
public enum ClientMessage: Hashable, Sendable {
    indirect case connect(RequestID, ConnectRequest)
    case signal(RequestID, SignalRequest)
    case forceDisconnect(RequestID, ConnectionID)
    /// Shows a newer token for the same session, role and connection data (CON-12).
    case refreshToken(RequestID, token: String)
    /// Reads a page of the session's history (HIS-6).
    case history(RequestID, HistoryRequest)
    /// Changes a message of the session's history (CHG-1).
    indirect case change(RequestID, ChangeRequest)
    /// Sets the user's reactions to a message (CHG-11).
    case react(RequestID, ReactRequest)
    /// Asks who has reacted to a message (CHG-14).
    case reactors(RequestID, ReactorsRequest)
    /// The user has read every message up to this seq (READ-1).
    case read(RequestID, through: Seq)
    /// Erases messages of the session's history (HIS-9).
    case erase(RequestID, Erasure)
    /// Restricts a user or the session, or lifts a restriction (MOD-1).
    case moderate(RequestID, ModerationRequest)
    /// Reads the restrictions that hold (MOD-6).
    case restrictions(RequestID)
    /// Replaces the streams that this connection announces (STR-1).
    case streams(RequestID, [AnnouncedStream])
    case disconnect(RequestID)
    /// Reply to a ping. It has no ID, and the server does not answer it (HB-1).
    case pong
}

/// The request that opens or resumes a connection.
public struct ConnectRequest: Hashable, Sendable {
    public var apiKey: APIKey
    public var sessionId: SessionID
    public var token: String
    /// Whether the client asks for no events about other connections (CON-4). The default is false.
    public var connectionEventsSuppressed: Bool
    /// Whether the client takes the list of connections in pages (CON-11). The default is false.
    public var connectionPages: Bool
    /// Whether the client is told which connections are away (PRES-4). The default is false.
    public var connectionAwayEvents: Bool
    /// Whether the client is told of streams (STR-2). The default is false.
    public var streamEvents: Bool
    /// The page of the session's history that follows `connected` (HIS-5); `nil` for none.
    public var history: HistoryRequest?
    /// The connection to resume; `nil` to open a new one.
    public var resume: ResumeRequest?

    public init(
        apiKey: APIKey, sessionId: SessionID, token: String, connectionEventsSuppressed: Bool = false,
        connectionPages: Bool = false, connectionAwayEvents: Bool = false, streamEvents: Bool = false,
        history: HistoryRequest? = nil, resume: ResumeRequest? = nil
    ) {
        self.apiKey = apiKey
        self.sessionId = sessionId
        self.token = token
        self.connectionEventsSuppressed = connectionEventsSuppressed
        self.connectionPages = connectionPages
        self.connectionAwayEvents = connectionAwayEvents
        self.streamEvents = streamEvents
        self.history = history
        self.resume = resume
    }
}

extension ConnectRequest: CustomStringConvertible {
    /// Omits the token.
    public var description: String { "connect to \(sessionId) of \(apiKey)" }
}

/// The connection that a client wants to resume, and the proof that it owns that connection (RES-1).
public struct ResumeRequest: Hashable, Sendable {
    public var connectionId: ConnectionID
    public var secret: ResumeSecret
    public var epoch: Epoch
    /// The last seq that the client has received.
    public var after: Seq

    public init(connectionId: ConnectionID, secret: ResumeSecret, epoch: Epoch, after: Seq) {
        self.connectionId = connectionId
        self.secret = secret
        self.epoch = epoch
        self.after = after
    }
}
