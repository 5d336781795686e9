import CLibwebsockets
import SignalingProtocol

/// What a client socket tells. Every call comes on the loop.
public protocol ClientSocketHandler: AnyObject {
    /// The handshake is done; the sub-protocol is the one that was asked for.
    func clientSocketOpened(_ socket: ClientSocket)

    /// One whole text message, fragments joined. The bytes are good during the call.
    func clientSocket(_ socket: ClientSocket, received message: UnsafeRawBufferPointer)

    /// The socket takes frames again, after a ``ClientSocket/write(_:)`` had said `.backlogged`.
    func clientSocketDrained(_ socket: ClientSocket)

    /// The last call for a socket that was opened.
    ///
    /// - Parameters:
    ///   - code: the server's close code if it began the closing, 1005 if it gave none; nil if the socket was lost, or
    ///     this side closed.
    ///   - reason: the text with that code.
    func clientSocketClosed(_ socket: ClientSocket, code: UInt16?, reason: String)

    /// The only call for a socket that never opened: `.connectFailed`, `.connectTimedOut`, `.handshakeRefused`.
    func clientSocketFailed(_ socket: ClientSocket, error: TransportError)
}

/// A WebSocket with a server. Confined to its loop.
///
/// After ``terminate()`` or ``close(code:reason:)`` the handler still gets its last call.
public final class ClientSocket: Endable {
    /// What a connection is made with.
    public struct Options: Sendable {
        /// Largest message that is taken, in bytes; over it the socket is closed with 1009.
        /// Default: ``Limits/clientMessageByteCount``.
        public var maxMessageByteCount = Limits.clientMessageByteCount
        /// Most fragments of a message. Default: 4096, since intermediaries may cut a large one.
        public var maxFragmentCount = 4096
        /// From the call to the end of the handshake. Default: 10 s.
        public var connectTimeout = Duration.seconds(10)
        /// For the closing handshake. Default: 5 s.
        public var closeTimeout = Duration.seconds(5)
        /// A PEM file with the certificates to trust for `wss`, beside the system's. nil (the default): the system's alone.
        public var trustedCertificatesFile: String?
        /// An `Origin` header, which browsers send. Default: none.
        public var origin: String?

        public init() {}
    }

    private enum Phase {
        /// Next: `open`, `closed`.
        case connecting
        /// Next: `closing`, `closed`.
        case open
        case closing
        case closed
    }

    public let loop: LoopThread
    /// Whatever the handler wants to find again with the socket.
    public var attachment: AnyObject?
    /// Whether a frame's rest waits to be sent; a write now is refused.
    public private(set) var isBacklogged = false

    private let options: Options
    private var handler: (any ClientSocketHandler)?
    private var wsi: OpaquePointer?
    private var phase = Phase.connecting
    private var isKilled = false
    private var assembler: MessageAssembler
    private var deadline: LoopTimer?
    private var failure: TransportError?
    private var peerCode: UInt16?
    private var peerReason = ""
    private var closeCode: UInt16 = 0
    private var closeReason: String?
    /// Where the context finds it, and keeps it, as long as libwebsockets may speak of it; 0 is nowhere.
    private var number: UInt = 0
    private var isStarting = false

    /// Begins to connect, on the loop. All that follows, failures included, comes to the handler, never during this call.
    ///
    /// A name is looked up by the system within this call, and the loop waits for that: give an address, or a loop of
    /// its own, where that hurts.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path` or `wss://…`.
    ///   - subprotocol: the one to ask for; a server that does not answer with it is refused.
    ///   - handler: kept until its last call.
    /// - Throws: ``TransportError`` `.invalidURL`, `.stopped`, `.libraryFailed` (the certificates file).
    public static func connect(
        loop: LoopThread, url: String, subprotocol: String = "signalbox.v1", options: Options = Options(),
        handler: any ClientSocketHandler
    ) throws(TransportError) -> ClientSocket {
        loop.preconditionCurrent()
        guard let context = loop.core.context, let lwsContext = context.context else {
            throw TransportError(.stopped, "the loop has stopped")
        }
        let target = try WebSocketURL(url)
        let vhost = try context.clientVHost(subprotocol: subprotocol, caFile: options.trustedCertificatesFile)
        let socket = ClientSocket(loop: loop, options: options, handler: handler)
        socket.start(context: lwsContext, vhost: vhost, target: target, subprotocol: subprotocol)
        return socket
    }

