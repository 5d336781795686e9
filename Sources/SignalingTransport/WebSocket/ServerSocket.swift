import CLibwebsockets
import SignalingProtocol

/// What became of a frame.
public enum WriteOutcome: Sendable, Hashable {
    /// The system has taken it all.
    case sent
    /// Taken, but the system has not taken it all yet: no more until ``TransportServerHandler/socketDrained(_:)``.
    case backlogged
    /// Not taken: the socket is backlogged still.
    case refused
    /// Not taken: the socket is closing or closed.
    case closed
}

/// A WebSocket with a client. Confined to the loop; good until its `socketClosed`, harmless after.
///
/// What waits in it is bounded: at most the rest of one frame.
public final class ServerSocket: Endable {
    private enum Phase {
        /// The handshake's answer is being written. Next: `open`, `closed`.
        case opening
        /// Next: `closing`, `closed`.
        case open
        /// One side has begun the closing handshake, or the socket is about to be cut. Next: `closed`.
        case closing
        case closed
    }

    /// Unique among all sockets and connections of the server's life.
    public let id: UInt64
    /// Whatever the handler wants to find again with the socket. Let go of when the socket has closed.
    public var attachment: AnyObject?
    /// The `Origin` header: what page opened the socket. nil for programs that are no browsers; those can send any.
    public let origin: String?
    /// Whether a frame's rest waits to be sent; a write now is refused.
    public private(set) var isBacklogged = false
    /// Whether what the client sends is taken from its connection. A change counts from the end of this turn of the loop: what
    /// has been read by then is delivered still, at most one read. While it is false the client's own close is not heard,
    /// and a lost connection only if something waits to be sent. A socket that is being closed is read from in any case.
    public var isReading = true {
        didSet {
            if isReading != oldValue { server?.loop.core.readingChanged(self) }
        }
    }
    /// What libwebsockets was told.
    private var isAllowedToRead = true

    private let address: PeerAddress
    private var phase = Phase.opening
    private var isKilled = false
    private var peerCode: UInt16?
    private var server: TransportServer?
    var wsi: OpaquePointer?
    private var assembler: MessageAssembler
    private var closeCode: UInt16 = 0
    private var closeReason: String?
    /// Goes before the close frame.
    private var farewell: OutboundFrame?

    init(id: UInt64, address: PeerAddress, origin: String?, server: TransportServer) {
        self.id = id
        self.address = address
        self.origin = origin
        self.server = server
        assembler = MessageAssembler(
            byteLimit: server.options.maxMessageByteCount, fragmentLimit: server.options.maxFragmentCount)
    }

    /// The peer's IP address; behind a proxy it is the proxy's.
    public var remoteAddress: String { address.text }

    public var isOpen: Bool { phase == .open && !isKilled }

    /// How many bytes the client's system has taken since the connection was made, frame headers and TLS included. 0 where the
    /// system does not tell: it does on Linux.
    public var takenByteCount: UInt64 {
        guard let wsi, isOpen else { return 0 }
        return signalbox_acknowledged_byte_count(lws_get_socket_fd(wsi))
    }

    /// Sends the frame as one text message, at once if the system takes it.
    ///
    /// Never waits and never queues: the frame can be reused when this returns.
    @discardableResult
    public func write(_ frame: OutboundFrame) -> WriteOutcome {
        guard let wsi, isOpen, closeReason == nil else { return .closed }
        if isBacklogged { return .refused }
        return send(frame, wsi)
    }

    private func send(_ frame: OutboundFrame, _ wsi: OpaquePointer) -> WriteOutcome {
        // Outside of the writable callback this is legal as long as nothing is buffered, and it is half the cost: with
        // libuv each request for that callback takes four system calls.
        guard lws_write(wsi, frame.payload, frame.byteCount, LWS_WRITE_TEXT) >= 0 else {
            terminate()
            return .closed
        }
        guard lws_partial_buffered(wsi) != 0 else { return .sent }
        isBacklogged = true  // the library asks for the writable callback by itself
        return .backlogged
    }

    /// Begins the closing handshake, and cuts the socket if it has not ended within
    /// ``TransportServer/Options/closeTimeout``. A frame's rest that waits is sent before. Later calls do nothing.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001, 1003, 1007 to 1011, or 3000 to 4999.
    ///   - reason: cut to 123 bytes (RFC 6455, section 5.5).
    ///   - farewell: what a backlogged socket has to be sent before that; it is kept until then, and must not be reused. The time
    ///     begins again when the system has taken what waits before it.
    public func close(code: UInt16, reason: String, farewell: OutboundFrame? = nil) {
        guard let server, isOpen, closeReason == nil else { return }
        closeCode = code
        closeReason = reason
        if isBacklogged { self.farewell = farewell }
        // The client's answer has to be heard.
        server.loop.core.readingChanged(self)
        server.setDeadline(id, after: server.options.closeTimeout)
        // With bytes still buffered the close frame has to wait: the library would drop it.
        if !isBacklogged { server.loop.core.endSoon(self) }
    }

    /// Cuts the socket without a close frame, at the end of this turn of the loop.
    public func terminate() {
        guard !isKilled, phase != .closed, let server else { return }
        isKilled = true
        server.loop.core.endSoon(self)
    }

