import CLibwebsockets
import SignalingProtocol

/// An accepted connection as long as it speaks HTTP: requests one after another, perhaps an upgrade at last.
///
/// Confined to the loop. What libwebsockets leaves open is closed here: lengths are checked, bodies bounded, each phase
/// has one absolute deadline, answers are ours to the byte.
final class HTTPConnection: Endable {
    private enum Phase {
        /// Waits for a request's headers. Next: `receiving`, `answering`, `sending`, or an upgrade.
        case waiting
        /// The headers are there, the body is coming. Next: `answering`, or `sending` (408).
        case receiving(HTTPExchange, byteCount: Int)
        /// The same, in chunks. Next: `answering`, or `sending` (400, 408, 413).
        case receivingChunks(HTTPExchange, ChunkedBody)
        /// The handler has it. Next: `sending`.
        case answering(HTTPExchange)
        /// The answer is on its way. Next: `waiting`, `lingering`, or the end.
        case sending(Outgoing)
        /// Answered before the request was read to its end: what comes is dropped, so that closing does not destroy the
        /// answer (a close with unread input is a reset). Next: the end.
        case lingering(byteBudget: Int)
        case ended
    }

    private struct Outgoing {
        let head: [UInt8]
        let body: [UInt8]
        let bodyByteCount: Int
        var sent = 0
        var byteCount: Int { head.count + bodyByteCount }
    }

    /// How much of a refused body is read and dropped, and for how long, before the connection is cut.
    private static let lingerByteCount = 1_048_576
    private static let lingerTime = Duration.seconds(2)
    /// Bytes written in one go before other sockets get their turn.
    private static let writeBatchCount = 4

    let id: UInt64
    private let address: PeerAddress
    private(set) var server: TransportServer?
    var wsi: OpaquePointer? {
        didSet { wasAdopted = wasAdopted || wsi != nil }
    }
    private var wasAdopted = false
    private var phase = Phase.waiting
    private var isKilled = false
    private var isHead = false
    /// An answer waits for the client to read. The loop then calls ``dropInput()`` once a turn.
    private var isBacklogged = false {
        didSet {
            guard isBacklogged != oldValue else { return }
            if isBacklogged { server?.loop.core.addBacklogged(self) } else { server?.loop.core.removeBacklogged(self) }
        }
    }
    private var keepsAlive = false
    /// Whether libwebsockets will go on reading a body from here.
    private var bodyIsRead = false
    private var completionCount = 0
    private var requestCount = 0

    init(id: UInt64, address: PeerAddress, server: TransportServer) {
        self.id = id
        self.address = address
        self.server = server
    }

    var remoteAddress: String { address.text }

    // MARK: What libwebsockets tells

    /// `LWS_CALLBACK_HTTP_CONFIRM_UPGRADE`: 0 goes on, -1 hangs up. `upgrade` is the header's value in its own memory.
    func upgradeWanted(_ upgrade: UnsafeMutableRawPointer?) -> Int32 {
        guard let wsi, let server, !isKilled else { return -1 }
        let headers = RequestHeaders(wsi: wsi)
        switch UpgradeCheck(headers, path: server.options.webSocketPath, subprotocol: server.options.subprotocol) {
        case .accept: return 0
        case .hangUp: return -1
        case .serveAsHTTP:
            // After this callback the library compares the value with "websocket" and "h2c", and serves HTTP if it is
            // neither. There is no other way to tell it to ignore an upgrade.
            upgrade?.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
            return 0
        case .refuse(let response):
            let (head, bodyByteCount) = response.serialized(isHead: false, keepsAlive: false)
            write(head + response.body.prefix(bodyByteCount))
            return -1
        }
    }

    /// `LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION`: the upgrade is going to happen. The connection's life ends here.
    func becomeSocket() -> ServerSocket? {
        guard let wsi, let server, !isKilled else { return nil }
        let socket = ServerSocket(
            id: id, address: address, origin: RequestHeaders(wsi: wsi)[WSI_TOKEN_ORIGIN], server: server)
        server.replace(self, with: socket)
        lws_set_opaque_user_data(wsi, Unmanaged.passUnretained(socket).toOpaque())
        socket.wsi = wsi
        detach()
        return socket
    }

