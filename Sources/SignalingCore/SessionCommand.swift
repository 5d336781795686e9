import SignalingProtocol

/// What may be asked of a session.
public enum SessionCommand: Sendable {
    case join(JoinRequest)
    /// Nothing happens if it has left already: a socket's end and a forced disconnect may cross.
    case leave(ConnectionID, DisconnectReason)
    case signal(CommandSender, SignalRequest)
    case forceDisconnect(CommandSender, ConnectionID)
}

/// On whose behalf a command is given.
public enum CommandSender: Hashable, Sendable {
    case connection(ConnectionID)
    /// The project's own server, by REST. No role limits it.
    case server
}

/// A client that has shown a valid token.
public struct JoinRequest: Sendable {
    /// Fresh and random, chosen by the caller.
    public var connectionId: ConnectionID
    public var role: Role
    public var data: String
    /// It does not want to know who else is there (CON-4).
    public var suppressesPresence: Bool
    public var wallTime: WallTime

    public init(
        connectionId: ConnectionID, role: Role, data: String, suppressesPresence: Bool = false, wallTime: WallTime
    ) {
        self.connectionId = connectionId
        self.role = role
        self.data = data
        self.suppressesPresence = suppressesPresence
        self.wallTime = wallTime
    }
}

/// The answer to a command, for who gave it.
public enum SessionOutcome: Sendable {
    case joined(Membership)
    case left
    /// It is in the log with this seq (G2); no seq for an online-only signal.
    case signalled(Seq?)
    case forcedOut
    /// Nothing has changed.
    case refused(SignalingError)
}

/// What a client finds when it has joined.
public struct Membership: Sendable {
    public var connection: Connection
    public var role: Role
    /// All that are connected, by creation time; its own alone for one that suppresses presence.
    public var connections: [Connection]
    public var epoch: Epoch
    /// Its own `connectionCreated`; what it will see comes after.
    public var seq: Seq

    public init(connection: Connection, role: Role, connections: [Connection], epoch: Epoch, seq: Seq) {
        self.connection = connection
        self.role = role
        self.connections = connections
        self.epoch = epoch
        self.seq = seq
    }
}

/// What a command causes beside its outcome and the log.
public enum SessionEffect: Sendable {
    /// To be handed to the receivers that can take it now; it is nowhere else.
    case onlineOnly(OnlineOnlySignal)
    /// A connection is no longer in the session, not by its own doing: its socket has to be closed.
    case ended(ConnectionID, DisconnectReason)
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
