import Locking
import Logging
import SignalingProtocol

/// A client of one session: connects, sends signals, and receives events.
///
/// ```swift
/// import SignalingClient
///
/// let session = Session(apiKey: key, sessionId: id, server: "https://chat.example.com")
/// let events = session.events
/// try await session.connect(token: token)
/// try await session.signal(type: "chat", string: "hello", connection: nil)
/// for await event in events { … }
/// ```
///
/// A session may be used from any task. Calls of one task take effect in their order. The socket lives on a thread of
/// the library. A lost socket does not end the connection: the client reconnects by itself, and no signal is missed or
/// sent twice (G3). ``SessionEvent/reconnecting`` and ``SessionEvent/reconnected(_:)`` report it. After
/// ``SessionEvent/disconnected(_:)`` the connection is over, and `connect` starts a new one.
///
/// Cancelling the task of a `connect` ends it at once with 1006. Cancelling the task of a `signal` or another request
/// withdraws the request if no byte of it has been written, and fails it with 500 (``forceDisconnect(_:)``: 1010): it
/// has not arrived. A request that has been written may have arrived, so it returns when it has its answer. A
/// `disconnect` is not cancelled.
public final class Session: SignalChannel {
    /// Settings of a session.
    public struct Options: Sendable {
        /// Suppresses events about other connections; signals then carry their senders (CON-4). Default: false.
        public var connectionEventsSuppressed: Bool
        /// Emits ``SessionEvent/connectionAway(_:)`` and ``SessionEvent/connectionBack(_:)`` (PRES-4). Default: false.
        public var connectionAwayEvents: Bool
        /// The page of the session's history to get as ``SessionEvent/history(_:)``: the newest messages, or the oldest
        /// after one (HIS-5). A request before a position asks for the newest. Default: none.
        public var history: HistoryRequest?
        /// A PEM file with certificates to trust beside the system's, for `wss` and `https`. Default: none.
        public var trustedCertificatesFile: String?
        /// On Apple platforms: ends the socket when the app goes to the background, and reconnects when it is back or
        /// when the network is. Set it to false in an app that a background mode keeps running. Default: true.
        public var followsDevice: Bool

        public init(
            connectionEventsSuppressed: Bool = false, connectionAwayEvents: Bool = false,
            history: HistoryRequest? = nil, trustedCertificatesFile: String? = nil, followsDevice: Bool = true
        ) {
            self.connectionEventsSuppressed = connectionEventsSuppressed
            self.connectionAwayEvents = connectionAwayEvents
            self.history = history
            self.trustedCertificatesFile = trustedCertificatesFile
            self.followsDevice = followsDevice
        }
    }

    /// The session's state for readers on any thread.
    struct Snapshot {
        private(set) var connection: Connection?
        private(set) var role: Role?
        private(set) var epoch: Epoch?
        private(set) var hasHistory = false
        private(set) var changes: [ChangeKind]?
        private(set) var readState: ReadState?
        private(set) var claim: ConnectionClaim?
        private(set) var users = UserRoster()
        private var restrictions = OwnRestrictions()
        private var peers: [ConnectionID: Connection] = [:]
        private var away: Set<ConnectionID> = []

        init() {}

        init(_ welcome: Welcome) {
            connection = welcome.connection
            role = welcome.role
            epoch = welcome.epoch
            hasHistory = welcome.hasHistory
            changes = welcome.changes
            readState = welcome.read
            claim = welcome.claim
            for peer in welcome.connections + [welcome.connection] { peers[peer.connectionId] = peer }
            users = UserRoster(welcome.connections + [welcome.connection])
            restrictions = welcome.ownRestrictions
        }

        var memberCount: Int { peers.count }

        func isMember(_ id: ConnectionID) -> Bool { peers[id] != nil }

        var connections: [Connection] { peers.values.sorted { $0.creationTime < $1.creationTime } }

        var awayConnections: [Connection] { connections.filter { away.contains($0.connectionId) } }

        mutating func note(_ event: SessionEvent) {
            switch event {
            case .connectionCreated(let peer):
                peers[peer.connectionId] = peer
                users.add(peer)
            case .connectionDestroyed(let peer, _):
                peers[peer.connectionId] = nil
                users.remove(peer)
                away.remove(peer.connectionId)
            case .connectionAway(let peer): away.insert(peer.connectionId)
            case .connectionBack(let peer): away.remove(peer.connectionId)
            case .restricted(let restriction): restrictions.restrict(restriction)
            case .unrestricted(let kind): restrictions.lift(kind)
            case .disconnected: self = Snapshot()
            case .read(let marker): readState?.note(marker, of: connection?.user)
            case .erased(.user(let user), _): readState?.readers?.removeAll { $0.user == user }
            case .signal, .history, .changed, .reactions, .reacted, .erased, .userJoined, .userLeft, .moderated,
                .reconnecting, .reconnected, .overflowed:
                break
            }
        }

