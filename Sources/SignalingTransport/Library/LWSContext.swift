import CLibwebsockets
import Logging
import SignalingProtocol
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The one libwebsockets context of a loop, with its virtual hosts. Confined to the loop.
///
/// One context serves all servers and clients of the loop and lives as long as it: taking contexts and vhosts down one
/// by one is where 4.1.6 has its bugs.
final class LWSContext {
    /// What the library may read from or write to the wire at once, in bytes. It is one buffer per context, not per
    /// socket, so it costs nothing to be generous.
    static let serviceByteCount = 65_536

    /// Bytes that the library keeps for each open server socket, and (plus 16) the most that it reads from it in one
    /// turn. Signals are short and rates are limited: the memory of idle sockets matters more than long reads.
    static let serverReceiveByteCount = 2048

    /// The same for a client socket: one to a process as a rule, and servers merge what they send.
    static let clientReceiveByteCount = 16_384

    /// The most that one `lws_write` hands to the kernel at once, in bytes. Whatever is beyond is copied by the library
    /// and sent when the socket is writable.
    static let transmitByteCount = 65_536

    /// How many requests may have their headers read at the same time; more wait. Guards memory against floods of
    /// handshakes: each takes the header limit and about 1 KiB.
    static let headerPoolCount = 1024

    private(set) var context: OpaquePointer?
    private let logger: Logger
    private let loops = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)
    /// What is offered by ALPN; HTTP/2 has open bugs in 4.1.6, and a WebSocket over it would be another thing.
    private let alpn = strdup("http/1.1")
    /// All zero: no pings, no hang-ups by the library. Its timers sit in one sorted list that is walked on each insert.
    private let retryPolicy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    private var wakeDescriptor: Int32 = -1
    private var vhosts: [VHostKey: VHost] = [:]
    private var serverSubprotocol: String?
    /// The server vhost's `SSL_CTX`; the library frees it.
    private var serverTLSContext: OpaquePointer?
    private var serverTLS: TransportServer.TLS?
    /// Whether OpenSSL has been set up for the library.
    ///
    /// Each context that asks for that moves the process-wide number under which 4.1.6 finds its connection from
    /// OpenSSL's; a client's handshake that runs on another loop at that moment would be refused. So one asks.
    private static let isTLSInitialized = Mutex(false)

    /// Client sockets by the number that stands in libwebsockets' opaque pointer. It may speak of a connection once more
    /// after it has said that it could not be made; a number that is not here any more does no harm then.
    private var clients: [UInt: ClientSocket] = [:]
    private var nextClientNumber: UInt = 1

    private enum VHostKey: Hashable {
        case server
        case client(subprotocol: String, caFile: String?)
    }

    init(loop: UnsafeMutablePointer<uv_loop_t>, logger: Logger) throws(TransportError) {
        self.logger = logger
        LWSLog.install(logger)
        loops.initialize(to: UnsafeMutableRawPointer(loop))
        retryPolicy.initialize(to: lws_retry_bo_t())
        var info = Self.baseInfo(retryPolicy: retryPolicy)
        // A loop of our own: with one of its making, the library would take SIGINT, SIGTERM, SIGHUP and even SIGSEGV.
        info.options =
            UInt64(LWS_SERVER_OPTION_LIBUV) | UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
            | UInt64(LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME)
        info.foreign_loops = loops
        info.user = Unmanaged.passUnretained(self).toOpaque()
        let created = Self.isTLSInitialized.withLock { isInitialized -> UInt in
            if !isInitialized { info.options |= UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) }
            isInitialized = true
            return UInt(bitPattern: lws_create_context(&info))
        }
        guard let context = OpaquePointer(bitPattern: created) else {
            throw TransportError(
                .libraryFailed,
                "libwebsockets gave no context; is its libuv plug-in (libwebsockets-evlib-uv) installed?")
        }
        signalbox_keep_event_plugin_loaded()
        self.context = context
        // Nothing else on the loop polls yet: this is the descriptor that the library wakes itself with.
        withUnsafeMutablePointer(to: &wakeDescriptor) { pointer in
            uv_walk(
                loop,
                { handle, found in
                    guard let handle, uv_handle_get_type(handle) == UV_POLL, let found else { return }
                    var descriptor = uv_os_fd_t()
                    guard uv_fileno(handle, &descriptor) == 0 else { return }
                    found.storeBytes(of: descriptor, as: Int32.self)
                }, UnsafeMutableRawPointer(pointer))
        }
    }

    deinit {
        loops.deallocate()
        retryPolicy.deallocate()
        free(alpn)
    }

    /// The vhost that all servers of this loop share. It can do TLS; whether a connection does is decided when it is
    /// adopted.
    ///
    /// One, because 4.1.6 moves a request to the newest vhost with the same "port", which is the same number for all
    /// that do not listen themselves (`lws_select_vhost`).
    func serverVHost(subprotocol: String) throws(TransportError) -> OpaquePointer {
        if let known = vhosts[.server] {
            guard serverSubprotocol == subprotocol else {
                throw TransportError(
                    .unsupported, "servers on one loop speak one sub-protocol; use another loop for \(subprotocol)")
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

    /// From here on connections of the server vhost can be adopted with TLS.
    func enableServerTLS(_ tls: TransportServer.TLS) throws(TransportError) {
        guard serverTLS == nil || serverTLS == tls else {
            throw TransportError(.unsupported, "servers on one loop have one certificate; use another loop")
        }
        guard let serverTLSContext else {
            throw TransportError(.libraryFailed, "libwebsockets gave no TLS context")
        }
        try tls.configure(serverTLSContext)
        serverTLS = tls
    }

    /// `LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS`
    static func serverTLSContextMade(_ wsi: OpaquePointer, _ tlsContext: UnsafeMutableRawPointer) {
        guard let user = lws_context_user(lws_get_context(wsi)) else { return }
        Unmanaged<LWSContext>.fromOpaque(user).takeUnretainedValue().serverTLSContext = OpaquePointer(tlsContext)
    }

    /// A vhost for client sockets; one for each sub-protocol and set of trusted certificates.
    func clientVHost(subprotocol: String, caFile: String?) throws(TransportError) -> OpaquePointer {
        let key = VHostKey.client(subprotocol: subprotocol, caFile: caFile)
        if let known = vhosts[key] { return known.vhost }
        // The library would only log it, and trust the system's certificates alone.
        if let caFile, access(caFile, R_OK) != 0 {
            throw TransportError(.libraryFailed, "the certificates in \(caFile) cannot be read")
        }
        return try makeVHost(
            key, name: "signalbox-client-\(vhosts.count)", port: CONTEXT_PORT_NO_LISTEN, caFile: caFile
        ) {
            ProtocolTable(
                httpCallback: clientCallback, socketCallback: clientCallback, subprotocol: subprotocol,
                receiveByteCount: Self.clientReceiveByteCount)
        }
    }

    func register(_ client: ClientSocket) -> UInt {
        let number = nextClientNumber
        nextClientNumber += 1
        clients[number] = client
        return number
    }

    func forgetClient(_ number: UInt) { clients[number] = nil }

    /// The client socket behind a connection of a client vhost.
    static func client(of wsi: OpaquePointer) -> ClientSocket? {
        guard let user = lws_context_user(lws_get_context(wsi)), let opaque = lws_get_opaque_user_data(wsi) else {
            return nil
        }
        return Unmanaged<LWSContext>.fromOpaque(user).takeUnretainedValue().clients[UInt(bitPattern: opaque)]
    }

    private func makeVHost(
        _ key: VHostKey, name: String, port: Int32, caFile: String? = nil, table make: () -> ProtocolTable
    ) throws(TransportError) -> OpaquePointer {
        guard let context else { throw TransportError(.stopped, "the loop has stopped") }
        let table = make()
        let nameCopy = strdup(name)
        let caFileCopy = caFile.map { strdup($0) } ?? nil
        var info = Self.baseInfo(retryPolicy: retryPolicy)
        info.port = port
        info.protocols = UnsafePointer(table.protocols)
        info.vhost_name = UnsafePointer(nameCopy)
        info.client_ssl_ca_filepath = UnsafePointer(caFileCopy)
        // Without this a vhost gets no TLS, although the context has it.
        info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        if port == CONTEXT_PORT_NO_LISTEN_SERVER {
            // Certificate and key are loaded by us, for the library would only log what is wrong with them. It prepares
            // every vhost for clients, too; this one needs no trusted certificates for that.
            info.options |=
                UInt64(LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX) | UInt64(LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS)
        }
        info.alpn = UnsafePointer(alpn)
        guard let vhost = lws_create_vhost(context, &info) else {
            free(nameCopy)
            free(caFileCopy)
            throw TransportError(
                .libraryFailed, "libwebsockets gave no virtual host")
        }
        vhosts[key] = VHost(vhost: vhost, table: table, strings: [nameCopy, caFileCopy])
        return vhost
    }

    private static func baseInfo(retryPolicy: UnsafeMutablePointer<lws_retry_bo_t>) -> lws_context_creation_info {
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.gid = -1
        info.uid = -1
        info.retry_and_idle_policy = UnsafePointer(retryPolicy)
        info.pt_serv_buf_size = UInt32(serviceByteCount)
        // An unsigned short over there. More than this closes the connection without an answer.
        info.max_http_header_data = UInt16(clamping: Limits.headerByteCount)
        info.max_http_header_pool = UInt16(headerPoolCount)
        // The library's own timeouts are the second line: each byte of a body restarts them. Ours are absolute and come
        // first; these only must not interfere.
        info.timeout_secs = 60
        info.timeout_secs_ah_idle = 60
        info.keepalive_timeout = 60
        return info
    }

    // MARK: The end

    /// Closes every socket: their callbacks come now, their memory goes as the loop runs on. Says whether it may.
    func beginDestroying() -> Bool {
        guard let context else { return true }
        let model = signalbox_open_nothing()
        lws_context_destroy(context)
        // 4.1.6 closes its wake-up descriptor here and a second time while the loop runs on; in between the number may
        // be given to somebody else in this process. So it is taken, for the library to close; if somebody was faster,
        // the loop does not run on, and the context's memory is lost instead.
        defer { signalbox_close(model) }
        guard wakeDescriptor >= 0 else { return true }
        let taken = signalbox_occupy(model, wakeDescriptor)
        guard taken != wakeDescriptor else { return true }
        signalbox_close(taken)
        logger.warning("the loop's context was abandoned: its descriptor was in use again")
        return false
    }

    /// After the loop has closed all handles: frees the context. With a foreign loop that takes this second call.
    func finishDestroying() {
        guard let context else { return }
        lws_context_destroy(context)
        self.context = nil
        for vhost in vhosts.values { vhost.free() }
        vhosts = [:]
    }
}

/// A virtual host and what it points to, which has to live as long as its context.
private struct VHost {
    let vhost: OpaquePointer
    let table: ProtocolTable
    let strings: [UnsafeMutablePointer<CChar>?]

    func free() {
        table.free()
        for string in strings { CLibwebsockets.free(string) }
    }
}

typealias LWSCallback =
    @convention(c) (
        OpaquePointer?, lws_callback_reasons, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int
    ) -> Int32

/// The array of protocols of a vhost: HTTP first, then the WebSocket sub-protocol, then the end mark.
private struct ProtocolTable {
    let protocols: UnsafeMutablePointer<lws_protocols>
    private let names: [UnsafeMutablePointer<CChar>?]

    init(httpCallback: LWSCallback, socketCallback: LWSCallback, subprotocol: String, receiveByteCount: Int) {
        protocols = .allocate(capacity: 3)
        protocols.initialize(repeating: lws_protocols(), count: 3)
        // No client can ask for this name as a sub-protocol: parentheses end a token (RFC 9110, section 5.6.2).
        let httpName = strdup("(http)")
        let socketName = strdup(subprotocol)
        names = [httpName, socketName]
        protocols[0].name = UnsafePointer(httpName)
        protocols[0].callback = httpCallback
        protocols[1].name = UnsafePointer(socketName)
        protocols[1].callback = socketCallback
        for index in 0...1 {
            protocols[index].rx_buffer_size = receiveByteCount
            protocols[index].tx_packet_size = LWSContext.transmitByteCount
        }
    }

    func free() {
        protocols.deallocate()
        for name in names { CLibwebsockets.free(name) }
    }
}
