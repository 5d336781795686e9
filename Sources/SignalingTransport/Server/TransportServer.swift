import CLibwebsockets
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Listens on one address and serves WebSockets and HTTP/1.1 there, with or without TLS. Confined to its loop. It lives
/// until the loop stops.
public final class TransportServer {
    public let options: Options
    public let loop: LoopThread
    private(set) var handler: (any TransportServerHandler)?
    private var listener: Listener?
    private let vhost: OpaquePointer
    private let connectionLimit: Int
    private var connections: [UInt64: HTTPConnection] = [:]
    private var sockets: [UInt64: ServerSocket] = [:]
    private var nextID: UInt64 = 1
    private var deadlines = TimingWheel<UInt64>(resolution: .milliseconds(50), slotCount: 512)
    private var deadlineTimer: LoopTimer?
    private var deadlineTimerAt: MonotonicInstant?
    /// Whether ``stopAccepting()`` was called: idle connections are closed, and responses announce the close.
    private(set) var isDraining = false

    /// Starts to listen. Call it on the loop.
    ///
    /// - Parameter handler: retained until the loop has stopped.
    /// - Throws: ``TransportError`` `.addressInUse`, `.permissionDenied`, `.invalidAddress`, `.resourcesExhausted`,
    ///   `.unsupported` (a second sub-protocol or certificate on one loop), `.libraryFailed`, `.stopped`; with TLS
    ///   `.certificateUnusable`, `.privateKeyUnusable`, `.privateKeyEncrypted`, `.privateKeyMismatch`.
    public init(loop: LoopThread, options: Options, handler: any TransportServerHandler) throws(TransportError) {
        loop.preconditionCurrent()
        guard let context = loop.core.context else { throw TransportError.loopStopped(loop.name) }
        self.loop = loop
        self.options = options
        self.handler = handler
        vhost = try context.serverVHost(subprotocol: options.subprotocol)
        if let tls = options.tls { try context.enableServerTLS(tls) }
        connectionLimit = options.maxConnectionCount ?? max(16, Self.descriptorLimit() - options.spareDescriptorCount)
        let listener = try Listener(
            loop: loop, host: options.host, port: options.port, backlog: options.backlog,
            // With TLS, accepting a connection may start a handshake at once, so fewer are accepted at a time.
            batchCount: options.tls == nil ? 64 : 4)
        self.listener = listener
        port = listener.address.port
        deadlineTimer = LoopTimer(loop: loop) { [weak self] in self?.deadlinesPassed() }
        loop.core.add(self)
        listener.start { [unowned self] descriptor, peer in accepted(descriptor, peer) }
    }

    /// The port that the server listens on.
    public let port: Int

    /// The number of WebSockets, open or closing.
    public var socketCount: Int { sockets.count }

    /// The number of HTTP connections, idle ones included.
    public var connectionCount: Int { connections.count }

    /// Closes the listening socket and idle HTTP connections. Sockets stay open and requests are completed. Idempotent.
    public func stopAccepting() {
        loop.preconditionCurrent()
        listener?.close()
        listener = nil
        isDraining = true
        for connection in Array(connections.values) { connection.drain() }
    }

    /// Begins the closing handshake with every WebSocket; see ``ServerSocket/close(code:reason:farewell:)``.
    public func closeAll(code: UInt16, reason: String) {
        loop.preconditionCurrent()
        for socket in Array(sockets.values) { socket.close(code: code, reason: reason) }
    }

    /// Reads certificate and key again, from the same files or others, for the TLS handshakes that follow, on all
    /// servers of the loop. Open connections keep the certificate that they began with.
    ///
    /// - Returns: whether the certificate is another one.
    /// - Throws: ``TransportError`` `.certificateUnusable`, `.privateKeyUnusable`, `.privateKeyEncrypted`,
    ///   `.privateKeyMismatch`; `.unsupported` without TLS. Nothing has changed then.
    @discardableResult
    public func reloadCertificate(_ tls: TLS) throws(TransportError) -> Bool {
        loop.preconditionCurrent()
        guard options.tls != nil, let context = loop.core.context else {
            throw TransportError(.unsupported, "The server does not use TLS. Restart it to enable TLS.")
        }
        return try context.reloadServerTLS(tls)
    }

    // MARK: Connections

    private func accepted(_ descriptor: Int32, _ peer: SocketAddress) {
        guard connections.count + sockets.count < connectionLimit, !isDraining else {
            // Without TLS a response is cheap, and it does no harm if it is lost with the close. With TLS there is
            // none, since the handshake for it costs too much.
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
        // Retained before the library knows it: callbacks may come before the call returns.
        connections[id] = connection
        let opaque = Unmanaged.passUnretained(connection).toOpaque()
        connection.adopted(signalbox_adopt(vhost, descriptor, options.tls == nil ? 0 : 1, opaque))
        // The library refuses a TLS client at once if its first bytes are no handshake. It has closed the descriptor
        // then, and calls back for the last time later in this turn, when libuv has closed its handle: the object must
        // live until then. If no callback comes, for lack of memory, the deadline releases the object.
        if connections[id] != nil { setDeadline(id, after: options.requestTimeout) }
    }

    func replace(_ connection: HTTPConnection, with socket: ServerSocket) {
        sockets[socket.id] = socket
        connections[connection.id] = nil
    }

    func remove(_ connection: HTTPConnection) {
        connections[connection.id] = nil
        clearDeadline(connection.id)
    }

    func remove(_ socket: ServerSocket) { sockets[socket.id] = nil }

    var lwsContext: OpaquePointer? { loop.core.context?.context }

    // MARK: Deadlines

    func setDeadline(_ id: UInt64, after duration: Duration) {
        let deadline = loop.now.advanced(by: duration)
        deadlines.schedule(id, at: deadline)
        if let armed = deadlineTimerAt, armed <= deadline { return }
        deadlineTimerAt = deadline
        deadlineTimer?.schedule(at: deadline)
    }

    /// Leaves the timer as it is: when it fires, it finds fewer deadlines or none.
    func clearDeadline(_ id: UInt64) { deadlines.cancel(id) }

    private func deadlinesPassed() {
        deadlineTimerAt = nil
        let now = loop.now
        for id in deadlines.expire(upTo: now) {
            connections[id]?.deadlinePassed()
            sockets[id]?.deadlinePassed()
        }
        guard deadlineTimerAt == nil, let next = deadlines.nextDeadline else { return }
        // Many deadlines share one firing, so each may be late by up to the wheel's resolution.
        let firing = max(next, now.advanced(by: deadlines.resolution))
        deadlineTimerAt = firing
        deadlineTimer?.schedule(at: firing)
    }

    // MARK: Shutdown

    /// Called when the loop stops. The loop closes all sockets next.
    func loopStops() {
        listener?.close()
        listener = nil
        isDraining = true
        deadlineTimer = nil
    }

    /// Called when all sockets are closed and the handler has received their last calls.
    func loopStopped() {
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