    /// `LWS_CALLBACK_HTTP`: a request's headers are complete.
    func headArrived() -> Int32 {
        guard let wsi, let server, !isKilled else { return -1 }
        guard case .waiting = phase else { return -1 }
        requestCount += 1
        completionCount = 0
        let headers = RequestHeaders(wsi: wsi)
        guard let method = headers.method, let path = headers.path else { return -1 }
        isHead = method == .head
        let framing = BodyFraming(headers, method: method)
        bodyIsRead = framing.libraryReadsBody
        if bodyIsRead, requestCount > 1, lws_service_adjust_timeout(server.lwsContext, 1, 0) == 0 {
            // A body behind a pipelined request: 4.1.6 would hand out the request's own headers as its body, and call
            // back without end (`lws_http_action` reads from where the headers began). Pipelining is all but extinct;
            // the client sees a closed connection and sends again.
            return -1
        }
        keepsAlive = framing.keepsAlive && !framing.endIsOurs && !server.isDraining
        if let refusal = framing.refusal(limit: server.options.maxBodyByteCount) {
            keepsAlive = false
            return send(refusal)
        }
        if method == .get, path == server.options.webSocketPath {
            return send(UpgradeCheck.upgradeRequired)
        }
        let exchange = HTTPExchange(
            connection: self, method: method, path: path, query: headers.query, headers: headers.keptHeaders())
        let byteCount = framing.byteCount ?? 0
        guard byteCount > 0 || framing.isChunked else { return handOver(exchange) }
        if framing.wantsContinue { write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        if framing.isChunked {
            phase = .receivingChunks(exchange, ChunkedBody(limit: server.options.maxBodyByteCount))
        } else {
            exchange.body.reserveCapacity(byteCount)
            phase = .receiving(exchange, byteCount: byteCount)
        }
        server.setDeadline(id, after: server.options.requestTimeout)
        return 0
    }

    /// `LWS_CALLBACK_HTTP_BODY`
    func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard !isKilled else { return -1 }
        switch phase {
        case .receiving(let exchange, let byteCount):
            guard exchange.body.count + bytes.count <= byteCount else { return -1 }
            exchange.body.append(contentsOf: bytes)
            return 0
        case .receivingChunks(let exchange, let body): return chunksArrived(bytes, exchange, body)
        case .lingering(let budget):
            guard bytes.count <= budget else { return -1 }
            phase = .lingering(byteBudget: budget - bytes.count)
            return 0
        case .sending: return 0
        // An empty body is announced after it was handed over (`Content-Length: 0`).
        case .answering: return bytes.isEmpty ? 0 : -1
        case .waiting, .ended: return -1
        }
    }

    /// `LWS_CALLBACK_HTTP_BODY_COMPLETION`
    func bodyCompleted() -> Int32 {
        guard !isKilled else { return -1 }
        completionCount += 1
        guard completionCount == 1 else { return -1 }
        bodyIsRead = false
        switch phase {
        case .receiving(let exchange, let byteCount):
            return exchange.body.count == byteCount ? handOver(exchange) : -1
        case .answering, .sending: return 0
        case .receivingChunks, .lingering, .waiting, .ended: return -1
        }
    }

    /// `LWS_CALLBACK_HTTP_WRITEABLE`: comes when asked for, and now and then unasked.
    func becameWritable() -> Int32 {
        guard let wsi, !isKilled else { return -1 }
        guard case .sending(var outgoing) = phase else { return 0 }
        var batch = 0
        while outgoing.sent < outgoing.byteCount {
            if lws_partial_buffered(wsi) != 0 {
                // The library asks for the next call itself, once its buffer has gone.
                phase = .sending(outgoing)
                isBacklogged = true
                return 0
            }
            guard batch < Self.writeBatchCount else {
                phase = .sending(outgoing)
                isBacklogged = true
                lws_callback_on_writable(wsi)
                return 0
            }
            batch += 1
            let written = writePiece(of: outgoing, wsi)
            guard written > 0 else { return -1 }
            outgoing.sent += written
        }
        phase = .sending(outgoing)
        guard lws_partial_buffered(wsi) == 0 else {
            isBacklogged = true
            return 0
        }
        isBacklogged = false
        return answerSent()
    }

    /// `LWS_CALLBACK_CLOSED_HTTP`: nothing of the library may be called for it any more.
    func closed() {
        isBacklogged = false
        wsi = nil
        phase = .ended
    }

    /// `LWS_CALLBACK_WSI_DESTROY`: the server lets go of it.
    func destroyed() {
        let server = server
        detach()
        server?.forget(self)
    }

    // MARK: What the server and the exchange ask

    func waits(for exchange: HTTPExchange) -> Bool {
        if case .answering(let current) = phase { return current === exchange && !isKilled }
        return false
    }

    func answer(_ exchange: HTTPExchange, with response: HTTPResponse) {
        guard waits(for: exchange) else { return }
        if server?.isDraining == true { keepsAlive = false }
        _ = send(response)
    }

    func deadlinePassed() {
        // It was never adopted, and nothing was told of its end.
        guard wsi != nil || wasAdopted else { return destroyed() }
        switch phase {
        case .receiving, .receivingChunks:
            keepsAlive = false
            _ = send(.refusal(408, "the request took too long"))
        case .answering:
            keepsAlive = false
            _ = send(.refusal(503, "there is no answer right now", headers: [("Retry-After", "1")]))
        case .waiting, .sending, .lingering, .ended: kill()
        }
    }

    /// Ends idle connections; one that is in the middle of a request is told with its answer.
    func drain() {
        if case .waiting = phase { kill() } else { keepsAlive = false }
    }

    func kill() {
        guard !isKilled, wsi != nil else { return }
        isKilled = true
        server?.loop.core.endSoon(self)
    }

    func endNow() {
        guard let wsi else { return }
        closeForcibly(wsi)
    }

