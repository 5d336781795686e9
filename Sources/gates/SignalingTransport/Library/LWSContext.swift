import CLibwebsockets
import EventLoop
import Logging
import SignalingCryptography
import SignalingProtocol
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A libwebsockets context of a loop, with its virtual hosts. Confined to the loop.
///
/// It lives as long as the loop: 4.1.6 has bugs where contexts and vhosts are destroyed one by one.
final class LWSContext {
    /// The maximum number of bytes that the library reads from or writes to a socket at once. It is one buffer per
    /// context, not per socket, so a large one costs nothing.
    static let serviceByteCount = 65_536

    /// The size in bytes of the receive buffer that the library allocates for each open server socket and, plus 16, the
    /// most that it reads from the socket in one turn. Signals are short and rates are limited, so the memory of idle
    /// sockets matters more than long reads.
    static let serverReceiveByteCount = 1024

    /// The same for a client socket. A process usually has one, and servers coalesce their writes.
    static let clientReceiveByteCount = 16_384

    /// The maximum number of bytes that one `lws_write` passes to the kernel at once. The library copies the rest and
    /// sends it when the socket is writable.
    static let transmitByteCount = 65_536

    /// How many requests may have their headers read at the same time; others wait. Bounds the memory of a flood of
    /// handshakes: each needs the header limit and about 1 KiB.
    static let headerPoolCount = 1024

    private(set) var context: OpaquePointer?
    private let loop: EventLoop
    private let logger: Logger
    private let loops = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
    /// The protocol offered by ALPN. HTTP/2 has open bugs in 4.1.6, and its WebSockets work differently.
    private let alpn = strdup("http/1.1")
    /// All zero: the library sends no pings and closes no idle socket. Its timers are one sorted list, walked on each
    /// insert.
    private let retryPolicy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    private var wakeDescriptor: Int32 = -1
    private var vhosts: [VirtualHostKey: VirtualHost] = [:]
    private var serverSubprotocol: String?
    /// The server vhost's `SSL_CTX`; the library frees it.
    private var serverTLSContext: OpaquePointer?
    /// Whether a context has already initialized OpenSSL. Only the first one does.
    ///
    /// Each initialization changes the process-wide index under which 4.1.6 finds its connection from OpenSSL's. A
    /// client's handshake on another loop at that moment would fail.
    private static let isTLSInitialized = Mutex(false)

    /// Client sockets by the number in libwebsockets' opaque pointer. The library may call back for a connection after
    /// it has reported its failure; a removed number is harmless then.
    private var clients: [UInt: ClientSocket] = [:]
    private var nextClientNumber: UInt = 1

    private enum VirtualHostKey: Hashable {
        case server
        case client(subprotocol: String, caFile: String?)
    }

