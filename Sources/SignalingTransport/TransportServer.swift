import CLibwebsockets
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Listens on one address and serves WebSockets and HTTP/1.1 there, with or without TLS. Confined to its loop; it lives
/// until the loop stops.
public final class TransportServer {
    /// The files that a server proves its name with; read once, when it starts.
    ///
    /// TLS 1.2 and 1.3 are spoken, with forward secrecy and authenticated ciphers alone; no client certificates, no
    /// renegotiation, no resumption.
    public struct TLS: Sendable, Hashable {
        /// PEM: the server's certificate, then those that lead to its authority.
        public var certificateFile: String
        /// PEM, without a passphrase.
        public var privateKeyFile: String

        public init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// What a server is made with. Everything that a peer can make grow has its bound here.
    public struct Options: Sendable {
        /// An IPv4 or IPv6 address, or "localhost" (127.0.0.1). Default: "127.0.0.1".
        public var host = "127.0.0.1"
        /// 0 lets the system pick one; ``TransportServer/port`` tells which. Default: 0.
        public var port = 0
        /// How many connections may wait to be accepted; the system has a bound of its own. Default: 4096.
        public var backlog = 4096
        /// https and wss instead of http and ws; the same for all servers of a loop that have it. Default: nil, plain text.
        public var tls: TLS?
        /// The path of the WebSocket. Default: `/v1/signaling`.
        public var webSocketPath = "/v1/signaling"
        /// What a client has to offer; the same for all servers of a loop. Default: `signalbox.v1`.
        public var subprotocol = "signalbox.v1"
        /// Largest WebSocket message, in bytes. Default: ``Limits/messageByteCount``.
        public var maxMessageByteCount = Limits.messageByteCount
        /// Most fragments of a message. Default: ``Limits/fragmentCount``.
        public var maxFragmentCount = Limits.fragmentCount
        /// Largest request body, in bytes; over it: 413. Default: ``Limits/bodyByteCount``.
        ///
        /// The header block's limit belongs to the loop and is ``Limits/headerByteCount``; over it: closed.
        public var maxBodyByteCount = Limits.bodyByteCount
        /// Connections and sockets at the same time; those over it get a 503, with TLS a close. nil (the default): what the process's
        /// descriptors allow, less ``spareDescriptorCount``.
        public var maxConnectionCount: Int?
        /// Descriptors left for everything else of the process. Default: 64.
        public var spareDescriptorCount = 64
        /// From accepting a connection to the end of its headers, a TLS handshake included, and from these to the end of the body; absolute.
        /// Default: ``Limits/requestTimeout``.
        public var requestTimeout = Limits.requestTimeout
        /// From the request to the handler's answer; then it is 503. Default: 30 s.
        public var answerTimeout = Duration.seconds(30)
        /// For an answer to be taken by the client; then it is cut. Default: 30 s.
        public var responseTimeout = Duration.seconds(30)
        /// From an answer to the end of the next request's headers. Default: 15 s.
        public var keepAliveTimeout = Duration.seconds(15)
        /// For the closing handshake of a WebSocket; then it is cut. Default: 5 s.
        public var closeTimeout = Duration.seconds(5)

        public init(host: String = "127.0.0.1", port: Int = 0) {
            self.host = host
            self.port = port
        }
    }

    public let options: Options
    public let loop: LoopThread
    private(set) var handler: (any TransportServerHandler)?
    private var listener: Listener?
    private let vhost: OpaquePointer
    private let limit: Int
    private var connections: [UInt64: HTTPConnection] = [:]
    private var sockets: [UInt64: ServerSocket] = [:]
    private var nextID: UInt64 = 1
    private var deadlines = TimingWheel<UInt64>(resolution: .milliseconds(50), slotCount: 512)
    private var deadlineTimer: LoopTimer?
    private var deadlineTimerAt: MonotonicInstant?
    /// No new requests: idle connections end, answers say so.
    private(set) var isDraining = false

    /// Listens from here on. On the loop.
    ///
    /// - Parameter handler: kept until the loop has stopped.
    /// - Throws: ``TransportError`` `.addressInUse`, `.permissionDenied`, `.invalidAddress`, `.resourcesExhausted`,
    ///   `.unsupported` (a second sub-protocol or certificate on one loop), `.libraryFailed`, `.stopped`; with TLS
    ///   `.certificateUnusable`, `.privateKeyUnusable`, `.privateKeyEncrypted`, `.privateKeyMismatch`.
    public init(loop: LoopThread, options: Options, handler: any TransportServerHandler) throws(TransportError) {
        loop.preconditionCurrent()
        guard let context = loop.core.context else { throw TransportError(.stopped, "the loop has stopped") }
        self.loop = loop
        self.options = options
        self.handler = handler
        vhost = try context.serverVHost(subprotocol: options.subprotocol)
        if let tls = options.tls { try context.enableServerTLS(tls) }
        limit = options.maxConnectionCount ?? max(16, Self.descriptorLimit() - options.spareDescriptorCount)
        let listener = try Listener(
            loop: loop, host: options.host, port: options.port, backlog: options.backlog,
            // Whose greeting has come already costs a handshake at once.
            batchCount: options.tls == nil ? 64 : 4)
        self.listener = listener
        port = listener.address.port
        deadlineTimer = LoopTimer(loop: loop) { [weak self] in self?.deadlinesPassed() }
        loop.core.add(self)
        listener.start { [unowned self] descriptor, peer in accepted(descriptor, peer) }
    }

