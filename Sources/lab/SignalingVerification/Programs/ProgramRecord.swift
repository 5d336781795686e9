import SignalingProtocol

/// What one program saw and did, with all of its connections. A backend that signals by REST never enters.
///
/// The data of every signal is unique, so that it identifies the signal.
public struct ProgramRecord: Sendable {
    public var name: String
    /// Whether it suppresses connection events (CON-4).
    public var suppressesPresence: Bool
    /// The users of the connections of which the program has heard, its own included; without those of guests.
    public var users: [ConnectionID: UserID]
    public var steps: [Step]

    public init(
        _ name: String, suppressesPresence: Bool = false, users: [ConnectionID: UserID] = [:], steps: [Step] = []
    ) {
        self.name = name
        self.suppressesPresence = suppressesPresence
        self.users = users
        self.steps = steps
    }

    /// An action or observation of a program. All programs use the same clock.
    ///
    /// A run of a million signals has several million steps: keep their stride small.
    public struct Step: Sendable {
        public var at: MonotonicInstant
        public var action: Action

        public init(_ at: MonotonicInstant, _ action: Action) {
            self.at = at
            self.action = action
        }
    }

    public enum Action: Sendable {
        /// The client is connected, for the first time or again.
        indirect case entered(Entry)
        /// A signal with this data was sent.
        case sent(String)
        /// The server answered the signal with this data.
        case answered(String, Answer)
        case received(Reception)
        /// Another connection was created. Without a seq when the program was not told it.
        case created(ConnectionID, Seq?)
        case destroyed(ConnectionID, Seq?)
        /// Another connection has lost its socket for long enough, or has one again (PRES-4).
        case away(ConnectionID)
        case back(ConnectionID)
        /// Messages were erased (HIS-9).
        case erased
        /// A message was changed (CHG-2).
        indirect case changed(ChangeEvent)
        /// A user is in the session, or no longer is (USR-3).
        case userJoined(UserID)
        case userLeft(UserID)
        /// A moderator or REST has acted (MOD-6).
        indirect case moderated(ModerationEvent, Seq)
        /// The program knows what has changed while the client had no socket (RES-5).
        case reconnected
        /// The connection ended, and the client learned of it.
        case ended
    }

    /// The contents of `connected`.
    public struct Entry: Sendable {
        public var outcome: Welcome.Outcome
        public var connectionId: ConnectionID
        public var epoch: Epoch
        public var seq: Seq
        public var replayThrough: Seq?
        public var missing: MissingEvents?
        /// The other connections; nil when the connection was resumed, since the client knows them.
        public var others: [ConnectionID]?

        public init(_ welcome: Welcome) {
            outcome = welcome.outcome
            connectionId = welcome.connection.connectionId
            epoch = welcome.epoch
            seq = welcome.seq
            replayThrough = welcome.replayThrough
            missing = welcome.missing
            let own = welcome.connection.connectionId
            others = outcome == .resumed ? nil : welcome.connections.map(\.connectionId).filter { $0 != own }
        }
    }

    public enum Answer: Sendable {
        case acknowledged(Seq?)
        /// The server did not carry out the request.
        case refused
        /// The client never learned the result.
        case unknown
    }

    public struct Reception: Sendable {
        /// Nil for an online-only signal.
        public var seq: Seq?
        public var from: ConnectionID?
        public var data: String

        public init(seq: Seq?, from: ConnectionID?, data: String) {
            self.seq = seq
            self.from = from
            self.data = data
        }
    }
}