    init(loop: EventLoop, logger: Logger) throws(TransportError) {
        self.loop = loop
        self.logger = logger
        LWSLog.install(logger)
        OpenSSLCleanup.turnOff()
        loops.initialize(to: loop.address)
        retryPolicy.initialize(to: lws_retry_bo_t())
        var info = Self.baseInfo(retryPolicy: retryPolicy)
        // A foreign loop: with a loop of its own the library would handle SIGINT, SIGTERM, SIGHUP and even SIGSEGV.
        info.options =
            UInt64(LWS_SERVER_OPTION_LIBUV) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
            | UInt64(LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME)
        info.foreign_loops = loops
        info.user = Unmanaged.passUnretained(self).toOpaque()
        let polledBefore = loop.polledDescriptors
        let created = Self.isTLSInitialized.withLock { isInitialized -> UInt in
            if !isInitialized { info.options |= UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) }
            isInitialized = true
            return UInt(bitPattern: lws_create_context(&info))
        }
        guard let context = OpaquePointer(bitPattern: created) else {
            throw TransportError(
                .libraryFailed,
                "Cannot create a libwebsockets context. Install its libuv plug-in, the package libwebsockets-evlib-uv.")
        }
        signalbox_keep_event_plugin_loaded()
        self.context = context
        wakeDescriptor = loop.polledDescriptors.first { !polledBefore.contains($0) } ?? -1
    }

    deinit {
        loops.deallocate()
        retryPolicy.deallocate()
        free(alpn)
    }

    /// The vhost that all servers of this loop share, for the connections of this context. It can do TLS; whether a connection does is decided when it is
    /// adopted.
    ///
    /// There is only one, because 4.1.6 moves a request to the newest vhost with the same "port", and all vhosts
    /// without a listener have the same number there (`lws_select_vhost`).
    func serverVHost(subprotocol: String) throws(TransportError) -> OpaquePointer {
        if let known = vhosts[.server] {
            guard serverSubprotocol == subprotocol else {
                throw TransportError(
                    .unsupported,
                    "The servers of this loop use the sub-protocol \(serverSubprotocol ?? ""). "
                        + "Start the server for \(subprotocol) on another loop.")
            }
            return known.vhost
        }
        serverSubprotocol = subprotocol
        return try makeVHost(.server, name: "signalbox-server", port: CONTEXT_PORT_NO_LISTEN_SERVER) {
            ProtocolTable(
                httpCallback: serverHTTPCallback, socketCallback: serverSocketCallback, subprotocol: subprotocol,
                receiveByteCount: Self.serverReceiveByteCount)
        }
    }

    /// Connections of the server vhost can be adopted with TLS afterwards. The certificate must live as long as this
    /// context.
    func use(_ certificate: ServerCertificate) throws(TransportError) {
        guard let serverTLSContext else {
            throw TransportError(
                .libraryFailed, "libwebsockets created no TLS context. Install a libwebsockets with OpenSSL support.")
        }
        try certificate.serve(serverTLSContext)
    }

    /// `LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS`
    static func serverTLSContextCreated(_ wsi: OpaquePointer, _ tlsContext: UnsafeMutableRawPointer) {
        guard let user = lws_context_user(lws_get_context(wsi)) else { return }
        Unmanaged<LWSContext>.fromOpaque(user).takeUnretainedValue().serverTLSContext = OpaquePointer(tlsContext)
    }

    /// A vhost for client sockets. There is one for each pair of sub-protocol and trusted certificates.
    func clientVHost(subprotocol: String, caFile: String?) throws(TransportError) -> OpaquePointer {
        let key = VirtualHostKey.client(subprotocol: subprotocol, caFile: caFile)
        if let known = vhosts[key] { return known.vhost }
        // The library would only log this, and trust the system's certificates alone.
        if let caFile, access(caFile, R_OK) != 0 {
            throw TransportError(
                .libraryFailed,
                "Cannot read the trusted certificates in \(caFile): \(systemMessage(errno)). "
                    + "Check the path and its permissions.")
        }
        return try makeVHost(
            key, name: "signalbox-client-\(vhosts.count)", port: CONTEXT_PORT_NO_LISTEN, caFile: caFile
        ) {
            ProtocolTable(
                httpCallback: clientCallback, socketCallback: clientCallback, subprotocol: subprotocol,
                receiveByteCount: Self.clientReceiveByteCount)
        }
    }

    func add(_ client: ClientSocket) -> UInt {
        let number = nextClientNumber
        nextClientNumber += 1
        clients[number] = client
        return number
    }

    func removeClient(_ number: UInt) { clients[number] = nil }

    /// The client socket behind a connection of a client vhost.
    static func client(of wsi: OpaquePointer) -> ClientSocket? {
        guard let user = lws_context_user(lws_get_context(wsi)), let opaque = lws_get_opaque_user_data(wsi) else {
            return nil
        }
        return Unmanaged<LWSContext>.fromOpaque(user).takeUnretainedValue().clients[UInt(bitPattern: opaque)]
    }

    private func makeVHost(
        _ key: VirtualHostKey, name: String, port: Int32, caFile: String? = nil, table make: () -> ProtocolTable
    ) throws(TransportError) -> OpaquePointer {
        guard let context else { throw TransportError.loopStopped() }
        let table = make()
        let nameCopy = strdup(name)
        let caFileCopy = caFile.map { strdup($0) } ?? nil
        var info = Self.baseInfo(retryPolicy: retryPolicy)
        info.port = port
        info.protocols = UnsafePointer(table.protocols)
        info.vhost_name = UnsafePointer(nameCopy)
        info.client_ssl_ca_filepath = UnsafePointer(caFileCopy)
        // Without this a vhost has no TLS, although the context has it.
        info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        if port == CONTEXT_PORT_NO_LISTEN_SERVER {
            // `ServerTLS` loads certificate and key, since the library would only log what is wrong with them. The
            // library prepares every vhost for clients too; this one needs no trusted certificates for that.
            info.options |=
                UInt64(LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX) | UInt64(LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS)
        }
        info.alpn = UnsafePointer(alpn)
        guard let vhost = lws_create_vhost(context, &info) else {
            free(nameCopy)
            free(caFileCopy)
            throw TransportError(
                .libraryFailed, "Cannot create a virtual host of libwebsockets. Its own log lines say why.")
        }
        vhosts[key] = VirtualHost(vhost: vhost, table: table, strings: [nameCopy, caFileCopy])
        return vhost
    }

    private static func baseInfo(retryPolicy: UnsafeMutablePointer<lws_retry_bo_t>) -> lws_context_creation_info {
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        // "Do not change": -1 in 4.1.6, where the fields have a sign, and all bits set in 4.3.
        info.gid = .init(truncatingIfNeeded: -1)
        info.uid = .init(truncatingIfNeeded: -1)
        info.retry_and_idle_policy = UnsafePointer(retryPolicy)
        info.pt_serv_buf_size = UInt32(serviceByteCount)
        // An unsigned short in C. A longer header block closes the connection without a response.
        info.max_http_header_data = UInt16(clamping: Limits.headerByteCount)
        info.max_http_header_pool = UInt16(headerPoolCount)
        // Each byte of a body restarts the library's own timeouts, so the transport has absolute deadlines. The
        // library's are set far beyond them.
        info.timeout_secs = 60
        info.timeout_secs_ah_idle = 60
        info.keepalive_timeout = 60
        return info
    }

    // MARK: Shutdown

    /// Closes every socket: their last callbacks come now, and the loop frees their memory as it continues. Returns
    /// whether the loop may continue.
    func beginDestroying() -> Bool {
        guard let context else { return true }
        let sockets = loop.polledDescriptors
        let model = signalbox_open_nothing()
        lws_context_destroy(context)
        // 4.1.6 closes its wake-up descriptor here, and closes the same number again while the loop continues. In
        // between the process may open another file with that number. So occupy the number for the library to close. If
        // another thread was faster, the loop must not continue, and the context's memory leaks instead.
        defer { signalbox_close(model) }
        guard wakeDescriptor >= 0, signalbox_closes_twice() else { return true }
        let occupied = signalbox_occupy(model, wakeDescriptor)
        guard occupied != wakeDescriptor else { return true }
        signalbox_close(occupied)
        // The library closes sockets as the loop continues. Their peers would wait for the end of this process.
        for socket in sockets where socket != wakeDescriptor { signalbox_close(socket) }
        logger.warning("leaking a libwebsockets context: its wake-up descriptor is in use again")
        return false
    }

    /// Frees the context when the loop has closed all handles. A context on a foreign loop needs this second call.
    func finishDestroying() {
        guard let context else { return }
        lws_context_destroy(context)
        self.context = nil
        for vhost in vhosts.values { vhost.free() }
        vhosts = [:]
    }
}
