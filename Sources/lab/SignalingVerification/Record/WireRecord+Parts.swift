import SignalingProtocol

extension WireRecord {
    struct Sending: Sendable {
        var from: Name?
        var to: WireOrder.Target
        var type: String?
        var isOnlineOnly: Bool
        /// When its request first passed.
        var sentAt: MonotonicInstant
        /// The socket on which its request first passed; nil for a signal by REST.
        var socket: SocketNumber?
        var epoch: Int32 = -1
        var seq = -1
        /// When its acknowledgement passed.
        var acknowledgedAt: MonotonicInstant?
        /// The epoch of the session when REST acknowledged the signal; -1 without such an acknowledgement.
        var restEpoch: Int32 = -1
    }

    /// What a token says of its client.
    struct TokenClaims: Sendable {
        var role: String
        var data: String
        /// nil for a guest.
        var user: User?
        var mayReadHistory: Bool
    }

    /// The members of a connection beside its ID. They never change.
    struct Details: Equatable, Sendable {
        var creationTime: Int64?
        var data: String?
        var user: User?
    }

    struct Request: Sendable {
        var id: Int64
        var op: String
        var signal: Int32?
        /// The connection that a `forceDisconnect` names.
        var target: Name?
        /// What an `erase` names.
        var erasure: WireOrder.Erasure?
        /// The number of the action that a `moderate` asks for.
        var asked: Int?
        /// The number of the change that it asks for: an edit, or the erasure of one message.
        var change: Int?
        /// The number of what a `react` asks for, and the marker of a `read` as far as its client knows the order.
        var reaction: Int?
        var mark: Int?
    }

    /// A request of a moderator or a backend for an action.
    struct AskedAction: Sendable {
        enum Fate: Sendable { case unknown, carriedOut, refused }
        struct Key: Hashable, Sendable {
            var connection: Name
            var id: Int64
        }

        var session: String
        var action: WireAction
        var seconds: Int64?
        var askedAt: MonotonicInstant
        var fate = Fate.unknown
    }

    struct Resume: Sendable {
        var connection: Name?
        var secret: String
        var epoch: String
        var after: Int
        /// The newest event that had passed to any client when this client asked.
        var knownThrough: Int
    }

    struct Socket: Sendable {
        var session = ""
        /// What the token of the `connect` says; nil for a token that the judge was not told of.
        var claims: TokenClaims?
        /// The number of the token.
        var token: Int32 = -1
        var openedAt: MonotonicInstant
        /// When the `connect` passed.
        var askedAt: MonotonicInstant
        /// When `connected` passed, and when the socket ended.
        var connectedAt: MonotonicInstant?
        var closedAt: MonotonicInstant?
        /// The network was slow, or the client did not read: lines pass later than the server sent them.
        var isImpaired = false
        var resume: Resume?
        var suppressesPresence = false
        var getsPages = false
        /// The client asked for absences (PRES-4).
        var getsAbsences = false
        /// The requests without an answer, in their order.
        var requests: [Request] = []
        /// Answered requests at the front of `requests`.
        var answeredCount = 0
        var connection: Name?
        var epoch: Int32 = -1
        /// Events up to this seq belong to an earlier socket, or to nobody.
        var start = 0
        var replayThrough = 0
        /// Only broadcasts are due up to this seq (RES-2, `recovered`).
        var onlyBroadcastsThrough = 0
        /// The events that the server sent, in their order: the distances of their seqs from `start`.
        var received: [Int32] = []
        /// Before this seq the server claims to have sent everything (HB-2, SIG-6).
        var claimed = 0
        var isOpen = true
        /// The client has sent a close frame that ends its connection, perhaps before `connected` passed.
        var isLeft = false
        /// The client has sent `disconnect`.
        var hasAskedToLeave = false
        /// The connections that the client was told of; nil after a resume.
        var others: [Name]?
        /// The number of connections in pages that are still to come (CON-11).
        var listRest = 0
        /// The list was too long for a client without pages (CON-11).
        var isListCut = false
        var onlineOnly: Set<Int32> = []
        var told = ToldAbsences()
        /// Of the `connected`.
        var outcome = ""
        var isModerator = false
        /// What holds for the client, as `connected` says (MOD-5).
        var restrictions: [WireRestriction] = []
        /// When the client got `disconnected` with the reason `forceDisconnected`, and the ban that it names (MOD-3).
        var forcedOutAt: MonotonicInstant?
        var ban: WireRestriction?
        /// The page that the `connect` asked for, until `connected` passes (HIS-5).
        var pageOption: PageRequest?
        /// The requests for pages without an answer, in their order (HIS-7).
        var pageRequests: [PageRequest] = []

