import CLibwebsockets
import SignalingProtocol

/// A WebSocket that a client has opened. Confined to the loop. After `socketClosed` every call does nothing.
///
/// It buffers at most the rest of one frame. ``WebSocketLifecycle`` makes its decisions.
public final class ServerSocket: TurnEndClosable {
    private typealias Lifecycle = WebSocketLifecycle<OutboundFrame>

    /// Unique among all sockets and connections during the server's life.
    public let id: UInt64
    /// An object that the handler associates with the socket. Released after `socketClosed`.
    @exclusivity(unchecked) public var attachment: AnyObject?
    /// The `Origin` header: the page that opened the socket. nil if there was none. Browsers set it truthfully; other
    /// programs send any value or none.
    public let origin: String?
    /// The first parameter `sessionId` of the URL, decoded; `nil` without one. The handler may set it to `nil` when it
    /// is no longer of use, since an idle socket keeps it in memory.
    public var sessionParameter: String?
    /// Whether the server reads from the client. Set it to false for back-pressure: input then waits in TCP.
    ///
    /// A change takes effect when this turn of the loop ends; input that was read before, at most one read, is still
    /// delivered. While it is false, the server does not receive the client's close frame, and notices a lost
    /// connection only if bytes wait to be sent. A socket that this side closes is read from in any case.
    public var isReading = true {
        didSet {
            if isReading != oldValue { server?.loop.core.readingChanged(self) }
        }
    }

    /// The largest message that the client may send from now on, in bytes; a message that has begun counts. Default:
    /// ``TransportServer/Options/maxMessageByteCount``, which is also the maximum.
    public var messageByteLimit: Int {
        get { assembler.byteLimit }
        set { assembler.byteLimit = min(newValue, server?.options.maxMessageByteCount ?? newValue) }
    }

    @exclusivity(unchecked) var wsi: OpaquePointer?
    private let address: PeerAddress
    @exclusivity(unchecked) private var server: TransportServer?
    @exclusivity(unchecked) private var lifecycle = Lifecycle(role: .server)
    @exclusivity(unchecked) private var assembler: MessageAssembler
    /// Whether the library reads from the connection.
    private var isReadingAllowed = true
    @exclusivity(unchecked) private var frameCount = 1
    /// In how many frames the message came that the handler receives at present.
    public var messageFrameCount: Int { frameCount }

    /// Whether the library may have a pong to send when the socket is writable.
    @exclusivity(unchecked) private var mayOweAPong = false
    /// A frame that waits for the pong.
    private var heldFrame: (frame: OutboundFrame, part: MessagePart)?

    init(id: UInt64, address: PeerAddress, origin: String?, sessionParameter: String?, server: TransportServer) {
        self.id = id
        self.address = address
        self.origin = origin
        self.sessionParameter = sessionParameter
        self.server = server
        assembler = MessageAssembler(
            byteLimit: server.options.maxMessageByteCount, fragmentLimit: server.options.maxFragmentCount)
    }

    /// Tells the server that the client has joined a session: it no longer gives its place to other clients, and does
    /// not count among its address's connections without a session.
    public func markJoined() { server?.moved(id, to: .joined) }

    /// The client's IP address: the peer's, or the one that a trusted proxy names.
    public var remoteAddress: String { address.text }

    /// Whether the handshake is complete and no close frame was sent or received.
    public var isOpen: Bool { lifecycle.isOpen }

    /// Whether the rest of a frame is buffered. ``write(_:)`` then refuses frames until
    /// ``TransportServerHandler/socketDrained(_:)``.
    public var isBacklogged: Bool { lifecycle.isBacklogged }

    /// How many bytes the client's TCP has acknowledged since the connection was made, frame headers and TLS included.
    /// 0 on systems that do not report it (other than Linux), and for a socket that is not open.
    public var acknowledgedByteCount: UInt64 {
        guard let wsi, isOpen else { return 0 }
        return signalbox_acknowledged_byte_count(lws_get_socket_fd(wsi))
    }

    /// Whether the client has closed its side of the connection, although the server may not have read all of it yet. On
    /// systems other than Linux it is known later.
    public var hasHungUp: Bool {
        guard let wsi else { return true }
        return signalbox_has_hung_up(lws_get_socket_fd(wsi)) != 0
    }

