import SignalingProtocol

/// What the clients of one session did and saw, as they noted it themselves: what ``HistoryChecker`` judges.
///
/// Each signal's data is different from that of every other, so that it names the signal.
public struct History: Sendable {
    public var clients: [Client]
    /// What the server appended, by epoch, where somebody could look; empty where only the clients are known.
    public var logs: [Epoch: [LogRecord]]
    /// Whether the history ends in peace: whoever is connected has had the time to get everything.
    public var isSettled: Bool
    /// How many orders the session may have had: one more than the server has lost it. Nil: any number.
    public var mostEpochs: Int?

    public init(
        clients: [Client] = [], logs: [Epoch: [LogRecord]] = [:], isSettled: Bool = true, mostEpochs: Int? = nil
    ) {
        self.clients = clients
        self.logs = logs
        self.isSettled = isSettled
        self.mostEpochs = mostEpochs
    }

    /// One participant, through all of its connections; a backend that signals by REST is one that never enters.
    public struct Client: Sendable {
        public var name: String
        /// It has asked for no connection events (CON-4).
        public var suppressesPresence: Bool
        public var steps: [Step]

        public init(_ name: String, suppressesPresence: Bool = false, steps: [Step] = []) {
            self.name = name
            self.suppressesPresence = suppressesPresence
            self.steps = steps
        }
    }

    /// Something that a client did or saw, and when: moments of all clients are of one clock.
    public struct Step: Sendable {
        public var at: MonotonicInstant
        public var what: What

        public init(_ at: MonotonicInstant, _ what: What) {
            self.at = at
            self.what = what
        }
    }

    public enum What: Sendable {
        /// It begins to open a socket.
        case opening
        /// It is in, or back.
        case entered(Entry)
        case sent(Sending)
        /// The signal with that data was answered.
        case answered(String, Answer)
        case received(Reception)
        /// Another connection came; no seq where it was learned from a list.
        case created(ConnectionID, Seq?)
        case destroyed(ConnectionID, Seq?)
        /// Its connection is over, and it was told so.
        case ended
    }

    /// What `connected` said.
    public struct Entry: Hashable, Sendable {
        public var outcome: Welcome.Outcome
        public var connectionId: ConnectionID
        public var epoch: Epoch
        public var seq: Seq
        public var replayThrough: Seq?
        /// Who else is here; nil for a resumed connection, which knows.
        public var others: [ConnectionID]?

        public init(_ welcome: Welcome) {
            outcome = welcome.outcome
            connectionId = welcome.connection.connectionId
            epoch = welcome.epoch
            seq = welcome.seq
            replayThrough = welcome.replayThrough
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
        /// It was not carried out.
        case refused
        /// Nobody knows.
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

    /// An event of the session's order.
    public enum Event: Hashable, Sendable {
        case signal(from: ConnectionID?, data: String, to: ConnectionID?)
        case created(ConnectionID)
        case destroyed(ConnectionID)
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

/// A promise that a history does not keep.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    public enum Promise: String, CaseIterable, Sendable {
        case g1 = "G1"
        case g2 = "G2"
        case g3 = "G3"
        case g4 = "G4"
        case g6 = "G6"
        case g7 = "G7"
        case g8 = "G8"
    }

    public enum Kind: Sendable {
        case missing, twice, disorder
        /// Something was said that is not so.
        case untrue
    }

    public var promise: Promise
    public var kind: Kind
    public var text: String

    public init(_ promise: Promise, _ kind: Kind, _ text: String) {
        self.promise = promise
        self.kind = kind
        self.text = text
    }

    public var description: String { "\(promise.rawValue): \(text)" }
}
