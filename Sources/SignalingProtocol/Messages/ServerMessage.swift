/// What the server says to a client: one line of a text message (`docs/PROTOCOL.md`, sections 4 to 9).
public enum ServerMessage: Hashable, Sendable {
    case connected(RequestID, Welcome)
    /// The request is done; a signal's seq is in the session's log (G2). No seq for what has none.
    case ack(RequestID, Seq?)
    /// The request was refused, and changed nothing. No id if it had none.
    case error(RequestID?, SignalingError)
    case signal(SignalEvent)
    case connectionCreated(Seq, Connection)
    case connectionDestroyed(Seq, ConnectionID, DisconnectReason)
    /// The server closes this socket; a close frame follows (LEAVE-4).
    case disconnected(DisconnectReason, Reconnect)
    /// All events up to the seq that are meant for this client have been sent (HB-2).
    case ping(Seq)
}

/// Whether a client that is sent away should come back, and when.
public enum Reconnect: Hashable, Sendable {
    case never
    /// As after any lost socket.
    case yes
    /// Not before this time has passed; whole milliseconds (RES-13).
    case after(Duration)
}

/// What a client learns when it is let in.
public struct Welcome: Hashable, Sendable {
    /// How a connect came out.
    public enum Outcome: String, CaseIterable, Sendable {
        case new
        /// The same connection goes on; everything that it missed follows.
        case resumed
        /// A new connection; the broadcasts that the old one missed follow.
        case recovered
        /// A new connection, and something may have been missed (G4).
        case lost
    }

    public var connection: Connection
    /// All that are connected, one's own included, by creation time.
    public var connections: [Connection]
    public var role: Role
    public var epoch: Epoch
    /// Events with a greater seq follow, none with a smaller one.
    public var seq: Seq
    public var outcome: Outcome
    /// Events up to here are replayed ones (RES-4); nil where nothing is replayed.
    public var replayThrough: Seq?
    public var resume: ResumeOffer
    public var heartbeat: Duration

    public init(
        connection: Connection, connections: [Connection], role: Role, epoch: Epoch, seq: Seq, outcome: Outcome,
        replayThrough: Seq? = nil, resume: ResumeOffer, heartbeat: Duration = Limits.heartbeat
    ) {
        self.connection = connection
        self.connections = connections
        self.role = role
        self.epoch = epoch
        self.seq = seq
        self.outcome = outcome
        self.replayThrough = replayThrough
        self.resume = resume
        self.heartbeat = heartbeat
    }
}

/// What a client needs to come back.
public struct ResumeOffer: Hashable, Sendable {
    public var secret: ResumeSecret
    /// How long after the loss of its socket the connection can be continued; zero: not at all. Whole seconds.
    public var resumeWindow: Duration
    /// How long missed broadcasts can be fetched; zero: not at all. Whole seconds.
    public var recoveryWindow: Duration

    public init(secret: ResumeSecret, resumeWindow: Duration, recoveryWindow: Duration) {
        self.secret = secret
        self.resumeWindow = resumeWindow
        self.recoveryWindow = recoveryWindow
    }
}

/// A signal as its receivers see it.
public struct SignalEvent: Hashable, Sendable {
    /// `nil` for an online-only signal.
    public var seq: Seq?
    /// `nil` for a signal that came by REST. Stamped by the server (G8).
    public var from: ConnectionID?
    /// The sender's connection, sent along only to clients that suppress connection events (SIG-9).
    public var sender: Connection?
    public var type: String?
    public var data: String?
    /// `data` is the JSON text of a value that was no string (SIG-13).
    public var isJSON: Bool
    /// Present in a directed signal.
    public var to: ConnectionID?

    public init(
        seq: Seq?, from: ConnectionID?, sender: Connection? = nil, type: String?, data: String?,
        isJSON: Bool = false, to: ConnectionID? = nil
    ) {
        self.seq = seq
        self.from = from
        self.sender = sender
        self.type = type
        self.data = data
        self.isJSON = isJSON
        self.to = to
    }
}