    /// Sends the frame as one text message or as a part of one, at once if the operating system accepts it.
    ///
    /// Never waits and never queues. The frame can be reused when this returns.
    ///
    /// - Parameter part: the caller must finish a message before it begins another one. A close may come in between;
    ///   give it no farewell then.
    @discardableResult
    public func write(_ frame: OutboundFrame, as part: MessagePart = .whole) -> WriteOutcome {
        guard let wsi else { return .closed }
        if let refusal = lifecycle.writeRefusal { return refusal }
        if mayOweAPong { return hold(frame, as: part) }
        return send(frame, as: part, wsi)
    }

    /// Begins the closing handshake, and cuts the connection if that takes longer than
    /// ``TransportServer/Options/closeTimeout``. The rest of a buffered frame is sent before. Later calls do nothing.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001, 1003, 1007 to 1011, or 3000 to 4999.
    ///   - reason: cut to 123 bytes (RFC 6455, section 5.5).
    ///   - farewell: a last message for a backlogged socket. It is sent after the buffered rest and before the close
    ///     frame, kept until then, and must not be reused; the timeout starts again when it is sent. Ignored if the
    ///     socket is not backlogged: write it instead.
    public func close(code: UInt16, reason: String, farewell: OutboundFrame? = nil) {
        handle(.closeRequested(.init(code: code, reason: reason, farewell: farewell)))
    }

    /// Cuts the connection without a close frame when this turn of the loop ends.
    public func terminate() { handle(.terminateRequested) }

    // MARK: Called by LWSCallbacks; -1 has the library close the connection

    /// `LWS_CALLBACK_ESTABLISHED`
    func handshakeCompleted() -> Int32 {
        server?.loop.core.justUpgraded = ObjectIdentifier(self)
        return respond(to: .handshakeCompleted)
    }

    /// `LWS_CALLBACK_RECEIVE`: a piece of a message.
    func received(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard let wsi, let server else { return -1 }
        if server.loop.core.justUpgraded == ObjectIdentifier(self) {
            // libwebsockets composes its answer to the handshake over the bytes that followed it in the same read, and
            // then reads the result as frames. RFC 6455 section 4.1 forbids a client to send before it has the answer.
            return respond(to: .inputArrivedWithHandshake)
        }
        server.loop.core.justUpgraded = nil
        switch lifecycle.inputDisposition {
        case .drop: return 0
        case .hangUp: return -1
        case .deliver: break
        }
        guard let handler = server.handler else { return 0 }
        switch assembler.append(MessageAssembler.Piece(bytes, of: wsi)) {
        case .incomplete: break
        case .wholePiece: handler.socket(self, received: bytes)
        case .joined(let message, let frameCount):
            if frameCount > 1 { awaitPong(wsi) }
            self.frameCount = frameCount
            message.withUnsafeBytes { handler.socket(self, received: $0) }
            self.frameCount = 1
        case .violation(let violation): handler.socket(self, violated: violation)
        }
        return lifecycle.mustHangUp ? -1 : 0
    }

    /// `LWS_CALLBACK_SERVER_WRITEABLE`
    func becameWritable() -> Int32 {
        guard let wsi else { return -1 }
        if lws_partial_buffered(wsi) == 0, sendHeldFrame(wsi) { handle(.drained) }
        return lifecycle.mustHangUp ? -1 : 0
    }

    /// `LWS_CALLBACK_WS_PEER_INITIATED_CLOSE`: the library answers it, unless it breaks RFC 6455.
    func peerCloseReceived(_ payload: UnsafeRawBufferPointer) -> Int32 {
        let refusal = CloseFrame.refusal(of: payload)
        handle(.peerCloseReceived(.init(code: CloseFrame.code(in: payload)), isRefused: refusal != nil))
        guard let wsi, let refusal else { return 0 }
        lws_close_reason(wsi, lws_close_status(rawValue: UInt32(refusal)), nil, 0)
        return -1
    }

    /// `LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL`: the library begins to close the connection, or finds it lost.
    func libraryCloses() {
        guard let wsi, lifecycle.isOpen else { return }
        _ = sendHeldFrame(wsi)
        explainClose(of: wsi)
        handle(.libraryCloses)
    }

