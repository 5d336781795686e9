import SignalingProtocol

extension ConnectionState {
    /// An event of a socket.
    public enum Input: Sendable {
        /// A line of this size arrived.
        case received(ClientMessage, byteCount: Int = 0)
        /// A line arrived that is not a message: the fault, and the request's ID if it had one.
        case receivedMalformed(ClientMessageError, byteCount: Int = 0)
        /// A message without any line arrived. WIRE-3 permits it, and it costs as much as a line.
        case receivedEmpty
        /// The last message came in this many frames, two or more.
        case receivedInFrames(Int)
        /// The token was checked.
        indirect case authenticated(Result<Admission, SignalingError>)
        /// The token of a refresh was checked.
        case verified(RequestID, Result<TokenClaims, SignalingError>)
        /// The session answered a request of this connection.
        case answered(RequestID?, SessionOutcome)
        /// The page was read that ``Effect/readHistory(_:_:_:)`` asked for: its line for the client.
        case pageRead(RequestID, Result<EncodedLine, SignalingError>)
        /// The unsent bytes that this client has caused itself, and the bytes that its system has acknowledged since
        /// the socket was opened. The shell reports them when ``ConnectionState/mustHear(ofBacklog:)`` is true: after
        /// each write, and at each deadline.
        case backlog(waitingByteCount: Int, acknowledgedByteCount: UInt64)
        /// Lines of the client wait because the session engine is saturated: the client is not silent.
        case inputWaits
        /// The session no longer has this connection, maybe because of a ban.
        indirect case ended(DisconnectReason, ban: Restriction? = nil)
        /// The connection continues on a newer socket (RES-8).
        case superseded
        /// The transport found a protocol violation, or the server wants to end the connection.
        case mustClose(CloseReason)
        /// The server stops, and asks the client to reconnect after this time (LEAVE-5). The session keeps the
        /// connection: all clients leave at once, and the cost of reporting each to all others would be the square of
        /// their number.
        case serverStops(returnAfter: Duration)
        /// The socket is gone, with the peer's close code if it sent one.
        case socketClosed(code: UInt16?)
    }

    /// An action for the shell to perform. Perform them in order.
    ///
    /// The large ones are indirect, since each signal makes an array of two of these.
    public enum Effect: Sendable {
        /// Send a line to this client.
        case send(ServerMessage)
        /// Send an encoded line to this client.
        case sendLine(EncodedLine)
        /// Serve this client from the session's log from now on, after this answer.
        indirect case enter(RequestID, Welcome, ClientEntry)
        /// Check this token, and report the result with `.authenticated`.
        indirect case authenticate(ConnectRequest)
        /// Check the token of a refresh, and report the result with `.verified`.
        case verify(RequestID, TokenRefresh)
        /// Submit a command to a session.
        case submit(SessionCommand, SessionID, RequestID?)
        /// Submit an action of a moderator to a session, with the date.
        indirect case moderate(CommandSender, ModerationRequest, SessionID, RequestID)
        /// Read a page of the session's history, without later messages than `upTo`, and report it with `.pageRead`.
        indirect case readHistory(RequestID, HistoryRequest, SessionID, upTo: Seq?)
        /// Send a ping.
        case ping
        /// Handle no more lines of this client until `resumeReading`. Lines that were received already wait.
        case pauseReading
        /// Handle the lines that wait, then read again.
        case resumeReading
        /// Send what the socket accepts now, then close it.
        case close(CloseReason, Unsent)
    }

    /// How to treat the bytes that a closing socket does not accept at once.
    public enum Unsent: Sendable {
        /// They are sent before the close frame, as far as the client reads them in time. For a client that leaves,
        /// since it gets its answers first (LEAVE-1).
        case deliver
        /// They are dropped. A client that the server closes may have stopped reading, and must not hold memory.
        case drop
    }

    /// The claims of a valid token, with the identifiers of the new connection.
    public struct Admission: Sendable {
        public var session: SessionID
        public var connectionId: ConnectionID
        public var role: Role
        public var data: String
        public var user: UserID?
        public var wallTime: WallTime
        /// Why the token may resume a connection but not begin one: it has expired, or is not valid yet (RES-7).
        public var untimeliness: SignalingError?
        /// When the token ends the connection (TOK-9).
        public var tokenExpiry: TokenExpiry
        /// Unique among all sockets.
        public var socket: SocketID
        /// Fresh and random, for a later resume, and its hash.
        public var resumeSecret: ResumeSecret
        public var secretHash: ResumeSecretHash
        /// The hash of the secret in the client's `resume`, if there is one.
        public var claimedSecretHash: ResumeSecretHash?
        /// Recognizes the connections of one token (RES-12).
        public var token: TokenFingerprint?
        /// How long the client is asked to wait if its session does not answer in time (CON-2). Random, so that clients
        /// that waited together do not come back together.
        public var busyWait: Duration
        /// The latest ``ConnectionState/lineRateFullAt`` of the earlier connections with this token (WIRE-15).
        public var lineRateFullAt: MonotonicInstant?
        public var historyAccess: HistoryAccess

        public init(
            session: SessionID, connectionId: ConnectionID, role: Role, data: String, user: UserID? = nil,
            wallTime: WallTime, untimeliness: SignalingError? = nil, tokenExpiry: TokenExpiry = .none, socket: SocketID,
            resumeSecret: ResumeSecret, secretHash: ResumeSecretHash, claimedSecretHash: ResumeSecretHash? = nil,
            token: TokenFingerprint? = nil, lineRateFullAt: MonotonicInstant? = nil,
            busyWait: Duration = Limits.longestBusyWait, historyAccess: HistoryAccess = .granted
        ) {
            self.session = session
            self.connectionId = connectionId
            self.role = role
            self.data = data
            self.user = user
            self.wallTime = wallTime
            self.untimeliness = untimeliness
            self.tokenExpiry = tokenExpiry
            self.socket = socket
            self.resumeSecret = resumeSecret
            self.secretHash = secretHash
            self.claimedSecretHash = claimedSecretHash
            self.token = token
            self.busyWait = busyWait
            self.lineRateFullAt = lineRateFullAt
            self.historyAccess = historyAccess
        }
    }
}
