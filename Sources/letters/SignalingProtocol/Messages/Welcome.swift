/// The server's answer to a successful connect (CON-5 to CON-7).
public struct Welcome: Hashable, Sendable {
    /// How the connect continues an earlier connection (RES-2).
    public enum Outcome: String, CaseIterable, Sendable {
        /// A new connection. The client asked for none to be resumed.
        case new
        /// The same connection continues. Every event that it missed follows.
        case resumed
        /// A new connection. The broadcasts that the old one missed follow.
        case recovered
        /// A new connection. The client may have missed events (G4).
        case lost
    }

    public var connection: Connection
    /// All connections of the session, this one included, by creation time. Only this one after a resume, and for a
    /// client that suppresses connection events. The server sets only this one, and inserts the others
    /// (``EncodedWelcome``).
    public var connections: [Connection]
    /// The number of connections in the session if ``connections`` is not the whole list: the others follow in pages,
    /// or the list is too long for a client that takes no pages (CON-11).
    public var connectionCount: Int?
    public var role: Role
    public var epoch: Epoch
    /// Events with a greater seq follow.
    public var seq: Seq
    public var outcome: Outcome
    /// Events up to this seq are a replay (RES-4); `nil` without a replay.
    public var replayThrough: Seq?
    /// After ``Outcome/lost``: the events that the log no longer has (RES-16). `nil` if the server cannot name them.
    public var missing: MissingEvents?
    /// The connections that are away, for a client that asked for them (PRES-4).
    public var away: [ConnectionID]?
    /// Whether the session keeps a history that this client may read (HIS-5).
    public var hasHistory: Bool
    /// What the session permits the authors of messages (CHG-3); `nil` if it keeps no history.
    public var changes: [ChangeKind]?
    /// What the session says of read markers (READ-3); `nil` if it has none for this client.
    public var read: ReadState?
    /// The streams of the other connections, for a client that asked for them and was not resumed (STR-2). Not decoded.
    public var streams: [StreamAnnouncement]?
    /// What holds for this client (MOD-5).
    public var restrictions: [Restriction]
    public var resume: ResumeOffer
    /// The time between two pings of the server, in whole seconds (HB-1).
    public var heartbeat: Duration

    public init(
        connection: Connection, connections: [Connection], connectionCount: Int? = nil, role: Role, epoch: Epoch,
        seq: Seq, outcome: Outcome,
        replayThrough: Seq? = nil, missing: MissingEvents? = nil, away: [ConnectionID]? = nil,
        hasHistory: Bool = false, changes: [ChangeKind]? = nil, read: ReadState? = nil,
        streams: [StreamAnnouncement]? = nil,
        restrictions: [Restriction] = [],
        resume: ResumeOffer,
        heartbeat: Duration = Limits.heartbeat
    ) {
        self.connection = connection
        self.connections = connections
        self.connectionCount = connectionCount
        self.role = role
        self.epoch = epoch
        self.seq = seq
        self.outcome = outcome
        self.replayThrough = replayThrough
        self.missing = missing
        self.away = away
        self.hasHistory = hasHistory
        self.changes = changes
        self.read = read
        self.streams = streams
        self.restrictions = restrictions
        self.resume = resume
        self.heartbeat = heartbeat
    }
}

/// The seqs of the events that a client may have missed for good (RES-16). Some of these events may not have been meant
/// for it.
public struct MissingEvents: Hashable, Sendable {
    public var first: Seq
    /// Not less than `first`.
    public var last: Seq

    public init(first: Seq, last: Seq) {
        self.first = first
        self.last = last
    }
}

/// The secret and the time windows for a later resume.
public struct ResumeOffer: Hashable, Sendable {
    public var secret: ResumeSecret
    /// How long after the loss of its socket the connection can be resumed. Whole seconds; zero disables resuming.
    public var resumeWindow: Duration
    /// How long after the loss of its socket a client can fetch missed broadcasts. Whole seconds; zero disables it.
    public var recoveryWindow: Duration

    public init(secret: ResumeSecret, resumeWindow: Duration, recoveryWindow: Duration) {
        self.secret = secret
        self.resumeWindow = resumeWindow
        self.recoveryWindow = recoveryWindow
    }
}