    /// `LWS_CALLBACK_CLOSED`
    func connectionEnded() { handle(.connectionEnded) }

    /// `LWS_CALLBACK_WSI_DESTROY`: the library releases the connection, and the server releases the socket.
    func destroyed() {
        handle(.connectionEnded)
        let server = server
        self.server = nil
        server?.remove(self)
    }

    // MARK: Called by the loop and the server

    /// Called at the end of a turn. Within the library's callbacks this would set the rest of a read aside, and on
    /// libuv leave it there until the connection's next event.
    func applyReading() {
        guard let wsi, let isAllowed = lifecycle.reads(ifHandlerReads: isReading), isAllowed != isReadingAllowed else {
            return
        }
        isReadingAllowed = isAllowed
        lws_rx_flow_control(wsi, isAllowed ? 1 : 0)
    }

    func deadlinePassed() { handle(.deadlinePassed) }

    func closeAtTurnEnd() { handle(.turnEnded) }

    // MARK: Pongs before data

    // A ping may come between the fragments of a message. The library sends its pong in a later turn, and an answer to
    // the message that is written at once would overtake it. The library calls nobody back for a ping, so every message
    // of several fragments is treated as if it had one.

    private func awaitPong(_ wsi: OpaquePointer) {
        guard lifecycle.writeRefusal == nil, !mayOweAPong else { return }
        mayOweAPong = true
        lws_callback_on_writable(wsi)
    }

    private func hold(_ frame: OutboundFrame, as part: MessagePart) -> WriteOutcome {
        let copy = OutboundFrame(reservingByteCount: frame.byteCount)
        frame.withUnsafeBytes { copy.append(contentsOf: $0) }
        heldFrame = (copy, part)
        handle(.frameBuffered)
        return .backlogged
    }

    /// The library has sent its pong. Returns whether nothing is buffered now.
    private func sendHeldFrame(_ wsi: OpaquePointer) -> Bool {
        mayOweAPong = false
        guard let held = heldFrame else { return true }
        heldFrame = nil
        switch writeText(held.frame, as: held.part, to: wsi) {
        case .sent: return true
        case .buffered: return false
        case .failed:
            handle(.writeFailed)
            return false
        }
    }

    // MARK: Events and effects

    private func respond(to event: Lifecycle.Event) -> Int32 {
        handle(event)
        return lifecycle.mustHangUp ? -1 : 0
    }

    private func handle(_ event: Lifecycle.Event) {
        for effect in lifecycle.handle(event) { perform(effect) }
    }

    private func perform(_ effect: Lifecycle.Effect) {
        guard let server else { return }
        switch effect {
        case .reportOpened: server.handler?.socketOpened(self)
        case .reportDrained: server.handler?.socketDrained(self)
        case .reportEnd(let outcome):
            wsi = nil
            switch outcome {
            case .failed: break  // The handler never knew of it.
            case .closed(let close): server.handler?.socketClosed(self, code: close?.code)
            }
            attachment = nil
        case .applyReading: server.loop.core.readingChanged(self)
        case .startCloseDeadline: server.setDeadline(id, after: server.options.closeTimeout)
        case .startViolationDeadline: server.setDeadline(id, after: violationCloseTimeout)
        case .cancelDeadline: server.clearDeadline(id)
        case .closeAtTurnEnd: server.loop.core.closeAtTurnEnd(self)
        case .endTurnAfterFlush: server.loop.core.closeAfterFlush(self)
        case .write(let frame):
            if let wsi { _ = send(frame, as: .whole, wsi) }
        case .sendClose(let code, let reason):
            if let wsi { sendClose(code: code, reason: reason, on: wsi) }
        case .cut:
            if let wsi { SignalingTransport.cut(wsi) }
        }
    }

    private func send(_ frame: OutboundFrame, as part: MessagePart, _ wsi: OpaquePointer) -> WriteOutcome {
        switch writeText(frame, as: part, to: wsi) {
        case .sent: return .sent
        case .buffered:
            handle(.frameBuffered)
            return .backlogged
        case .failed:
            handle(.writeFailed)
            return .closed
        }
    }
}
