import SignalingProtocol
import Synchronization

/// One client of one session: connect, send signals, hear what happens.
///
/// ```swift
/// let session = Session(apiKey: key, sessionId: id, server: "https://chat.example.com")
/// let events = session.events
/// try await session.connect(token: token)
/// try await session.signal(type: "chat", string: "hello", connection: nil)
/// for await event in events { … }
/// ```
///
/// May be used from any task. Calls of one task take effect in their order. The socket lives on a thread of the library.
/// A lost socket does not end the connection: ``SessionEvent/reconnecting`` and ``SessionEvent/reconnected(_:)`` tell of it,
/// and nothing is missed or sent twice (G3). ``SessionEvent/disconnected(_:)`` ends it; `connect` starts a new one.
public final class Session: SignalChannel {
    /// What a session can be told before it connects.
    public struct Options: Sendable {
        /// No events about other connections; signals bring their senders along (CON-4). Default false.
        public var connectionEventsSuppressed: Bool
        /// A PEM file with certificates to trust beside the system's, for `wss` and `https`.
        public var trustedCertificatesFile: String?

        public init(connectionEventsSuppressed: Bool = false, trustedCertificatesFile: String? = nil) {
            self.connectionEventsSuppressed = connectionEventsSuppressed
            self.trustedCertificatesFile = trustedCertificatesFile
        }
    }

    /// What the application can look at from anywhere.
    struct Snapshot {
        private(set) var connection: Connection?
        private(set) var role: Role?
        private var peers: [ConnectionID: Connection] = [:]

        init() {}

        init(_ welcome: Welcome) {
            connection = welcome.connection
            role = welcome.role
            for peer in welcome.connections + [welcome.connection] { peers[peer.connectionId] = peer }
        }

        var memberCount: Int { peers.count }

        var connections: [Connection] { peers.values.sorted { $0.creationTime < $1.creationTime } }

        mutating func note(_ event: SessionEvent) {
            switch event {
            case .connectionCreated(let peer): peers[peer.connectionId] = peer
            case .connectionDestroyed(let peer, _): peers[peer.connectionId] = nil
            case .disconnected: self = Snapshot()
            case .signal, .reconnecting, .reconnected, .overflowed: break
            }
        }

        /// The client is in the session as another connection. What has changed with the others comes as events.
        mutating func replace(_ welcome: Welcome) {
            if let connection { peers[connection.connectionId] = nil }
            connection = welcome.connection
            role = welcome.role
            peers[welcome.connection.connectionId] = welcome.connection
        }
    }

    public let apiKey: APIKey
    public let sessionId: SessionID
    /// The server's URL, as it was given.
    public let server: String
    public let options: Options

    let driver: SessionDriver

    /// Opens nothing yet.
    ///
    /// - Parameters:
    ///   - apiKey: the project's key.
    ///   - sessionId: the session's id.
    ///   - server: `http`, `https`, `ws` or `wss`, host and port: `http://127.0.0.1:8080`. A wrong one shows at `connect`.
    public init(apiKey: String, sessionId: String, server: String, options: Options = Options()) {
        self.apiKey = APIKey(apiKey)
        self.sessionId = SessionID(sessionId)
        self.server = server
        self.options = options
        driver = SessionDriver(environment: LoopEnvironment.shared)
    }

    deinit { driver.abandon() }

    /// One's own connection; `nil` unless connected.
    public var connection: Connection? { driver.snapshot.withLock { $0.connection } }

    /// The id of one's own connection; `nil` unless connected.
    public var connectionID: ConnectionID? { connection?.connectionId }

    /// All that are connected, oneself included, in order of creation time; empty unless connected.
    public var connections: [Connection] { driver.snapshot.withLock { $0 }.connections }

    /// How many are connected, oneself included; nil unless connected.
    public var memberCount: Int? { driver.snapshot.withLock { $0.connection == nil ? nil : $0.memberCount } }

    /// OpenTok's capabilities; none unless connected.
    public var capabilities: Capabilities {
        driver.snapshot.withLock { $0.role?.capabilities ?? .none }
    }

    public var isConnected: Bool { connection != nil }

    /// A new stream of what happens from now on. Take it before `connect` to miss nothing; several are independent.
    ///
    /// It outlives disconnects, and ends when the session is let go of, or with ``SessionEvent/overflowed``.
    public var events: AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingOldest(EventStreams.bufferCount))
        let driver = driver
        let id = driver.streams.withLock { $0.add(continuation) }
        continuation.onTermination = { _ in driver.streams.withLock { $0.remove(id) } }
        return stream
    }

    /// Connects, and returns when the session has let this client in.
    ///
    /// - Throws: ``SignalingError``: 400 for a URL that is none or certificates that cannot be read, 1004 for a token that is refused, 1005 for a session id that is, 1006 when the server
    ///   cannot be reached, 1015 when already connected or connecting, 1027 when the session is full.
    public func connect(token: String) async throws(SignalingError) {
        let request = ConnectRequest(
            apiKey: apiKey, sessionId: sessionId, token: token,
            connectionEventsSuppressed: options.connectionEventsSuppressed)
        try await driver.connect(
            request, to: try ServerAddress(server), trustedCertificatesFile: options.trustedCertificatesFile)
    }

    /// Sends a signal to one connection, or with `nil` to everybody, oneself included.
    ///
    /// Returns when the signal has its place in the session's order (G2). A limit that is broken is reported without
    /// asking the server. While the socket is lost the signal waits, and is then sent again if need be, and delivered once
    /// (G3). If the connection cannot be resumed, the signals that were sent and not answered throw 500: they may or may not
    /// have arrived.
    ///
    /// - Parameter retryAfterReconnect: false: a loss of the socket fails the signal with 500 instead (OpenTok,
    ///   "Signaling").
    /// - Returns: its place in the order.
    /// - Throws: ``SignalingError``: 400, 403, 404, 413, 429, or 500 when not connected.
    @discardableResult
    public func signal(
        type: String? = nil, string: String? = nil, connection: Connection? = nil, retryAfterReconnect: Bool = true
    ) async throws(SignalingError) -> Seq? {
        try await send(
            SignalRequest(type: type, data: string, to: connection?.connectionId),
            retryAfterReconnect: retryAfterReconnect)
    }

    /// Sends a signal as the protocol knows it. It waits out a lost socket, unless it is online-only (SIG-10): that fails
    /// with 500, since it would come late (G6).
    @discardableResult
    public func send(_ request: SignalRequest) async throws(SignalingError) -> Seq? {
        try await send(request, retryAfterReconnect: true)
    }

    /// The same; with `retryAfterReconnect` false a loss of the socket fails it with 500.
    @discardableResult
    public func send(
        _ request: SignalRequest, retryAfterReconnect: Bool
    ) async throws(SignalingError) -> Seq? {
        try request.validate()
        return try await driver.call { .signal(request, $0, retriesAfterReconnect: retryAfterReconnect) }
    }

    /// Ends another's connection; for moderators.
    ///
    /// - Throws: ``SignalingError``: 1010 when not connected, 1011 when it is not in the session, 1520 without permission.
    public func forceDisconnect(_ connection: ConnectionID) async throws(SignalingError) {
        _ = try await driver.call { .forceDisconnect(connection, $0) }
    }

    /// Leaves, and returns when the connection has ended. Signals that were not acknowledged yet fail. Does nothing when
    /// not connected.
    public func disconnect() async { await driver.disconnect() }
}
