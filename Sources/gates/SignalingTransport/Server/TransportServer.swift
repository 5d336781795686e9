import CLibwebsockets
import SignalingProtocol

/// Listens on one address and serves WebSockets and HTTP/1.1 there, with or without TLS. Confined to its loop. It lives
/// until the loop stops.
public final class TransportServer {
    public let options: Options
    public let loop: LoopThread
    private(set) var handler: (any TransportServerHandler)?
    private var listener: Listener?
    private let hosts: ServerHosts
    /// Counts and logs what the server refuses.
    public let refusals: RefusalRecorder
    private var admission: AdmissionControl
    /// Accepted connections that libwebsockets does not know yet.
    private var held: [UInt64: HeldConnection] = [:]
    private var connections: [UInt64: HTTPConnection] = [:]
    private var sockets: [UInt64: ServerSocket] = [:]
    private var nextID: UInt64 = 1
    /// Where held connections look at their first bytes.
    let openingBytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Opening.byteLimit, alignment: 8)
    private enum Deadline: Hashable {
        /// The end of a connection's phase.
        case phase(UInt64)
        /// When to look at a held connection again.
        case look(UInt64)
        /// When to release free memory, perhaps.
        case memory
    }
    private var deadlines = TimingWheel<Deadline>(resolution: .milliseconds(50), slotCount: 512)
    private var memoryRelease = MemoryRelease()
    private var deadlineTimer: LoopTimer?
    private var deadlineTimerAt: MonotonicInstant?
    /// TLS connections whose greeting is complete. A handshake takes about a millisecond, and thousands of greetings can
    /// arrive in one turn.
    private var handshakes = TurnQueue<PeerAddress, UInt64>(countPerTurn: 1)
    /// Requests, of which a costly one takes some tenths of a millisecond.
    private var requests = TurnQueue<PeerAddress, HTTPExchange>(countPerTurn: 8)
    private var turnQueueTimer: LoopTimer?
    /// Whether ``stopAccepting()`` was called: idle connections are closed, and responses announce the close.
    private(set) var isDraining = false

    /// Starts to listen. Call it on the loop.
    ///
    /// - Parameters:
    ///   - handler: retained until the loop has stopped.
    ///   - refusals: counts and logs what the server refuses. Default: one of its own.
    /// - Throws: ``TransportError`` `.addressInUse`, `.permissionDenied`, `.invalidAddress`, `.resourcesExhausted`,
    ///   `.unsupported` (a second sub-protocol or certificate on one loop), `.libraryFailed`, `.stopped`; with TLS
    ///   `.certificateUnusable`, `.privateKeyUnusable`, `.privateKeyEncrypted`, `.privateKeyMismatch`.
    public init(
        loop: LoopThread, options: Options, handler: any TransportServerHandler, refusals: RefusalRecorder? = nil
    ) throws(TransportError) {
        loop.preconditionCurrent()
        guard let contexts = loop.core.contexts else { throw TransportError.loopStopped(loop.name) }
        self.loop = loop
        self.options = options
        self.handler = handler
        hosts = try contexts.serverHosts(subprotocol: options.subprotocol)
        if let tls = options.tls { try contexts.enableServerTLS(tls) }
        self.refusals = refusals ?? RefusalRecorder(logger: loop.logger)
        admission = AdmissionControl(bounds: options.admissionBounds)
        let listener =
            if let socket = options.listeningSocket {
                try Listener(loop: loop, socket: socket)
            } else {
                try Listener(loop: loop, host: options.host, port: options.port, backlog: options.backlog)
            }
        self.listener = listener
        port = listener.address.port
        deadlineTimer = LoopTimer(loop: loop) { [weak self] in self?.deadlinesPassed() }
        turnQueueTimer = LoopTimer(loop: loop) { [weak self] in self?.continueQueues() }
        loop.core.add(self)
        listener.start(
            exhausted: { [unowned self] in descriptorsAreExhausted() },
            accepted: { [unowned self] in accepted($0, $1) })
    }

    deinit { openingBytes.deallocate() }

    /// The port that the server listens on.
    public let port: Int

    /// The number of WebSockets, open or closing.
    public var socketCount: Int { sockets.count }

    /// The number of HTTP connections, idle ones and those without a request yet included.
    public var connectionCount: Int { connections.count + held.count }

    /// Closes a listening socket that this server was given, and goes on serving its connections. Further connections
    /// wait in the backlog for the next process that is given the socket. Does nothing to a socket of the server's own.
    /// Idempotent.
    public func leaveListeningSocket() {
        loop.preconditionCurrent()
        guard options.listeningSocket != nil else { return }
        listener?.close()
        listener = nil
    }

    /// Closes the listening socket and idle HTTP connections. Sockets stay open and requests are completed. Idempotent.
    public func stopAccepting() {
        loop.preconditionCurrent()
        listener?.close()
        listener = nil
        isDraining = true
        for connection in Array(held.values) { release(connection) }
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
        guard options.tls != nil, let contexts = loop.core.contexts else {
            throw TransportError(.unsupported, "The server does not use TLS. Restart it to enable TLS.")
        }
        return try contexts.reloadServerTLS(tls)
    }

    // MARK: Connections

    private func accepted(_ descriptor: Int32, _ peer: SocketAddress) {
        guard !isDraining else {
            signalbox_close(descriptor)
            return
        }
        let id = nextID
        nextID += 1
        let address = PeerAddress(peer)
        guard follow(admission.connect(id, from: address, now: loop.now), for: address, descriptor) else { return }
        let connection = HeldConnection(
            id: id, descriptor: descriptor, address: address, server: self,
            expectsProxyHeader: options.proxyNaming == .proxyProtocol
                && admission.bounds.trustedProxies.contains(address))
        held[id] = connection
        setDeadline(id, after: options.requestTimeout)
        connection.look()
    }

    /// Makes room as decided.
    ///
    /// - Returns: whether the connection may go on. If not, it gets its answer here and the descriptor is closed.
    private func follow(_ decision: AdmissionControl.Decision, for address: PeerAddress, _ descriptor: Int32) -> Bool {
        switch decision {
        case .admit(let victim):
            if let victim { displace(victim, .displaced) }
            return true
        case .admitToReserve(let victim):
            if let victim { displace(victim, .serverFull) }
            return true
        case .refuse(let refusal):
            refusals.note(refusal, address: address.text, now: loop.now)
            // Without TLS a response is cheap, and it does no harm if it is lost with the close. With TLS there is
            // none, since the handshake for it costs too much.
            if options.tls == nil {
                // Closing with unread input resets the connection, and the reset destroys the response.
                _ = signalbox_receive(descriptor, openingBytes.baseAddress, openingBytes.count)
                let response = HTTPResponse.refusal(refusal)
                let bytes = response.serialized(isHead: false, keepsAlive: false).head + response.body
                _ = bytes.withUnsafeBytes { signalbox_send(descriptor, $0.baseAddress, $0.count) }
            }
            signalbox_close(descriptor)
            return false
        }
    }

    /// Closes a connection that gives its place to another.
    private func displace(_ id: UInt64, _ refusal: Refusal) {
        if let connection = held[id] {
            refusals.note(refusal, address: connection.address.text, now: loop.now)
            release(connection)
        } else if let connection = connections[id] {
            if !connection.isIdle { refusals.note(refusal, address: connection.remoteAddress, now: loop.now) }
            connection.terminate()
        } else if let socket = sockets[id] {
            refusals.note(refusal, address: socket.remoteAddress, now: loop.now)
            socket.terminate()
        }
    }

    private func descriptorsAreExhausted() {
        refusals.note(.descriptors, address: "unknown", now: loop.now)
        if let victim = admission.makeRoom(now: loop.now) { displace(victim, .displaced) }
    }

    // MARK: Held connections

    /// Looks at a held connection again after a while: a new one, or one between two requests.
    func lookLater(_ connection: HeldConnection) {
        schedule(.look(connection.id), at: loop.now.advanced(by: HeldConnection.pause))
    }

    /// Looks at a held connection again as soon as the library has returned from its callback.
    func lookSoon(_ connection: HeldConnection) { schedule(.look(connection.id), at: loop.now) }

    // MARK: Work that waits for a later turn

    /// Whether a connection whose TLS greeting is complete may begin its handshake. Otherwise it waits for a later turn.
    func mayBeginHandshake(_ connection: HeldConnection) -> Bool {
        if handshakes.admits(connection.id, of: connection.address.prefix, in: loop.core.turn) { return true }
        turnQueueTimer?.schedule(at: loop.now)
        return false
    }

    /// Hands a request over, in this turn or a later one.
    func handOver(_ exchange: HTTPExchange, of source: PeerAddress) {
        if requests.admits(exchange, of: source.prefix, in: loop.core.turn) {
            handler?.requestReceived(exchange)
        } else {
            turnQueueTimer?.schedule(at: loop.now)
        }
    }

    private func continueQueues() {
        let turn = loop.core.turn
        handshakes.begin(turn)
        while let id = handshakes.next() { held[id]?.look() }
        requests.begin(turn)
        while let exchange = requests.next() { exchange.connection?.handOver(exchange) }
        if handshakes.count + requests.count > 0 { turnQueueTimer?.schedule(at: loop.now) }
    }

    func heldConnection(_ connection: HeldConnection, ended end: HeldConnection.End) {
        if let owner = connections[connection.id] { return owner.nextHead(ended: end) }
        switch end {
        case .complete(let descriptor, let heads): adopt(connection, descriptor, heads)
        case .hungUp: release(connection)
        case .malformed(let fault):
            note(fault, from: connection.address)
            connection.answer(fault.response.adding(options.responseHeaders))
            release(connection)
        case .malformedProxyHeader:
            refusals.note(.proxyHeader, address: connection.address.text, now: loop.now)
            release(connection)
        case .refused(let refusal):
            refusals.note(refusal, address: connection.address.text, now: loop.now)
            if options.tls == nil {
                connection.answer(HTTPResponse.refusal(refusal).adding(options.responseHeaders))
            }
            release(connection)
        case .notTLS:
            refusals.note(.notTLS, address: connection.address.text, now: loop.now)
            release(connection)
        }
    }

    /// Counts and logs a fault that an operator can remove.
    func note(_ fault: RequestFault, from address: PeerAddress) {
        guard fault == .upgradeInVersion10 else { return }
        refusals.note(.upgradeMissing, address: address.text, now: loop.now)
    }

    private func release(_ connection: HeldConnection) {
        connection.close()
        forget(connection)
        admission.disconnect(connection.id)
        clearDeadline(connection.id)
    }

    private func forget(_ connection: HeldConnection) {
        held[connection.id] = nil
        deadlines.cancel(.look(connection.id))
    }

    /// Passes a connection whose opening is complete to libwebsockets. Its deadline continues.
    private func adopt(_ held: HeldConnection, _ descriptor: Int32, _ heads: HeldConnection.Heads) {
        let id = held.id
        forget(held)
        let decision = admission.adopt(id, mayAskForHealth: heads.mayAskForHealth, now: loop.now)
        guard follow(decision, for: held.address, descriptor) else {
            admission.disconnect(id)
            return clearDeadline(id)
        }
        let connection = HTTPConnection(
            id: id, address: held.address, server: self, answersHealthOnly: admission.isReserved(id), heads: heads)
        // Retained before the library knows it: callbacks may come before the call returns.
        connections[id] = connection
        let opaque = Unmanaged.passUnretained(connection).toOpaque()
        connection.adopted(
            signalbox_adopt(hosts.host(for: descriptor), descriptor, options.tls == nil ? 0 : 1, opaque))
        // The library refuses a TLS client at once if its first bytes are no handshake. It has closed the descriptor
        // then, and calls back for the last time later in this turn, when libuv has closed its handle: the object must
        // live until then. If no callback comes, for lack of memory, the deadline releases the object.
        if let head = heads.originForm { connection.read(head) }
    }

    /// Reports the phase of a connection or socket.
    func moved(_ id: UInt64, to phase: AdmissionControl.Phase) { admission.move(id, to: phase, now: loop.now) }

    /// The client's address behind a trusted proxy by the headers of a request, and why the client is refused, if it
    /// is.
    func identify(
        _ id: UInt64, _ peer: PeerAddress, forwardedFor: String?, forwarded: [UInt8]?
    ) -> (PeerAddress, Refusal?) {
        let proxies = admission.bounds.trustedProxies
        let client: PeerAddress?
        switch options.proxyNaming {
        case .xForwardedFor: client = proxies.client(behind: peer, forwardedFor: forwardedFor)
        case .forwarded: client = proxies.client(behind: peer, forwarded: forwarded)
        case .proxyProtocol: client = peer
        }
        guard let client else { return (peer, .proxyHeader) }
        return (client, client == peer ? nil : identify(id, as: client))
    }

    /// - Returns: why the client that a trusted proxy names is refused, if it is.
    func identify(_ id: UInt64, as client: PeerAddress) -> Refusal? {
        admission.identify(id, as: client, now: loop.now)
    }

    func trusts(_ peer: PeerAddress) -> Bool { admission.bounds.trustedProxies.contains(peer) }

    /// Whether the server reads the header `Forwarded` of this peer.
    func readsForwarded(from peer: PeerAddress) -> Bool {
        options.proxyNaming == .forwarded && admission.bounds.trustedProxies.contains(peer)
    }

    func replace(_ connection: HTTPConnection, with socket: ServerSocket) {
        sockets[socket.id] = socket
        connections[connection.id] = nil
        moved(socket.id, to: .unjoined)
    }

    func remove(_ connection: HTTPConnection) {
        connections[connection.id] = nil
        admission.disconnect(connection.id)
        clearDeadline(connection.id)
        deadlines.cancel(.look(connection.id))
    }

    func remove(_ socket: ServerSocket) {
        sockets[socket.id] = nil
        admission.disconnect(socket.id)
        noteEnds(1)
    }

    /// Sockets, connections or sessions have ended. After many, the server returns their memory to the system.
    package func noteEnds(_ count: Int) {
        if let pause = memoryRelease.noteEnds(count) { schedule(.memory, at: loop.now.advanced(by: pause)) }
    }

    private func considerMemory() {
        switch memoryRelease.look() {
        case .wait(let pause): schedule(.memory, at: loop.now.advanced(by: pause))
        case .release(let pause):
            signalbox_release_free_memory()
            if let pause { schedule(.memory, at: loop.now.advanced(by: pause)) }
        }
    }

    // MARK: Deadlines

    func setDeadline(_ id: UInt64, after duration: Duration) {
        schedule(.phase(id), at: loop.now.advanced(by: duration))
    }

    private func schedule(_ key: Deadline, at deadline: MonotonicInstant) {
        deadlines.schedule(key, at: deadline)
        if let armed = deadlineTimerAt, armed <= deadline { return }
        deadlineTimerAt = deadline
        deadlineTimer?.schedule(at: deadline)
    }

    /// Leaves the timer as it is: when it fires, it finds fewer deadlines or none.
    func clearDeadline(_ id: UInt64) { deadlines.cancel(.phase(id)) }

    private func deadlinesPassed() {
        deadlineTimerAt = nil
        let now = loop.now
        for deadline in deadlines.expire(upTo: now) {
            switch deadline {
            case .look(let id):
                held[id]?.look()
                connections[id]?.lookAtNextHead()
            case .memory: considerMemory()
            case .phase(let id):
                if let connection = held[id] {
                    refusals.note(.silent, address: connection.address.text, now: now)
                    release(connection)
                }
                connections[id]?.deadlinePassed()
                sockets[id]?.deadlinePassed()
            }
        }
        guard let next = deadlines.nextDeadline else { return }
        // Many deadlines share one firing, so each may be late by up to the wheel's resolution.
        let firing = max(next, now.advanced(by: deadlines.resolution))
        // One of those above may have armed the timer for itself: another deadline may come before that one.
        if let armed = deadlineTimerAt, armed <= firing { return }
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
        turnQueueTimer = nil
        for connection in held.values { connection.close() }
        held = [:]
    }

    /// Called when all sockets are closed and the handler has received their last calls.
    func loopStopped() {
        handler = nil
        connections = [:]
        sockets = [:]
    }
}
