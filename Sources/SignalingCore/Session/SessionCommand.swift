import SignalingProtocol

/// What may be asked of a session.
public enum SessionCommand: Sendable {
    case join(JoinRequest)
    /// The connection ends. Nothing happens if it has left already, or goes on by another socket: a socket's end may cross
    /// with a forced disconnect, or with a resume.
    case leave(SocketBinding, DisconnectReason)
    /// The socket is lost; the connection may be continued on another (RES-2). Nothing happens where `leave` does nothing.
    case detach(SocketBinding)
    /// The client was heard on a socket by which it had come back: it knows its new secret (RES-6).
    case heard(SocketBinding)
    case signal(CommandSender, SignalRequest)
    case forceDisconnect(CommandSender, ConnectionID)
}

/// On whose behalf a command is given.
public enum CommandSender: Hashable, Sendable {
    /// A client, by one of its sockets, and its own name for this request if it has one.
    case connection(SocketBinding, RequestID?)
    /// The project's own server, by REST. No role limits it.
    case server
}

/// A client that has shown a valid token.
public struct JoinRequest: Sendable {
    /// For a new connection; fresh and random, chosen by the caller.
    public var connectionId: ConnectionID
    public var socket: SocketID
    public var role: Role
    public var data: String
    /// It does not want to know who else is there (CON-4).
    public var suppressesPresence: Bool
    public var wallTime: WallTime
    /// Of the secret that this client gets for the next time.
    public var secretHash: ResumeSecretHash
    /// What it wants to continue, if anything.
    public var resumption: Resumption?
    /// Its token's time is over: it may continue a connection, and not begin one (RES-7).
    public var isExpired: Bool

    public init(
        connectionId: ConnectionID, socket: SocketID, role: Role, data: String, suppressesPresence: Bool = false,
        wallTime: WallTime, secretHash: ResumeSecretHash, resumption: Resumption? = nil, isExpired: Bool = false
    ) {
        self.connectionId = connectionId
        self.socket = socket
        self.role = role
        self.data = data
        self.suppressesPresence = suppressesPresence
        self.wallTime = wallTime
        self.secretHash = secretHash
        self.resumption = resumption
        self.isExpired = isExpired
    }
}

/// The answer to a command, for who gave it.
public enum SessionOutcome: Sendable {
    case joined(JoinResult)
    /// The connection that it wants to continue was forced out while it had no socket.
    case wasForceDisconnected
    /// The answer to `leave`, `detach` and `heard`, whether or not the command changed anything.
    case done
    /// It is in the log with this seq (G2); no seq for an online-only signal.
    case signalled(Seq?)
    case forceDisconnected
    /// Nothing has changed.
    case refused(SignalingError)
}

/// What a client finds when it has joined.
public struct JoinResult: Sendable {
    public var connection: Connection
    public var role: Role
    /// All that are connected, by creation time; its own alone for one that suppresses presence or has resumed (RES-5).
    public var connections: [Connection]
    public var epoch: Epoch
    /// What it will see comes after.
    public var seq: Seq
    public var outcome: Welcome.Outcome
    /// The last event of the replay; nil where nothing is replayed (RES-4).
    public var replayThrough: Seq?
    public var resumeWindow: Duration
    public var recoveryWindow: Duration
}

/// What a session causes beside its commands' outcomes and the log.
public enum SessionEffect: Sendable {
    /// To be handed to the receivers that can take it now; it is nowhere else.
    case onlineOnly(OnlineOnlySignal)
    /// One that nobody gets, for who counts.
    case onlineOnlyDropped(OnlineOnlyDrop)
    /// A connection is no longer in the session, not by its own doing: its socket has to be closed.
    case ended(ConnectionID, DisconnectReason)
    /// A connection goes on by a newer socket: this older one has to be closed (RES-8).
    case superseded(SocketID)
    /// For who watches from outside of the session: its members have this from the log.
    case presence(PresenceEvent)
}

/// Why an online-only signal was not relayed (SIG-12).
public enum OnlineOnlyDrop: String, CaseIterable, Hashable, Sendable {
    case tooOften
    case tooManyConnections
}

/// A signal that is delivered to who is connected right now, and never kept.
public struct OnlineOnlySignal: Sendable {
    /// It stands after the event with this seq and before the next.
    public var after: Seq
    public var from: ConnectionID?
    public var type: String?
    public var audience: Audience
    public var line: EncodedLine

    public init(after: Seq, from: ConnectionID?, type: String?, audience: Audience, line: EncodedLine) {
        self.after = after
        self.from = from
        self.type = type
        self.audience = audience
        self.line = line
    }
}