    // MARK: Inside

    private func chunksArrived(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTPExchange, _ body: ChunkedBody) -> Int32
    {
        // Taken out of the phase, so that the bytes are not copied.
        phase = .waiting
        var body = body
        switch body.take(bytes) {
        case .wantsMore:
            phase = .receivingChunks(exchange, body)
            return 0
        case .complete:
            exchange.body = body.bytes
            return handOver(exchange)
        case .malformed: return send(.refusal(400, "the chunks of the body are malformed"))
        case .tooLong:
            return send(.refusal(413, "the body is over \(server?.options.maxBodyByteCount ?? 0) bytes"))
        }
    }

    private func handOver(_ exchange: HTTPExchange) -> Int32 {
        guard let wsi, let server else { return -1 }
        phase = .answering(exchange)
        // While it waits for the answer, 4.1.6 does not read; a readable socket would keep the loop spinning.
        lws_rx_flow_control(wsi, 0)
        server.setDeadline(id, after: server.options.answerTimeout)
        server.handler?.requestReceived(exchange)
        return isKilled ? -1 : 0
    }

    private func send(_ response: HTTPResponse) -> Int32 {
        guard let wsi, let server else { return -1 }
        let (head, bodyByteCount) = response.serialized(isHead: isHead, keepsAlive: keepsAlive)
        phase = .sending(Outgoing(head: head, body: response.body, bodyByteCount: bodyByteCount))
        server.setDeadline(id, after: server.options.responseTimeout)
        // A flow-controlled HTTP connection is not served as writable either (`rops_handle_POLLIN_h1`).
        lws_rx_flow_control(wsi, 1)
        // From the writable callback in any case: only there may a transaction be ended with a close.
        lws_callback_on_writable(wsi)
        return 0
    }

    private func answerSent() -> Int32 {
        guard let wsi, let server else { return -1 }
        guard keepsAlive else {
            guard bodyIsRead else { return -1 }
            phase = .lingering(byteBudget: Self.lingerByteCount)
            server.setDeadline(id, after: Self.lingerTime)
            if let tls = lws_get_ssl(wsi) {
                // The answer's end is said in TLS, too: what ends without is taken for cut.
                ERR_clear_error()
                SSL_shutdown(tls)
            }
            signalbox_shutdown_writing(lws_get_socket_fd(wsi))
            return 0
        }
        phase = .waiting
        server.setDeadline(id, after: server.options.keepAliveTimeout)
        return lws_http_transaction_completed(wsi) != 0 ? -1 : 0
    }

    /// At most one piece of head or body; small answers go out in one.
    private func writePiece(of outgoing: Outgoing, _ wsi: OpaquePointer) -> Int {
        if outgoing.sent == 0, outgoing.byteCount <= LWSContext.transmitByteCount {
            return write(outgoing.head + outgoing.body.prefix(outgoing.bodyByteCount))
        }
        if outgoing.sent < outgoing.head.count { return write(outgoing.head) }
        let start = outgoing.sent - outgoing.head.count
        let count = min(LWSContext.transmitByteCount, outgoing.bodyByteCount - start)
        return outgoing.body.withUnsafeBufferPointer { body in
            guard let base = body.baseAddress else { return -1 }
            // HTTP/1 without extensions: the library only reads from here.
            return Int(lws_write(wsi, UnsafeMutablePointer(mutating: base + start), count, LWS_WRITE_HTTP))
        }
    }

    @discardableResult
    private func write(_ bytes: [UInt8]) -> Int {
        guard let wsi else { return -1 }
        return bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return Int(lws_write(wsi, UnsafeMutablePointer(mutating: base), buffer.count, LWS_WRITE_HTTP))
        }
    }

    /// While an answer is being sent the library does not read, and has no way to stop watching for input either: bytes
    /// that wait, or the end of the stream, would keep the loop spinning until the client has read its answer.
    func dropInput() {
        guard let wsi, !bodyIsRead, !isKilled else { return }
        let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { scratch -> Int in
            guard let tls = lws_get_ssl(wsi) else {
                return signalbox_receive(lws_get_socket_fd(wsi), scratch.baseAddress, scratch.count)
            }
            // Reading between two attempts at one write is what OpenSSL allows for.
            ERR_clear_error()
            let count = SSL_read(tls, scratch.baseAddress, Int32(scratch.count))
            guard count <= 0 else { return Int(count) }
            switch SSL_get_error(tls, count) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return -1
            default: return 0
            }
        }
        // Pipelined requests are lost with the connection, which ends after this answer; who has hung up gets none.
        if count > 0 { keepsAlive = false }
        if count == 0 { kill() }
    }

    private func detach() {
        closed()
        server = nil
    }
}

/// Brings a connection down from outside of its callbacks, whatever state it is in.
///
/// The shutdown comes first: with bytes still buffered the library would only begin to wait for them to leave, and on
/// the dead socket that wait ends at once.
func closeForcibly(_ wsi: OpaquePointer) {
    signalbox_shutdown(lws_get_socket_fd(wsi))
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC)
}