        /// The server has refused a request because of a restriction.
        mutating func refused(by restriction: Restriction, retryAfter: Duration?, now: WallTime) {
            restrictions.refused(by: restriction, retryAfter: retryAfter, now: now)
        }

        func restriction(at now: WallTime) -> Restriction? { restrictions.holding(at: now).first }

        /// The server may have been started again with another list of types.
        mutating func resume(_ welcome: Welcome) {
            hasHistory = welcome.hasHistory
            changes = welcome.changes
            readState = welcome.read
            claim = welcome.claim
            restrictions = welcome.ownRestrictions
        }

        /// The client is back as another connection. Changes in the other connections are reported as events.
        mutating func replace(_ welcome: Welcome) {
            // A connection that the server could not take from this client stays until its window ends.
            if let connection, !welcome.connections.contains(where: { $0.connectionId == connection.connectionId }) {
                peers[connection.connectionId] = nil
            }
            connection = welcome.connection
            role = welcome.role
            epoch = welcome.epoch
            hasHistory = welcome.hasHistory
            changes = welcome.changes
            readState = welcome.read
            claim = welcome.claim
            peers[welcome.connection.connectionId] = welcome.connection
            users = UserRoster(welcome.connections + [welcome.connection])
            restrictions = welcome.ownRestrictions
        }
    }

    public let apiKey: APIKey
    public let sessionId: SessionID
    /// The server's URL, as passed to `init`.
    public let server: String
    public let options: Options

    let driver: SessionDriver
    /// Ends with the session.
    private let watch: (any Sendable)?

    /// Creates a session without connecting it.
    ///
    /// - Parameters:
    ///   - apiKey: the project's key.
    ///   - sessionId: the session's ID.
    ///   - server: `http`, `https`, `ws` or `wss`, host and port: `http://127.0.0.1:8080`. `connect` throws for an
    ///     invalid one.
    ///   - options: settings of the session.
    ///   - logger: gets a line for each step of the connection; nil: none. The lines name the session, connections and
    ///     errors, and never contain tokens or the data of signals and connections.
    public init(
        apiKey: String, sessionId: String, server: String, options: Options = Options(), logger: Logger? = nil
    ) {
        self.apiKey = APIKey(apiKey)
        self.sessionId = SessionID(sessionId)
        self.server = server
        self.options = options
        let driver = SessionDriver(
            environment: StandardEnvironment.shared,
            log: logger.map { ClientLog($0, session: SessionID(sessionId)) } ?? .none)
        self.driver = driver
        watch =
            options.followsDevice ? driver.environment.watchDevice { [weak driver] in driver?.note($0) } : nil
    }

    deinit { driver.abandon() }

    /// The client's own connection; `nil` unless connected. It stays while the client reconnects.
    public var connection: Connection? { driver.snapshot.withLock { $0.connection } }

    /// The ID of the client's own connection; `nil` unless connected.
    public var connectionId: ConnectionID? { connection?.connectionId }

    /// All connections of the session, the client's own included, by creation time; empty unless connected.
    /// With ``Options/connectionEventsSuppressed`` only the client's own.
    public var connections: [Connection] { driver.snapshot.withLock { $0 }.connections }

    /// The users of the session, the client's own included, in the order in which they have joined; empty unless
    /// connected (USR-3). Guests are not among them. With ``Options/connectionEventsSuppressed`` only the client's own.
    public var users: [SessionUser] { driver.snapshot.withLock { $0 }.users.users }

    /// The user of the client's own connection; nil for a guest, and unless connected.
    public var user: UserID? { connection?.user }

    /// What keeps the client from signalling at a moment, by the server's clock (MOD-4); nil: nothing. Of a mute and a
    /// freeze it is the one that holds longest. A freeze does not keep moderators from signalling.
    public func restriction(at now: WallTime) -> Restriction? {
        driver.snapshot.withLock { $0.restriction(at: now) }
    }

    /// The connections that are away, by creation time; empty without ``Options/connectionAwayEvents`` (PRES-4).
    public var awayConnections: [Connection] { driver.snapshot.withLock { $0 }.awayConnections }