        init(openedAt: MonotonicInstant) { (self.openedAt, askedAt) = (openedAt, openedAt) }

        func seq(of distance: Int32) -> Int { start + Int(distance) }
        var lastReceived: Int? { received.last.map { seq(of: $0) } }
        /// Up to here the client has got everything that is meant for it.
        var position: Int { max(start, claimed, lastReceived ?? 0) }
        var nextRequest: Request? { answeredCount < requests.count ? requests[answeredCount] : nil }
        /// Whether the client may get lines about absences (PRES-4).
        var hearsAbsences: Bool { getsAbsences && !suppressesPresence }
        /// Whether these lines pass when the server sends them.
        var isAttentive: Bool { hearsAbsences && !isImpaired && connection != nil }
    }

    struct Connection: Sendable {
        enum End: Sendable {
            /// The client sent `disconnect`.
            case left
            case forceDisconnected
            /// Another connection of the same client replaced it (RES-12).
            case replaced
        }

        var session: String
        var epoch: Int32
        var joinSeq: Int
        var socket: SocketNumber
        var suppressesPresence: Bool
        var getsAbsences: Bool
        var secret: String
        /// The number of the token with which it began.
        var token: Int32
        var isModerator: Bool
        /// When a signal of the connection last passed to a client, apart from replays.
        var lastHeardAt: MonotonicInstant?
        /// When the last socket ended; nil while one is open.
        var lostAt: MonotonicInstant?
        /// Whether the server could not notice the loss, because no socket closed.
        var isSilent = false
        /// The absence before the present socket.
        var lastAbsence: Absence?
        /// When the server confirmed a forced disconnect of this connection.
        var forcedAt: MonotonicInstant?
        var end: End?
        /// The server has said that it knows of the end.
        var isEndConfirmed = false
        /// Whether a client has tried to come back. The server may then have replaced the connection (RES-12), although
        /// no answer passed.
        var isSought = false
    }

    /// The absences that one socket has been told, each with the time of the line.
    struct ToldAbsences: Sendable {
        var away: [Name: MonotonicInstant] = [:]
        /// When `connectionBack` ended the newest absence of a connection. This line may pass before the `connected` of
        /// the client that is back.
        var back: [Name: MonotonicInstant] = [:]
        /// The connections whose end has been told on this socket.
        var departed: Set<Name> = []
    }

    /// An absence of a connection that is over.
    struct Absence: Sendable {
        var lostAt: MonotonicInstant
        var backAt: MonotonicInstant
    }

    /// A request of a client or a backend for a page of a history.
    struct PageRequest: Sendable {
        enum Position: Sendable { case newest, before(Int), after(Int), changedAfter(Int) }

        private static let standardLimit = 50

        var id: Int64
        var position: Position
        var limit: Int
        var askedAt: MonotonicInstant
        /// Messages up to this seq were in the session when the client asked: the page has them (HIS-4).
        var boundary = 0
        /// Of the option of a connect: later messages are events for its client (HIS-5).
        var end = Int.max

        init(_ position: Position, limit: Int, askedAt: MonotonicInstant) {
            (id, self.position, self.limit, self.askedAt) = (0, position, limit, askedAt)
        }

        /// - Parameter line: a `history` request, or the option of a connect.
        init(_ id: Int64, _ line: WireLine, askedAt: MonotonicInstant) {
            self.id = id
            self.askedAt = askedAt
            if let seq = line.position("before") {
                position = .before(seq)
            } else if let seq = line.position("after") {
                position = .after(seq)
            } else if let seq = line.position("changedAfter") {
                position = .changedAfter(seq)
            } else {
                position = .newest
            }
            limit = Int(line.number("limit") ?? line.number("last") ?? Int64(Self.standardLimit))
        }

        func admits(_ seq: Int) -> Bool {
            switch position {
            case .newest: seq <= end
            case .before(let limit): seq < limit && seq <= end
            case .after(let start): seq > start && seq <= end
            case .changedAfter: true
            }
        }

        /// The seqs of which a page shows all messages; nil if it shows none.
        func span(from first: Int, through last: Int, more: Bool) -> ClosedRange<Int>? {
            let (lower, upper) =
                switch position {
                case .newest: (more ? first : 0, boundary)
                case .before(let end): (more ? first : 0, min(end - 1, boundary))
                case .after(let start): (start + 1, more ? min(last, boundary) : boundary)
                case .changedAfter: (1, 0)
                }
            return lower <= upper ? lower...upper : nil
        }
    }
}
