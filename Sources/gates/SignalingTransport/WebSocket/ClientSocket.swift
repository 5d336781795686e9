import CLibwebsockets
import SignalingProtocol

/// A WebSocket to a server. Confined to its loop. ``WebSocketLifecycle`` makes its decisions.
///
/// After ``terminate()`` or ``close(code:reason:)`` the handler still receives its last call.
public final class ClientSocket: TurnEndClosable {
    /// The options of a connection.
    public struct Options: Sendable {
        /// Maximum size of a message in bytes; a larger one closes the socket with 1009.
        /// Default: ``Limits/clientMessageByteCount``.
        public var maxMessageByteCount = Limits.clientMessageByteCount
        /// Maximum number of fragments of a message. Default: 4096, since intermediaries may fragment a large one.
        public var maxFragmentCount = 4096
        /// The time from the call to the end of the handshake. Default: 10 s.
        public var connectTimeout = Duration.seconds(10)
        /// The time for the closing handshake. Default: 5 s.
        public var closeTimeout = Duration.seconds(5)
        /// A PEM file with certificates to trust for `wss` in addition to the system's. Default: nil, the system's
        /// only.
        public var trustedCertificatesFile: String?
        /// The `Origin` header, as browsers send it. Default: none.
        public var origin: String?

        public init() {}
    }

    private typealias Lifecycle = WebSocketLifecycle<OutboundFrame>

    public let loop: LoopThread
    /// An object that the handler associates with the socket. Released after the handler's last call.
    public var attachment: AnyObject?

    private let options: Options
    private var handler: (any ClientSocketHandler)?
    private var wsi: OpaquePointer?
    private var lifecycle = Lifecycle(role: .client)
    private var assembler: MessageAssembler
    private var deadline: LoopTimer?
    /// The first reason why the socket could not open.
    private var failure: TransportError?
    /// The context's key for this socket until libwebsockets forgets the connection; then 0.
    private var number: UInt = 0

    /// Starts to connect. Call it on the loop. The result, also of a failure, is reported to the handler after this
    /// call.
    ///
    /// The operating system looks up a name within this call, and the loop waits for that. If the delay matters, pass
    /// an address, or use a loop that has nothing else to do.
    ///
    /// - Parameters:
    ///   - url: `ws://host[:port]/path` or `wss://…`.
    ///   - subprotocol: the one to offer; a server that does not agree to it is refused.
    ///   - handler: retained until its last call.
    /// - Throws: ``TransportError`` `.invalidURL`, `.stopped`, `.libraryFailed` (the certificates file).
    public static func connect(
        loop: LoopThread, url: String, subprotocol: String = "signalbox.v1", options: Options = Options(),
        handler: any ClientSocketHandler
    ) throws(TransportError) -> ClientSocket {
        loop.preconditionCurrent()
        guard let context = loop.core.contexts?.whole, let lwsContext = context.context else {
            throw TransportError.loopStopped(loop.name)
        }
        let target = try WebSocketURL(url)
        let vhost = try context.clientVHost(subprotocol: subprotocol, caFile: options.trustedCertificatesFile)
        let socket = ClientSocket(loop: loop, options: options, handler: handler)
        socket.connect(context: lwsContext, vhost: vhost, target: target, subprotocol: subprotocol)
        return socket
    }

    private init(loop: LoopThread, options: Options, handler: any ClientSocketHandler) {
        self.loop = loop
        self.options = options
        self.handler = handler
        assembler = MessageAssembler(
            byteLimit: options.maxMessageByteCount, fragmentLimit: options.maxFragmentCount)
        deadline = LoopTimer(loop: loop) { [weak self] in self?.handle(.deadlinePassed) }
    }

    /// Whether the handshake is complete and no close frame was sent or received.
    public var isOpen: Bool { lifecycle.isOpen }

    /// Whether the rest of a frame is buffered. ``write(_:)`` then refuses frames until
    /// ``ClientSocketHandler/clientSocketDrained(_:)``.
    public var isBacklogged: Bool { lifecycle.isBacklogged }

    /// Sends the frame as one text message. Unlike on the server, this destroys the frame's bytes: clients mask in
    /// place.
    @discardableResult
    public func write(_ frame: OutboundFrame) -> WriteOutcome {
        guard let wsi else { return .closed }
        if let refusal = lifecycle.writeRefusal { return refusal }
        return send(frame, wsi)
    }