    /// The port that it listens on.
    public let port: Int

    /// WebSockets that are open or closing.
    public var socketCount: Int { sockets.count }

    /// Connections that speak HTTP, idle ones included.
    public var connectionCount: Int { connections.count }

    /// Closes the listening socket. Open sockets and requests go on; idle HTTP connections end. Idempotent.
    public func stopAccepting() {
        loop.preconditionCurrent()
        listener?.close()
        listener = nil
        isDraining = true
        for connection in Array(connections.values) { connection.drain() }
    }

    /// Begins the closing handshake with every WebSocket; see ``ServerSocket/close(code:reason:)``.
    public func closeAll(code: UInt16, reason: String) {
        loop.preconditionCurrent()
        for socket in Array(sockets.values) { socket.close(code: code, reason: reason) }
    }

    // MARK: Connections

    private func accepted(_ descriptor: Int32, _ peer: SocketAddress) {
        guard connections.count + sockets.count < limit, !isDraining else {
            // Better told than left to wait; if the answer gets lost with the close, the close says enough. With TLS it
            // has to: a handshake for a refusal costs too much.
            if options.tls == nil {
                let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                _ = Array(answer.utf8).withUnsafeBytes { signalbox_send(descriptor, $0.baseAddress, $0.count) }
            }
            signalbox_close(descriptor)
            return
        }
        let id = nextID
        nextID += 1
        let connection = HTTPConnection(id: id, address: PeerAddress(peer), server: self)
        // Kept before the library knows it: callbacks may come before the call returns.
        connections[id] = connection
        let opaque = Unmanaged.passUnretained(connection).toOpaque()
        connection.wsi = signalbox_adopt(vhost, descriptor, options.tls == nil ? 0 : 1, opaque)
        // Refused at once: a TLS client whose first bytes had come already, and made no sense. The library has closed the
        // descriptor, and still tells of the end when libuv has, later in this turn; the connection is kept until then.
        // Should it tell nothing (there was no memory), the deadline cleans up.
        if connections[id] != nil { setDeadline(id, after: options.requestTimeout) }
    }

    func replace(_ connection: HTTPConnection, with socket: ServerSocket) {
        sockets[socket.id] = socket
        connections[connection.id] = nil
    }

    func forget(_ connection: HTTPConnection) {
        connections[connection.id] = nil
        clearDeadline(connection.id)
    }

    func forget(_ socket: ServerSocket) { sockets[socket.id] = nil }

    var lwsContext: OpaquePointer? { loop.core.context?.context }

    // MARK: Deadlines

    func setDeadline(_ id: UInt64, after duration: Duration) {
        let deadline = loop.now.advanced(by: duration)
        deadlines.schedule(id, at: deadline)
        if let armed = deadlineTimerAt, armed <= deadline { return }
        deadlineTimerAt = deadline
        deadlineTimer?.schedule(at: deadline)
    }

    /// The timer is left as it is: it finds nothing, or less, when it fires.
    func clearDeadline(_ id: UInt64) { deadlines.cancel(id) }

    private func deadlinesPassed() {
        deadlineTimerAt = nil
        let now = loop.now
        for id in deadlines.expire(upTo: now) {
            connections[id]?.deadlinePassed()
            sockets[id]?.deadlinePassed()
        }
        guard deadlineTimerAt == nil, let next = deadlines.nextDeadline else { return }
        // Deadlines here may be late by a little: many connections share one look.
        let look = max(next, now.advanced(by: deadlines.resolution))
        deadlineTimerAt = look
        deadlineTimer?.schedule(at: look)
    }

    // MARK: The end

    /// The loop closes all sockets next.
    func loopIsEnding() {
        listener?.close()
        listener = nil
        isDraining = true
        deadlineTimer = nil
    }

    /// All sockets have closed, and said so.
    func loopHasEnded() {
        handler = nil
        connections = [:]
        sockets = [:]
    }

    private static func descriptorLimit() -> Int {
        var limit = rlimit()
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}