    /// The number of ``connections``, the client's own included; `nil` unless connected, and with
    /// ``Options/connectionEventsSuppressed``.
    public var memberCount: Int? {
        if options.connectionEventsSuppressed { return nil }
        return driver.snapshot.withLock { $0.connection == nil ? nil : $0.memberCount }
    }

    /// OpenTok's capabilities; none unless connected.
    public var capabilities: Capabilities {
        driver.snapshot.withLock { $0.role?.capabilities ?? .none }
    }

    /// Whether there is a ``connection``. True also while the client reconnects, and until a `disconnect` has returned.
    public var isConnected: Bool { connection != nil }

    /// The name of the session's order: while it stays, each seq names one event. `nil` unless connected.
    public var epoch: Epoch? { driver.snapshot.withLock { $0.epoch } }

    /// The claim of the client's own connection; nil unless connected.
    public var claim: ConnectionClaim? { driver.snapshot.withLock { $0.claim } }

    /// Whether a connection is in the session; nil unless connected, and with ``Options/connectionEventsSuppressed``.
    public func isMember(_ connection: ConnectionID) -> Bool? {
        if options.connectionEventsSuppressed { return nil }
        return driver.snapshot.withLock { $0.connection == nil ? nil : $0.isMember(connection) }
    }

    /// Whether the session keeps a history that this client may read, as the server said at the last connect or
    /// reconnect; false unless connected.
    public var hasHistory: Bool { driver.snapshot.withLock { $0.hasHistory } }

    /// What the session permits the authors of messages, as the server said at the last connect or reconnect (CHG-3); nil
    /// if it keeps no history, and unless connected.
    public var changes: [ChangeKind]? { driver.snapshot.withLock { $0.changes } }

    /// How far the users have read (READ-3); nil if the session has no read markers, and unless connected. The count of
    /// unread messages is that of the last connect or reconnect, and nil when the user has read on since.
    public var readState: ReadState? { driver.snapshot.withLock { $0.readState } }