    /// Begins the closing handshake, and cuts the connection if that takes too long. Cuts it at once if the socket is
    /// not open: still connecting, or already closing.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001, 1003, 1007 to 1011, or 3000 to 4999.
    ///   - reason: cut to 123 bytes.
    public func close(code: UInt16, reason: String) {
        handle(.closeRequested(.init(code: code, reason: reason)))
    }

    /// Cuts the connection without a close frame when this turn of the loop ends.
    public func terminate() { handle(.terminateRequested) }

    // MARK: Called by LWSCallbacks; -1 has the library close the connection

    /// `LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH`: the server has answered, and the headers can be read.
    func serverAnswered(_ wsi: OpaquePointer) -> Int32 {
        guard !lifecycle.mustHangUp else { return -1 }
        // RFC 6455 section 4.1 requires the client to fail a handshake without the sub-protocol; libwebsockets accepts
        // it.
        guard lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) > 0 else {
            fail(.handshakeRefused, "The server does not support the requested WebSocket sub-protocol. Check the URL.")
            return -1
        }
        return 0
    }

    /// `LWS_CALLBACK_CLIENT_ESTABLISHED`
    func handshakeCompleted() -> Int32 {
        handle(.handshakeCompleted)
        return lifecycle.mustHangUp ? -1 : 0
    }

    /// `LWS_CALLBACK_CLIENT_RECEIVE`: a piece of a message.
    func received(_ wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        switch lifecycle.inputDisposition {
        case .drop: return 0
        case .hangUp: return -1
        case .deliver: break
        }
        guard let handler else { return 0 }
        switch assembler.append(MessageAssembler.Piece(bytes, of: wsi)) {
        case .incomplete: break
        case .wholePiece: handler.clientSocket(self, received: bytes)
        case .joined(let message, _): message.withUnsafeBytes { handler.clientSocket(self, received: $0) }
        case .violation(let violation):
            let reason = violation.closeReason
            close(code: reason.rawValue, reason: reason.text)
        }
        return lifecycle.mustHangUp ? -1 : 0
    }

    /// `LWS_CALLBACK_CLIENT_WRITEABLE`
    func becameWritable() -> Int32 {
        guard let wsi else { return -1 }
        if lws_partial_buffered(wsi) == 0 { handle(.drained) }
        return lifecycle.mustHangUp ? -1 : 0
    }

    /// `LWS_CALLBACK_WS_PEER_INITIATED_CLOSE`: the library answers it, unless it breaks RFC 6455.
    func peerCloseReceived(_ payload: UnsafeRawBufferPointer) -> Int32 {
        let refusal = CloseFrame.refusal(of: payload)
        let close = Lifecycle.PeerClose(code: CloseFrame.code(in: payload), reason: CloseFrame.reason(in: payload))
        handle(.peerCloseReceived(close, isRefused: refusal != nil))
        guard let wsi, let refusal else { return 0 }
        lws_close_reason(wsi, lws_close_status(rawValue: UInt32(refusal)), nil, 0)
        return -1
    }

    /// `LWS_CALLBACK_WS_CLIENT_DROP_PROTOCOL`: the library begins to close the connection, or finds it lost.
    func libraryCloses() {
        guard let wsi, lifecycle.isOpen else { return }
        explainClose(of: wsi)
        handle(.libraryCloses)
    }

    /// The handshake ends here. ``connectFailed(_:)`` follows, with a less precise text of the library.
    func certificateRefused(_ why: String) {
        fail(
            .connectFailed,
            "The server's certificate is not trusted: \(why). "
                + "Check the host in the URL, or trust the certificate's authority.")
    }

    /// `LWS_CALLBACK_CLIENT_CONNECTION_ERROR`
    func connectFailed(_ wsi: OpaquePointer, _ text: UnsafeRawBufferPointer) {
        let words = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        // The library marks failures after the connection was made with "HS:". For TLS it reports only OpenSSL's kind
        // of error, with a number that it has mistaken for a reason.
        if words.hasPrefix("HS:") || words.contains("ws upgrade") {
            fail(.handshakeRefused, Self.refusal(status: Int(lws_http_client_http_response(wsi)), words))
        } else if words.hasPrefix("connect SSL err") || words.hasPrefix("tls: ") {
            fail(
                .connectFailed,
                "Cannot connect: the TLS handshake failed. "
                    + "Check that the server uses TLS on this port.")
        } else {
            fail(.connectFailed, "Cannot connect: \(words). Check host and port, and that the server is running.")
        }
        handle(.connectFailed)
    }

    /// - Parameter status: the HTTP status of the response; 0 without one.
    private static func refusal(status: Int, _ words: String) -> String {
        switch status {
        // The server has this status for a handshake without its upgrade, and this client always asks for one.
        case 426:
            "The proxy in front does not pass WebSocket upgrades. Let it forward the headers Upgrade and Connection "
                + "with HTTP/1.1."
        case 300...:
            "The server or a proxy refused the WebSocket with the HTTP status \(status). Check the path in the URL."
        case 102..<300:
            "The server or a proxy answered the WebSocket's handshake with the HTTP status \(status). Check the URL, and "
                + "that a proxy in front passes WebSocket upgrades."
        default: "The server refused the WebSocket (\(words)). Check the path in the URL."
        }
    }

    /// `LWS_CALLBACK_CLIENT_CLOSED`
    func connectionEnded() { handle(.connectionEnded) }

    /// `LWS_CALLBACK_WSI_DESTROY`: the library releases the connection, and the context releases the socket.
    func destroyed() {
        handle(.connectionEnded)
        forget()
    }

    // MARK: Called by the loop

    func closeAtTurnEnd() { handle(.turnEnded) }

    // MARK: Events and effects

    private func handle(_ event: Lifecycle.Event) {
        for effect in lifecycle.handle(event) { perform(effect) }
    }

    private func perform(_ effect: Lifecycle.Effect) {
        switch effect {
        case .reportOpened: handler?.clientSocketOpened(self)
        case .reportDrained: handler?.clientSocketDrained(self)
        case .reportEnd(let outcome): reportEnd(outcome)
        case .applyReading: break  // A client socket is always read from.
        case .startCloseDeadline: deadline?.schedule(at: loop.now.advanced(by: options.closeTimeout))
        case .startViolationDeadline: deadline?.schedule(at: loop.now.advanced(by: violationCloseTimeout))
        case .cancelDeadline: deadline?.cancel()
        case .closeAtTurnEnd: loop.core.closeAtTurnEnd(self)
        case .endTurnAfterFlush: loop.core.closeAfterFlush(self)
        case .write(let frame):
            if let wsi { _ = send(frame, wsi) }
        case .sendClose(let code, let reason):
            if let wsi { sendClose(code: code, reason: reason, on: wsi) }
        case .cut:
            if let wsi {
                SignalingTransport.cut(wsi)
            } else {
                // The connection was never made, so the library reports no end.
                destroyed()
            }
        }
    }

    private func send(_ frame: OutboundFrame, _ wsi: OpaquePointer) -> WriteOutcome {
        let result = writeText(frame, to: wsi)
        frame.removeAll()
        switch result {
        case .sent: return .sent
        case .buffered:
            handle(.frameBuffered)
            return .backlogged
        case .failed:
            handle(.writeFailed)
            return .closed
        }
    }

    private func reportEnd(_ outcome: Lifecycle.Outcome) {
        wsi = nil
        deadline = nil
        let handler = handler
        self.handler = nil
        switch outcome {
        case .closed(let close):
            handler?.clientSocketClosed(self, code: close?.code, reason: close?.reason ?? "")
        case .failed(isTimeout: true):
            let error = TransportError(
                .connectTimedOut,
                "The server did not answer within \(options.connectTimeout). "
                    + "Check host and port, and that the server is running.")
            handler?.clientSocketFailed(self, error: error)
        case .failed(isTimeout: false):
            let error = failure ?? TransportError(.connectFailed, "The connection was closed before it was open.")
            handler?.clientSocketFailed(self, error: error)
        }
        attachment = nil
    }

    /// Records why the socket cannot open. The first reason counts, unless this side has ended the attempt before.
    private func fail(_ code: TransportError.Code, _ message: String) {
        guard failure == nil, !lifecycle.mustHangUp else { return }
        failure = TransportError(code, message)
    }

    private func forget() {
        loop.core.contexts?.whole.removeClient(number)
        number = 0
    }

    private func connect(
        context: OpaquePointer, vhost: OpaquePointer, target: WebSocketURL, subprotocol: String
    ) {
        number = loop.core.contexts?.whole.add(self) ?? 0
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
        handle(.connectReturned(hasConnection: wsi != nil))
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