    private init(loop: LoopThread, options: Options, handler: any ClientSocketHandler) {
        self.loop = loop
        self.options = options
        self.handler = handler
        assembler = MessageAssembler(
            byteLimit: options.maxMessageByteCount, fragmentLimit: options.maxFragmentCount)
        deadline = LoopTimer(loop: loop) { [weak self] in self?.deadlinePassed() }
    }

    public var isOpen: Bool { phase == .open && !isKilled }

    /// Sends the frame as one text message. Unlike on the server its bytes are destroyed: clients mask in place.
    @discardableResult
    public func write(_ frame: OutboundFrame) -> WriteOutcome {
        guard let wsi, isOpen, closeReason == nil else { return .closed }
        if isBacklogged { return .refused }
        let outcome = lws_write(wsi, frame.payload, frame.byteCount, LWS_WRITE_TEXT)
        frame.removeAll()
        guard outcome >= 0 else {
            terminate()
            return .closed
        }
        guard lws_partial_buffered(wsi) != 0 else { return .sent }
        isBacklogged = true
        return .backlogged
    }

    /// Begins the closing handshake, and cuts the socket if it has not ended in time. While connecting: gives up.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001, 1003, 1007 to 1011, or 3000 to 4999.
    ///   - reason: cut to 123 bytes.
    public func close(code: UInt16, reason: String) {
        guard phase == .open, !isKilled else { return terminate() }
        guard closeReason == nil else { return }
        closeCode = code
        closeReason = reason
        deadline?.schedule(at: loop.now.advanced(by: options.closeTimeout))
        // With bytes still buffered the close frame has to wait: the library would drop it.
        if !isBacklogged { loop.core.endSoon(self) }
    }

    /// Cuts the socket without a close frame, at the end of this turn of the loop.
    public func terminate() {
        guard !isKilled, phase != .closed else { return }
        isKilled = true
        loop.core.endSoon(self)
    }

    // MARK: What libwebsockets tells

