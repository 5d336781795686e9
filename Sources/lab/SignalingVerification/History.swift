import SignalingProtocol

/// The steps that the clients of one session recorded. ``HistoryChecker`` judges them.
///
/// The data of every signal is unique, so that it identifies the signal.
public struct History: Sendable {
    public var clients: [Client]
    /// The server's logs by epoch, if they are known; empty if only the clients' records are.
    public var logs: [Epoch: [LogRecord]]
    /// Whether every connected client had the time to receive everything before the history ends.
    public var isSettled: Bool
    /// The maximum number of epochs: one more than the number of times that the server lost the session. `nil`:
    /// unlimited.
    public var epochLimit: Int?

    public init(
        clients: [Client] = [], logs: [Epoch: [LogRecord]] = [:], isSettled: Bool = true, epochLimit: Int? = nil
    ) {
        self.clients = clients
        self.logs = logs
        self.isSettled = isSettled
        self.epochLimit = epochLimit
    }

    /// One participant with all of its connections. A backend that signals by REST is a client that never enters.
    public struct Client: Sendable {
        public var name: String
        /// Whether it suppresses connection events (CON-4).
        public var suppressesPresence: Bool
        /// The users of the connections of which the client has heard, its own included; without those of guests.
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
    }

    /// An action or observation of a client. All clients use the same clock.
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
        /// The client begins to open a socket.
        case opening
        /// The client is connected, for the first time or again.
        indirect case entered(Entry)
        indirect case sent(Sending)
        /// The server answered the signal with this data.
        case answered(String, Answer)
        case received(Reception)
        /// Another connection was created. Without a seq when the client learned it from a list.
        case created(ConnectionID, Seq?)
        case destroyed(ConnectionID, Seq?)
        /// Another connection has lost its socket for long enough, or has one again (PRES-4).
        case away(ConnectionID)
        case back(ConnectionID)
        /// Messages were erased, all of them older than this step (HIS-9).
        case erased(Erasure)
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
    public struct Entry: Hashable, Sendable {
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

    public struct Sending: Hashable, Sendable {
        public var data: String
        public var type: String?
        public var to: ConnectionID?
        public var isOnlineOnly: Bool

        public init(data: String, type: String? = nil, to: ConnectionID? = nil, isOnlineOnly: Bool = false) {
            self.data = data
            self.type = type
            self.to = to
            self.isOnlineOnly = isOnlineOnly
        }
    }

    public enum Answer: Hashable, Sendable {
        case acknowledged(Seq?)
        /// The server did not carry out the request.
        case refused
        /// The client never learned the result.
        case unknown
    }

    public struct Reception: Hashable, Sendable {
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

    /// An event of the session's log.
    public enum Event: Hashable, Sendable, CustomStringConvertible {
        case signal(from: ConnectionID?, data: String, to: ConnectionID?)
        case created(ConnectionID)
        case destroyed(ConnectionID)
        case erased(Erasure)
        indirect case moderated(ModerationEvent)
        indirect case restricted(Restriction)
        case unrestricted(Restriction.Kind)

        /// Short enough for one line, however long the data is.
        public var description: String {
            switch self {
            case .signal(let from, let data, let to):
                let text = data.count > 40 ? "\(data.prefix(37))..." : data
                return "\"\(text)\" from \(from?.rawValue ?? "the server") to \(to?.rawValue ?? "all")"
            case .created(let id): return "the creation of \(id)"
            case .destroyed(let id): return "the end of \(id)"
            case .erased(.message(let seq)): return "the erasure of \(seq)"
            case .erased(.through(let seq)): return "the erasure of all up to \(seq)"
            case .erased(.user(let user)): return "the erasure of the messages of \(user)"
            case .moderated(let event): return "the action \(event.action.name)"
            case .restricted(let restriction): return "the begin of a \(restriction.kind)"
            case .unrestricted(let kind): return "the end of a \(kind)"
            }
        }
    }

    public struct LogRecord: Hashable, Sendable {
        public var seq: Seq
        public var event: Event

        public init(_ seq: Seq, _ event: Event) {
            self.seq = seq
            self.event = event
        }
    }
}
