import SignalingProtocol

/// A command to a session.
public enum SessionCommand: Sendable {
    indirect case join(JoinRequest)
    /// Ends a connection. Does nothing if the connection has left or uses another socket: the end of a socket may cross
    /// with a forced disconnect or a resume.
    case leave(SocketBinding, DisconnectReason)
    /// The socket is lost, and the connection may be resumed on another (RES-2). Does nothing where `leave` does
    /// nothing.
    case detach(SocketBinding)
    /// The server received a message on the socket of a resumed connection: the client has the new secret (RES-6).
    case heard(SocketBinding)
    case signal(CommandSender, SignalRequest)
    case forceDisconnect(CommandSender, ConnectionID)
    /// Changes a message of the history (CHG-1).
    indirect case change(CommandSender, ChangeRequest)
    /// Sets a user's reactions to a message (CHG-11).
    indirect case react(CommandSender, ReactRequest)
    /// Reads who has reacted to a message (CHG-14).
    indirect case reactors(SocketBinding, ReactorsRequest)
    /// The connection's user has read every message up to this seq (READ-1).
    case read(SocketBinding, through: Seq)
    /// Erases messages of the history (HIS-9).
    case erase(CommandSender, Erasure)
    /// Restricts a user or the session, or lifts a restriction (MOD-1).
    indirect case moderate(CommandSender, ModerationRequest, Acceptance)
    /// Replaces the streams that a connection announces (STR-1).
    case streams(CommandSender, [AnnouncedStream])
    /// Reads what holds (MOD-6).
    case restrictions(SocketBinding)
    /// The client has shown a newer token (CON-12).
    case refreshToken(SocketBinding, TokenClaims)
}

/// The sender of a command.
public enum CommandSender: Hashable, Sendable {
    /// A client, on one of its sockets, with the ID of its request if it has one.
    case connection(SocketBinding, RequestID?)
    /// The application's server, by REST. No role limits it.
    case server
}

/// When a server accepted a request.
public struct Acceptance: Hashable, Sendable {
    /// By the server's clock.
    public let date: WallTime
    /// The log's time at that date; `nil` without a log, and in commands of older rules.
    public var moment: MonotonicInstant?

    public init(date: WallTime, moment: MonotonicInstant? = nil) {
        self.date = date
        self.moment = moment
    }

    /// The date at a time of the log: the command may have waited for its place in the log.
    func date(at now: MonotonicInstant) -> WallTime {
        let wait = moment.map { max(0, now.duration(since: $0).wholeMilliseconds) } ?? 0
        return WallTime(milliseconds: date.milliseconds &+ wait)
    }
}

/// A client with a verified token that asks to join a session.
public struct JoinRequest: Sendable {
    /// The ID for a new connection, made from fresh randomness by the caller.
    public var connectionId: ConnectionID
    public var socket: SocketID
    public var role: Role
    public var data: String
    /// The user that the token names; `nil` for a guest.
    public var user: UserID?
    /// Whether a new connection suppresses connection events (CON-4). A resumed one keeps its own option.
    public var suppressesPresence: Bool
    /// Whether the client takes the list of connections in pages (CON-11).
    public var getsPages: Bool
    /// Whether the client is told which connections are away (PRES-4).
    public var getsAbsences: Bool
    public var wallTime: WallTime
    /// The hash of the secret that this client gets for its next resume.
    public var secretHash: ResumeSecretHash
    /// The claim to an earlier connection; `nil` for a new one.
    public var resumption: Resumption?
    /// Whether the token has expired or is not valid yet: the client may resume a connection but not begin one (RES-7).
    public var isUntimely: Bool
    /// Recognizes the connections of one token (RES-12); `nil` if it is not known.
    public var token: TokenFingerprint?

    public init(
        connectionId: ConnectionID, socket: SocketID, role: Role, data: String, user: UserID? = nil,
        suppressesPresence: Bool = false, getsPages: Bool = false, getsAbsences: Bool = false, wallTime: WallTime,
        secretHash: ResumeSecretHash, resumption: Resumption? = nil, isUntimely: Bool = false,
        token: TokenFingerprint? = nil
    ) {
        self.connectionId = connectionId
        self.socket = socket
        self.role = role
        self.data = data
        self.user = user
        self.suppressesPresence = suppressesPresence
        self.getsPages = getsPages
        self.getsAbsences = getsAbsences
        self.wallTime = wallTime
        self.secretHash = secretHash
        self.resumption = resumption
        self.isUntimely = isUntimely
        self.token = token
    }
}