    /// A new stream of the session's events from now on. Call it before `connect` to receive every event. Streams are
    /// independent of each other.
    ///
    /// A stream outlives disconnects. It ends when the session is released, or with ``SessionEvent/overflowed`` when
    /// about 10,000 events wait for its reader.
    public var events: AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingOldest(EventStreams.bufferCount))
        let driver = driver
        let id = driver.streams.withLock { $0.add(continuation) }
        continuation.onTermination = { _ in driver.streams.withLock { $0.remove(id) } }
        return stream
    }

    /// Connects, and returns when the server has accepted the client.
    ///
    /// - Parameter former: the connection of an earlier run of this program: the server ends it as this one begins, so
    ///   that the user is in the session once, and nothing of it arrives any more. The claim does no harm when that
    ///   connection has ended.
    /// - Throws: ``SignalingError``: 400 for an invalid URL or unreadable certificates, 1004 for a refused token, 1005
    ///   for a refused session ID, 1006 when the server cannot be reached, does not answer within 15 s or is stopping,
    ///   or when `disconnect` ended the attempt, 1015 when already connected or connecting, 1027 when the session is
    ///   full, 1570 when the user is banned (with the ban as ``SignalingError/restriction``), 2001 when the server's answer is malformed.
    public func connect(token: String, replacing former: ConnectionClaim? = nil) async throws(SignalingError) {
        try await driver.connect(
            connectRequest(token: token, replacing: former), to: try ServerAddress(server),
            trustedCertificatesFile: options.trustedCertificatesFile)
    }

    func connectRequest(token: String, replacing former: ConnectionClaim? = nil) -> ConnectRequest {
        ConnectRequest(
            apiKey: apiKey, sessionId: sessionId, token: token,
            connectionEventsSuppressed: options.connectionEventsSuppressed,
            connectionAwayEvents: options.connectionAwayEvents, history: options.history,
            resume: former?.replacement)
    }

    /// Sends a signal to one connection, or with `nil` to all, the client's own included.
    ///
    /// Returns when the signal has its seq in the session's order (G2). A signal over a limit throws without a request
    /// to the server. While the client reconnects, the signal waits; if its answer was lost, the client sends it again,
    /// and it is delivered once (G3). If the connection cannot be resumed, signals without an answer throw 500: they
    /// may or may not have arrived.
    ///
    /// - Parameter retryAfterReconnect: with `false` a lost socket fails the signal with 500 (OpenTok, "Signaling").
    /// - Returns: the signal's seq; `nil` for an online-only signal.
    /// - Throws: ``SignalingError``: 400, 403, 404, 413; 429 also when 10,000 requests wait for an answer; 500 when not
    ///   connected; 1015 when the client sent the signal again and the server no longer has its answer (RES-9).
    @discardableResult
    public func signal(
        type: String? = nil, string: String? = nil, connection: Connection? = nil, retryAfterReconnect: Bool = true
    ) async throws(SignalingError) -> Seq? {
        try await send(
            SignalRequest(type: type, data: string, to: connection?.connectionId),
            retryAfterReconnect: retryAfterReconnect)
    }

    /// Sends a signal with all the options of the protocol. It waits while the client reconnects, unless it is
    /// online-only (SIG-10): such a signal must not arrive late (G6), and fails with 500.
    ///
    /// - Throws: as ``signal(type:string:connection:retryAfterReconnect:)``.
    @discardableResult
    public func send(_ request: SignalRequest) async throws(SignalingError) -> Seq? {
        try await send(request, retryAfterReconnect: true)
    }

    /// Sends a signal with all the options of the protocol; with `retryAfterReconnect` false a lost socket fails it
    /// with 500.
    @discardableResult
    public func send(
        _ request: SignalRequest, retryAfterReconnect: Bool
    ) async throws(SignalingError) -> Seq? {
        try Self.check(request)
        return try await driver.call { .signal(request, $0, retriesAfterReconnect: retryAfterReconnect) }
    }

    /// Disconnects another client; for moderators. While the client reconnects, the call waits.
    ///
    /// - Throws: ``SignalingError``: 1010 when not connected or when the answer was lost with the connection, 1011 when
    ///   the connection is not in the session, 1520 without permission.
    public func forceDisconnect(_ connection: ConnectionID) async throws(SignalingError) {
        try Self.check(target: connection)
        _ = try await driver.call { .forceDisconnect(connection, $0) }
    }

    static func check(_ request: SignalRequest) throws(SignalingError) {
        try request.validate()
        if let target = request.to, isTooLong(target) {
            throw SignalingError(.notFound, "no connection has an ID of that length")
        }
    }

    static func check(target connection: ConnectionID) throws(SignalingError) {
        if isTooLong(connection) { throw SignalingError(.badTarget, "no connection has an ID of that length") }
    }

    /// Whether no server can have issued the ID. In a request it could exceed ``Limits/messageByteCount``, which would
    /// end the connection.
    private static func isTooLong(_ connection: ConnectionID) -> Bool {
        connection.rawValue.utf8.count > Limits.connectionIDByteCount
    }

    /// Shows the server a newer token for the same session, role and connection data (CON-12). Later reconnects use it.
    ///
    /// If the server refuses the token, the connection continues with the old one. While the client reconnects, the
    /// call waits.
    ///
    /// - Throws: ``SignalingError``: 1004 for a token that is malformed, forged, expired, or for another session, role
    ///   or connection data; 500 when not connected, or when the answer was lost with the connection.
    public func refreshToken(_ token: String) async throws(SignalingError) {
        guard token.utf8.count <= Limits.tokenByteCount else {
            throw SignalingError(.authenticationError, "the token is longer than \(Limits.tokenByteCount) bytes")
        }
        _ = try await driver.call { .refreshToken(token, $0) }
    }

    /// Reads a page of the session's history (HIS-6). Reading delays no other request, and while the client reconnects,
    /// the call waits: the client sends it again on the next connection.
    ///
    /// - Throws: ``SignalingError``: 403 when the token does not permit to read, 404 when the session keeps no history,
    ///   429 when 10,000 requests wait for an answer, 500 when not connected.
    public func history(_ request: HistoryRequest = HistoryRequest()) async throws(SignalingError) -> HistoryPage {
        try await driver.read(request)
    }

    /// Changes a message that the client's user has sent: every client gets ``SessionEvent/changed(_:)``, this one before
    /// the call returns (CHG-1). Without a user the message must be of this connection. It behaves as a signal does
    /// while the client reconnects, and after it.
    ///
    /// - Returns: the seq of the change.
    /// - Throws: ``SignalingError``: 403 when the session does not permit it, for a message of another author, and when
    ///   the client may not signal, 404 when there is no such message, 413 for data over a limit, 429, 500 when not
    ///   connected, or when the answer was lost with the connection, 1015 as for ``send(_:)``.
    @discardableResult
    public func change(_ request: ChangeRequest) async throws(SignalingError) -> Seq {
        try request.validate()
        return try Self.seq(of: try await driver.call { .change(request, $0) })
    }

    /// Erases one message: the user's own where ``changes`` has ``ChangeKind/erase`` (CHG-6), and for moderators any.
    ///
    /// - Returns: the seq of the erasure.
    /// - Throws: as ``change(_:)``.
    @discardableResult
    public func erase(message seq: Seq) async throws(SignalingError) -> Seq {
        try Self.seq(of: try await driver.call { .erase(.message(seq), $0) })
    }

    /// Sets the reactions of the client's user to a message: all of them, so that to repeat it does no harm (CHG-11). It
    /// behaves as ``change(_:)`` does while the client reconnects, and after it.
    ///
    /// - Throws: as ``change(_:)``; 403 also for a guest, 400 and 413 for keys over a limit.
    public func react(_ request: ReactRequest) async throws(SignalingError) {
        try request.validate()
        _ = try await driver.call { .react(request, $0) }
    }

    /// Reads who has reacted to a message (CHG-14). It behaves as ``history(_:)``.
    public func reactors(_ request: ReactorsRequest) async throws(SignalingError) -> [Reactors] {
        try await driver.read(request)
    }

    /// Says that the client's user has read every message up to a seq (READ-1). A marker never falls. After a lost
    /// socket nothing is repeated: mark again after the next connect, if ``readState`` has less.
    ///
    /// - Throws: ``SignalingError``: 403 for a guest and in a session without read markers, 404 when the session keeps no
    ///   history, 500 when not connected, also while the client reconnects, or when the answer was lost.
    public func markRead(through seq: Seq) async throws(SignalingError) {
        _ = try await driver.call { .read(seq, $0) }
    }

    /// Every change has one.
    private static func seq(of acknowledged: Seq?) throws(SignalingError) -> Seq {
        guard let acknowledged else {
            throw SignalingError(.unexpectedServerResponse, "the server's answer to a change has no seq")
        }
        return acknowledged
    }

    /// Erases messages of the session's history; for moderators (HIS-9). Every client that may know of the history gets
    /// ``SessionEvent/erased(_:)``, this one before the call returns. While the client reconnects, the call waits.
    ///
    /// - Throws: ``SignalingError``: 403 without permission, 404 when the session keeps no history, 500 when not
    ///   connected, or when the answer was lost with the connection.
    public func erase(_ erasure: Erasure) async throws(SignalingError) {
        if case .user(let user) = erasure { try user.validate() }
        _ = try await driver.call { .erase(erasure, $0) }
    }

    /// Restricts a user or the session, or lifts a restriction; for moderators (MOD-1). Every moderator gets
    /// ``SessionEvent/moderated(_:seq:)``, this one before the call returns. While the client reconnects, the call
    /// waits.
    ///
    /// - Returns: the seq of the action, which names the restriction in an undo.
    /// - Throws: ``SignalingError``: 400 for an action that the session does not accept, such as one on oneself, 403
    ///   without permission, 404 for an unknown connection or a restriction that does not hold, 500 when not connected,
    ///   or when the answer was lost with the connection.
    @discardableResult
    public func moderate(_ request: ModerationRequest) async throws(SignalingError) -> Seq? {
        try request.validate()
        return try await driver.call { .moderate(request, $0) }
    }

    /// Reads the restrictions that hold in the session; for moderators (MOD-6). What holds for this client alone is
    /// ``restriction(at:)``. While the client reconnects, the call waits: the client sends it again on the next
    /// connection.
    ///
    /// - Throws: ``SignalingError``: 403 without permission, 500 when not connected.
    public func restrictions() async throws(SignalingError) -> [RestrictionRecord] {
        try await driver.readRestrictions()
    }

    /// Disconnects, and returns when the connection has ended, after 15 s at the latest. The server still answers the
    /// signals that were sent before; signals without an answer then throw 500. A `connect` under way throws 1006.
    /// Does nothing when not connected.
    public func disconnect() async { await driver.disconnect() }
}

extension ReadState {
    fileprivate mutating func note(_ marker: ReadMarker, of user: UserID?) {
        if marker.user != user {
            let known = readers?.first { $0.user == marker.user }?.through ?? marker.through
            readers?.removeAll { $0.user == marker.user }
            readers?.append(ReadMarker(marker.user, through: max(known, marker.through)))
        } else if marker.through > through ?? Seq(0) {
            (through, unread) = (marker.through, nil)
        }
    }
}

extension Welcome {
    fileprivate var ownRestrictions: OwnRestrictions {
        OwnRestrictions(restrictions, isModerator: role.mayForceDisconnect)
    }

    fileprivate var claim: ConnectionClaim {
        ConnectionClaim(connectionId: connection.connectionId, secret: resume.secret, epoch: epoch, seq: seq)
    }
}