    // MARK: What libwebsockets tells

    /// `LWS_CALLBACK_ESTABLISHED`
    func opened() -> Int32 {
        guard let server, phase == .opening, !isKilled else { return -1 }
        phase = .open
        server.loop.core.justUpgraded = self
        server.clearDeadline(id)
        server.handler?.socketOpened(self)
        return isKilled ? -1 : 0
    }

    /// `LWS_CALLBACK_RECEIVE`: a piece of a message.
    func received(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard let wsi, let server, !isKilled else { return -1 }
        if server.loop.core.justUpgraded === self {
            // libwebsockets writes its answer to the handshake over whatever came behind it in the same read, and then
            // reads that as frames. No client may send before it has the answer (RFC 6455 section 4.1): away with it.
            terminate()
            return -1
        }
        server.loop.core.justUpgraded = nil
        guard phase == .open, closeReason == nil, let handler = server.handler else { return 0 }
        switch assembler.take(MessageAssembler.Piece(bytes, of: wsi)) {
        case .incomplete: break
        case .wholePiece: handler.socket(self, received: bytes)
        case .joined(let message): message.withUnsafeBytes { handler.socket(self, received: $0) }
        case .violation(let violation): handler.socket(self, violated: violation)
        }
        return isKilled ? -1 : 0
    }

    /// `LWS_CALLBACK_SERVER_WRITEABLE`
    func becameWritable() -> Int32 {
        guard let wsi, let server, !isKilled else { return -1 }
        if isBacklogged, lws_partial_buffered(wsi) == 0 {
            isBacklogged = false
            if phase == .open {
                if closeReason == nil {
                    server.handler?.socketDrained(self)
                } else if let farewell {
                    self.farewell = nil
                    server.setDeadline(id, after: server.options.closeTimeout)
                    _ = send(farewell, wsi)
                }
            }
            if isKilled { return -1 }
        }
        if closeReason != nil, !isBacklogged { server.loop.core.endSoon(self) }
        return 0
    }

    /// `LWS_CALLBACK_WS_PEER_INITIATED_CLOSE`: the library answers it.
    func peerCloses(_ payload: UnsafeRawBufferPointer) {
        guard phase == .open, let server else { return }
        phase = .closing
        peerCode = closeCodeOf(payload)
        server.setDeadline(id, after: server.options.closeTimeout)
    }

    /// `LWS_CALLBACK_CLOSED` or the end of the connection's memory, whichever comes first.
    func closed() {
        guard let server, phase != .closed else { return }
        let wasOpened = phase != .opening
        phase = .closed
        wsi = nil
        farewell = nil
        server.clearDeadline(id)
        if wasOpened { server.handler?.socketClosed(self, code: peerCode) }
        attachment = nil
    }

    /// `LWS_CALLBACK_WSI_DESTROY`: the server lets go of it.
    func destroyed() {
        closed()
        let server = server
        self.server = nil
        server?.forget(self)
    }

    /// At the end of a turn. Within the library's callbacks it would put the rest of a read aside, and on libuv forget it
    /// there until the next event.
    func applyReading() {
        guard let wsi, isOpen else { return }
        let isAllowed = isReading || closeReason != nil
        guard isAllowed != isAllowedToRead else { return }
        isAllowedToRead = isAllowed
        lws_rx_flow_control(wsi, isAllowed ? 1 : 0)
    }

    func deadlinePassed() { terminate() }

    func endNow() {
        guard let wsi else { return }
        if isKilled { return closeForcibly(wsi) }
        guard phase == .open, let closeReason else { return }
        phase = .closing
        closePolitely(wsi, code: closeCode, closeReason)
    }
}

extension MessageAssembler.Piece {
    init(_ bytes: UnsafeRawBufferPointer, of wsi: OpaquePointer) {
        self.init(
            bytes: bytes, isFirst: lws_is_first_fragment(wsi) != 0, isFinal: lws_is_final_fragment(wsi) != 0,
            isBinary: lws_frame_is_binary(wsi) != 0,
            remainingInFrame: Int(clamping: lws_remaining_packet_payload(wsi)))
    }
}

/// Begins the closing handshake, from outside of the connection's callbacks, with nothing buffered.
///
/// The usual way, to return -1 from the writable callback, sends no close frame with libuv: Debian's library is built
/// with `_DEBUG`, and then closes twice in a row there (`lws_service_fd_tsi`), the second time for good.
func closePolitely(_ wsi: OpaquePointer, code: UInt16, _ reason: String) {
    // RFC 6455, section 5.5: 125 bytes in a control frame, two of them the code. Never half a character.
    var bytes: [UInt8] = []
    for character in reason {
        guard bytes.count + character.utf8.count <= 123 else { break }
        bytes.append(contentsOf: character.utf8)
    }
    bytes.withUnsafeMutableBufferPointer {
        lws_close_reason(wsi, lws_close_status(rawValue: UInt32(code)), $0.baseAddress, $0.count)
    }
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC)
}

/// The code in a close frame's payload; 1005 stands for none (RFC 6455, section 7.1.5).
func closeCodeOf(_ payload: UnsafeRawBufferPointer) -> UInt16 {
    payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1005
}