/// The answer to a command, for its sender.
public enum SessionOutcome: Sendable {
    indirect case joined(JoinResult)
    /// The connection to resume was force-disconnected while it had no socket (RES-10).
    case wasForceDisconnected
    /// A connect that its client has given up comes late: the client has a newer secret of the connection (RES-8).
    case superseded
    /// The answer to `leave`, `detach` and `heard`, whether or not the command changed anything.
    case done
    /// The signal is in the log with this seq (G2). `nil` for an online-only signal.
    case signalled(Seq?)
    case forceDisconnected
    /// The change has this seq.
    case changed(Seq)
    /// The user has these reactions to the message.
    case reacted
    /// The read marker is noted.
    case marked
    /// Who has reacted to this message.
    case reactors(Seq, [Reactors])
    /// The erasure has this seq.
    case erased(Seq)
    /// The action is carried out, and concerns this subject.
    indirect case moderated(ModerationRecord, of: RestrictionRecord.Subject)
    /// The streams are announced by the event with this seq.
    case announced(Seq)
    /// What holds.
    case restrictions([RestrictionRecord])
    /// The expiry of the newer token is noted.
    case refreshed(TokenExpiry)
    /// The command was refused, and changed nothing (ERR-2).
    case refused(SignalingError)
    /// The node has lost its copy of the session before it had an outcome. The sender may try again.
    ///
    /// - Parameter mayBeCarriedOut: whether the command may have taken effect.
    case unavailable(mayBeCarriedOut: Bool)
}

/// The answer to a successful join.
public struct JoinResult: Sendable {
    public var connection: Connection
    public var role: Role
    /// Whether the connection suppresses connection events (CON-4).
    public var suppressesPresence: Bool
    /// The other connections by creation time. None after a resume (RES-5), and when the client suppresses presence.
    public var others = ConnectionListing.none
    /// The number of connections in the session if `connected` does not have the whole list (CON-11).
    public var connectionCount: Int? = nil
    public var epoch: Epoch
    /// The client receives the events after this seq.
    public var seq: Seq
    public var outcome: Welcome.Outcome
    /// The last seq of the replay; `nil` without a replay (RES-4).
    public var replayThrough: Seq?
    /// The events that the log no longer has (RES-16).
    public var missing: MissingEvents? = nil
    /// The connections that are away, for a client that is told of them.
    public var absences: Absences? = nil
    /// The streams of all connections (STR-2).
    public var streams: [StreamAnnouncement] = []
    /// Whether the session keeps a history.
    public var hasHistory = false
    /// What the session permits the authors of messages; `nil` without a history (CHG-3).
    public var changes: [ChangeKind]? = nil
    /// What the client learns of read markers (READ-3).
    public var read: ReadState? = nil
    /// The restrictions that hold for the client (MOD-5).
    public var restrictions: [Restriction] = []
    public var resumeWindow: Duration
    public var recoveryWindow: Duration
}

/// A consequence of a command that is neither its outcome nor an event in the log.
public enum SessionEffect: Sendable {
    /// Deliver an online-only signal to the receivers that are up to date now. It is not in the log.
    case onlineOnly(OnlineOnlySignal)
    /// An online-only signal was dropped. For metrics.
    case onlineOnlyDropped(OnlineOnlyDrop)
    /// A connection was removed from the session, maybe because of a ban: close its socket.
    indirect case ended(ConnectionID, DisconnectReason, ban: Restriction? = nil)
    /// A connection was resumed on a newer socket: close this older one (RES-8).
    case superseded(SocketID)
    /// Presence for observers outside of the session, such as webhooks. Members get it from the log.
    case presence(PresenceEvent)
    /// The same from a session that outlives the process: at least once, until ``SessionEngine/noteTold(_:of:)``.
    case keptPresence(KeptPresenceEvent)
}

/// Why an online-only signal was dropped (SIG-12).
public enum OnlineOnlyDrop: String, CaseIterable, Hashable, Sendable {
    /// The connection sends more than ``SessionState/Bounds/onlineOnlyRate``.
    case tooOften
    /// The session has more connections than ``SessionState/Bounds/onlineOnlyConnectionCount``.
    case tooManyConnections
}

/// A signal or a read marker for the clients that are connected now. It is never kept (SIG-10).
public struct OnlineOnlySignal: Sendable {
    /// Deliver it after the event with this seq, and before the next event.
    public var after: Seq
    public var from: ConnectionID?
    public var type: String?
    public var audience: Audience
    public var line: EncodedLine
    /// Whose read marker it is, if it is one (READ-3): of each user the newest counts.
    public var marker: UserID?

    public init(
        after: Seq, from: ConnectionID?, type: String?, audience: Audience, line: EncodedLine, marker: UserID? = nil
    ) {
        self.after = after
        self.from = from
        self.type = type
        self.audience = audience
        self.line = line
        self.marker = marker
    }
}