    /// The server has answered, the sub-protocol can be read. -1 refuses.
    func serverAnswered(_ wsi: OpaquePointer) -> Int32 {
        guard !isKilled else { return -1 }
        // The library takes an answer without a sub-protocol for consent (RFC 6455, section 4.1, does not).
        guard lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) > 0 else {
            failure = TransportError(.handshakeRefused, "the server does not speak the sub-protocol")
            return -1
        }
        return 0
    }

    func established() -> Int32 {
        guard phase == .connecting, !isKilled else { return -1 }
        phase = .open
        deadline?.cancel()
        handler?.clientSocketOpened(self)
        return isKilled ? -1 : 0
    }

    func received(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard !isKilled else { return -1 }
        guard phase == .open, closeReason == nil, let handler else { return 0 }
        switch assembler.take(MessageAssembler.Piece(bytes, of: wsi)) {
        case .incomplete: break
        case .wholePiece: handler.clientSocket(self, received: bytes)
        case .joined(let message): message.withUnsafeBytes { handler.clientSocket(self, received: $0) }
        case .violation(.binaryMessage): close(code: 1003, reason: "text messages only")
        case .violation(.invalidUTF8): close(code: 1007, reason: "text is not UTF-8")
        case .violation(.messageTooBig), .violation(.tooManyFragments): close(code: 1009, reason: "message too big")
        }
        return isKilled ? -1 : 0
    }

    func becameWritable() -> Int32 {
        guard let wsi, !isKilled else { return -1 }
        if isBacklogged, lws_partial_buffered(wsi) == 0 {
            isBacklogged = false
            if phase == .open, closeReason == nil { handler?.clientSocketDrained(self) }
            if isKilled { return -1 }
        }
        if closeReason != nil, !isBacklogged { loop.core.endSoon(self) }
        return 0
    }

    func peerCloses(_ payload: UnsafeRawBufferPointer) {
        guard phase == .open else { return }
        phase = .closing
        peerCode = closeCodeOf(payload)
        peerReason = String(decoding: payload.dropFirst(2), as: UTF8.self)
        deadline?.schedule(at: loop.now.advanced(by: options.closeTimeout))
    }

    /// The handshake ends here; ``connectionFailed(_:)`` comes next, with words of the library's that say less.
    func certificateRefused(_ why: String) {
        guard phase == .connecting, failure == nil, !isKilled else { return }
        failure = TransportError(.connectFailed, "the server's certificate is refused: \(why)")
    }

    func connectionFailed(_ text: UnsafeRawBufferPointer) {
        guard phase == .connecting else { return }
        if failure == nil, !isKilled {
            let words = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
            // The library marks what went wrong after the connection stood with "HS:", and tells of TLS no more than
            // OpenSSL's kind of error, with a number that it has mistaken for a reason.
            if words.hasPrefix("HS:") || words.contains("ws upgrade") {
                failure = TransportError(.handshakeRefused, "the server refused the WebSocket: \(words)")
            } else if words.hasPrefix("connect SSL err") {
                failure = TransportError(.connectFailed, "the server cannot be reached: the TLS handshake failed")
            } else {
                failure = TransportError(.connectFailed, "the server cannot be reached: \(words)")
            }
        }
        if isStarting { terminate() } else { closed() }
    }

    func closed() {
        guard phase != .closed else { return }
        let wasOpened = phase != .connecting
        phase = .closed
        wsi = nil
        deadline = nil
        let handler = handler
        self.handler = nil
        if wasOpened {
            handler?.clientSocketClosed(self, code: peerCode, reason: peerReason)
        } else {
            let error = failure ?? TransportError(.connectFailed, "the connection was given up")
            handler?.clientSocketFailed(self, error: error)
        }
        attachment = nil
    }

    func destroyed() {
        closed()
        forget()
    }

    func endNow() {
        guard phase != .closed else { return }
        guard let wsi else {
            // It was never made, or failed while it was.
            closed()
            return forget()
        }
        if isKilled { return closeForcibly(wsi) }
        guard phase == .open, let closeReason else { return }
        phase = .closing
        closePolitely(wsi, code: closeCode, closeReason)
    }

    // MARK: Inside

    private func start(
        context: OpaquePointer, vhost: OpaquePointer, target: WebSocketURL, subprotocol: String
    ) {
        number = loop.core.context?.register(self) ?? 0
        isStarting = true
        deadline?.schedule(at: loop.now.advanced(by: options.connectTimeout))
        target.host.withCString { host in
            target.hostHeader.withCString { hostHeader in
                target.path.withCString { path in
                    subprotocol.withCString { name in
                        withOptionalCStrings(options.origin, target.isSecure ? "http/1.1" : nil) { origin, alpn in
                            // The library copies the strings before it returns.
                            var info = lws_client_connect_info()
                            info.context = context
                            info.vhost = vhost
                            info.address = host
                            info.host = hostHeader
                            info.port = Int32(target.port)
                            info.path = path
                            info.origin = origin
                            info.`protocol` = name
                            info.local_protocol_name = name
                            info.ssl_connection = target.isSecure ? Int32(LCCSCF_USE_SSL.rawValue) : 0
                            info.alpn = alpn
                            info.ietf_version_or_minus_one = -1
                            info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
                            wsi = lws_client_connect_via_info(&info)
                        }
                    }
                }
            }
        }
        isStarting = false
        // It may have failed, and even told so, within the call: the handler hears of it after this turn.
        if wsi == nil { terminate() }
    }

    private func forget() {
        loop.core.context?.forgetClient(number)
        number = 0
    }

    private func deadlinePassed() {
        if phase == .connecting {
            failure = TransportError(.connectTimedOut, "the server did not answer in \(options.connectTimeout)")
        }
        terminate()
    }
}

private func withOptionalCStrings(
    _ first: String?, _ second: String?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void
) {
    func withSecond(_ first: UnsafePointer<CChar>?) {
        guard let second else { return body(first, nil) }
        second.withCString { body(first, $0) }
    }
    guard let first else { return withSecond(nil) }
    first.withCString { withSecond($0) }
}
