import CLibwebsockets
import SignalingProtocol

/// An accepted connection while it speaks HTTP: one request after another, and at the end perhaps an upgrade. Confined
/// to the loop. ``HTTPLifecycle`` makes its decisions.
///
/// It does what libwebsockets does not: it checks lengths, bounds bodies, gives each phase an absolute deadline, and
/// composes responses.
final class HTTPConnection: TurnEndClosable {
    private typealias Lifecycle = HTTPLifecycle<HTTPExchange>

    /// Pieces that are written in one go before other sockets are served.
    private static let writeBatchCount = 4

    let id: UInt64
    /// Of the peer of the TCP connection.
    private let peer: PeerAddress
    /// Of the client: the peer's, or the one that a trusted proxy named last.
    private var address: PeerAddress
    /// The server is full: the connection may only ask for its health.
    private let answersHealthOnly: Bool
    private(set) var server: TransportServer?
    private var wsi: OpaquePointer?
    private var lifecycle = Lifecycle()
    private var outgoing = OutgoingResponse.empty
    /// The response that is being streamed.
    private var stream: HTTPStream?
    /// The next heads that have been checked before the library reads them; nil with TLS, whose bytes cannot be.
    private var checkedHeads: [RequestHeadCheck.CheckedHead]?
    /// The bytes of all requests so far. If the library has read more, it has read bytes of a further request.
    private var requestByteCount: Int64
    /// Whether the body of the request has its length in the head, so that its bytes are among those.
    private var hasLength = false
    /// The `Forwarded` headers of the request.
    private var forwarded: [UInt8]?
    /// Between two requests of a connection without TLS: waits for the next head on a second descriptor, while the
    /// library does not read.
    private var nextHead: HeldConnection?
    /// Whether the response is written at the end of the turn, and not when the library says that the socket is writable:
    /// 4.3 reads on while a request is served, and closes a connection that has pipelined another one. It must not read
    /// then, and does not serve a connection as writable that it does not read.
    private var writesAtTurnEnd = false
    /// Whether ``awaitNextRequest(_:)`` runs, which the library's callback may have called.
    private var isInCallback = false

    init(
        id: UInt64, address: PeerAddress, server: TransportServer, answersHealthOnly: Bool, heads: HeldConnection.Heads
    ) {
        self.id = id
        checkedHeads = heads.checked
        requestByteCount = Int64(heads.proxyHeaderByteCount)
        forwarded = heads.forwarded
        peer = address
        self.address = address
        self.server = server
        self.answersHealthOnly = answersHealthOnly
    }

    var remoteAddress: String { address.text }

    /// The address as it counts for limits.
    var addressPrefix: PeerAddress { address.prefix }

    /// Whether the peer of the TCP connection is a trusted proxy.
    var isFromTrustedProxy: Bool { server?.trusts(peer) ?? false }

    /// Whether neither end of the TCP connection, nor the client that a trusted proxy names, is on another machine.
    var isOverLoopback: Bool { peer.isLoopback && address.isLoopback }

    /// Whether the peer, and the client that a trusted proxy names, are of the local network.
    var isOverLocalNetwork: Bool { LocalNetwork.contains(peer) && LocalNetwork.contains(address) }

    /// Whether the connection is idle after at least one request.
    var isIdle: Bool { lifecycle.isIdleAgain }

    // MARK: Called by LWSCallbacks; -1 has the library close the connection

    /// `LWS_CALLBACK_HTTP_CONFIRM_UPGRADE`. `upgrade` is the header's value in the library's memory.
    func upgradeRequested(_ upgrade: UnsafeMutableRawPointer?) -> Int32 {
        guard let wsi, let server, !lifecycle.mustHangUp else { return -1 }
        let headers = RequestHeaders(wsi: wsi)
        let path = path(of: checkedHeads?.first, headers) ?? ""
        switch UpgradeCheck(
            headers, isForSocket: path == server.options.webSocketPath, subprotocol: server.options.subprotocol)
        {
        case .accept:
            guard let refusal = admissionRefusal(headers, path) ?? networkRefusal() ?? originRefusal(headers) else {
                return 0
            }
            return refuseUpgrade(refusal, server, origin: refusal == .origin ? headers[WSI_TOKEN_ORIGIN] : nil)
        case .upgradeMissing: return refuseUpgrade(admissionRefusal(headers, path) ?? .upgradeMissing, server)
        case .hangUp: return respond(to: .upgradeRefused)
        case .serveAsHTTP:
            // After this callback the library compares the value with "websocket" and "h2c", and serves HTTP if it is
            // neither. This is the only way to make it ignore an upgrade.
            upgrade?.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
            return 0
        case .refuse(let response):
            write(response)
            return respond(to: .upgradeRefused)
        }
    }

    private func refuseUpgrade(_ refusal: Refusal, _ server: TransportServer, origin: String? = nil) -> Int32 {
        server.refusals.note(refusal, address: remoteAddress, origin: origin, now: server.loop.now)
        write(.refusal(refusal))
        return respond(to: .upgradeRefused)
    }

    /// `LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION`: the upgrade will happen. This object's life ends here.
    func becomeSocket() -> ServerSocket? {
        guard let wsi, let server, !lifecycle.mustHangUp else { return nil }
        let headers = RequestHeaders(wsi: wsi)
        let socket = ServerSocket(
            id: id, address: address, origin: headers[WSI_TOKEN_ORIGIN],
            sessionParameter: headers.query.first { $0.name == "sessionId" }?.value, server: server)
        server.replace(self, with: socket)
        lws_set_opaque_user_data(wsi, Unmanaged.passUnretained(socket).toOpaque())
        socket.wsi = wsi
        handle(.upgraded)
        self.wsi = nil
        self.server = nil
        return socket
    }

    /// `LWS_CALLBACK_HTTP`: a request's headers are complete.
    func headArrived() -> Int32 {
        guard let wsi, let server, !lifecycle.mustHangUp else { return -1 }
        let head = checkedHeads?.first
        if let heads = checkedHeads {
            // Never without a checked head: the connection would have been closed.
            guard let head else { return respond(to: .requestUnreadable) }
            checkedHeads = Array(heads.dropFirst())
            requestByteCount += Int64(head.byteCount)
        }
        let headers = RequestHeaders(wsi: wsi)
        guard let method = headers.method, let path = path(of: head, headers) else {
            return respond(to: .requestUnreadable)
        }
        return respond(to: .requestArrived(requestHead(headers, method: method, path: path, wsi: wsi, server: server)))
    }

    /// The path as the client has spelled it; with TLS, where the library has decoded and resolved it already, in the
    /// usual spelling of the result.
    private func path(of head: RequestHeadCheck.CheckedHead?, _ headers: RequestHeaders) -> String? {
        head?.path ?? headers.path.map(usualSpelling)
    }

    /// `LWS_CALLBACK_HTTP_BODY`
    func bodyArrived(_ bytes: UnsafeRawBufferPointer) -> Int32 { respond(to: .bodyArrived(bytes)) }

    /// `LWS_CALLBACK_HTTP_BODY_COMPLETION`
    func bodyCompleted() -> Int32 { respond(to: .bodyCompleted) }

    /// `LWS_CALLBACK_HTTP_WRITEABLE`: comes on request, and sometimes without one.
    func becameWritable() -> Int32 {
        guard let wsi, !lifecycle.mustHangUp else { return -1 }
        guard lifecycle.isSending else { return 0 }
        var batch = 0
        while !outgoing.isComplete {
            // The library calls back by itself when its buffer is empty.
            if lws_partial_buffered(wsi) != 0 { return respond(to: .responseDelayed) }
            guard batch < Self.writeBatchCount else {
                lws_callback_on_writable(wsi)
                return respond(to: .responseDelayed)
            }
            batch += 1
            let written = outgoing.writeNext(limit: LWSContext.transmitByteCount) { write($0) }
            guard written > 0 else { return respond(to: .writeFailed) }
        }
        return respond(to: lws_partial_buffered(wsi) == 0 ? .responseSent : .responseDelayed)
    }

    /// `LWS_CALLBACK_CLOSED_HTTP`: the library's functions must not be called for it any more.
    func connectionEnded() {
        handle(.connectionEnded)
        stopAwaitingHead()
        wsi = nil
    }

    /// `LWS_CALLBACK_WSI_DESTROY`: the library releases the connection, and the server releases this object.
    func destroyed() {
        connectionEnded()
        let server = server
        self.server = nil
        server?.remove(self)
    }

    // MARK: Called by the server, the loop and exchanges

    /// The library has adopted the connection; nil if it refused to.
    func adopted(_ wsi: OpaquePointer?) {
        self.wsi = wsi
        if wsi != nil { handle(.adopted) }
    }

    func respond(to exchange: HTTPExchange, with response: HTTPResponse) { handle(.responded(exchange, response)) }

    /// nil if the exchange has its response already.
    func beginStream(for exchange: HTTPExchange, with head: HTTPResponse) -> HTTPStream? {
        guard stream == nil else { return nil }
        handle(.streamBegun(exchange, head))
        return stream
    }

    func flushAtTurnEnd() { server?.loop.core.closeAtTurnEnd(self) }

    func streamEnded() { handle(.streamEnded) }

    func flushStream() {
        guard let wsi, let stream, let loop = server?.loop.core.loop else { return }
        handle(stream.flush(to: wsi, on: loop))
        if stream.reportDrain() { handle(.streamDelayed(hasSent: false)) }
    }

    func clientHungUp() { handle(.clientHungUp) }

    func deadlinePassed() { handle(.deadlinePassed) }

    /// Closes an idle connection; one with a request in progress closes after the response.
    func drain() { handle(.drainRequested) }

    /// Cuts the connection when this turn of the loop ends.
    func terminate() { handle(.terminateRequested) }

    func closeAtTurnEnd() {
        if writesAtTurnEnd { writeAtTurnEnd() }
        if stream?.awaitsFlush == true { flushStream() }
        handle(.turnEnded)
    }

    private func writeAtTurnEnd() {
        writesAtTurnEnd = false
        guard let wsi, lifecycle.isSending else { return }
        let isOpen = becameWritable() == 0
        // The library does the rest, and whatever ends the connection.
        guard !isOpen || lifecycle.isSending else { return }
        lws_rx_flow_control(wsi, 1)
        lws_callback_on_writable(wsi)
    }

    /// While a response is being sent, the library does not read, and cannot stop watching for input either: waiting
    /// bytes, or the end of the stream, would keep the loop spinning until the client has read its response.
    func discardInput() {
        guard let wsi, lifecycle.discardsInput else { return }
        let count = readAndDiscard(wsi)
        if count > 0 { handle(.inputDiscarded) }
        if count == 0 { handle(.clientHungUp) }
    }

    // MARK: The next request

    /// Whether the library may serve another request of this connection.
    private enum Continuation {
        /// It has read the next head already, which has been checked, or reads it by itself (TLS).
        case readByLibrary
        case awaitHead(descriptor: Int32)
        /// It has read bytes that were not checked, or no descriptor is left to wait with.
        case refuse
    }

    private func continuation(_ wsi: OpaquePointer) -> Continuation {
        guard let checkedHeads else { return .readByLibrary }
        let socket = lws_get_socket_fd(wsi)
        let readByteCount = signalbox_read_byte_count(socket)
        if readByteCount > requestByteCount, !checkedHeads.isEmpty { return .readByLibrary }
        guard readByteCount == requestByteCount else { return .refuse }
        // The lowest free descriptor.
        let descriptor = signalbox_occupy(socket, 0)
        return descriptor >= 0 ? .awaitHead(descriptor: descriptor) : .refuse
    }

    private func awaitNextRequest(_ wsi: OpaquePointer) {
        outgoing = .empty
        switch continuation(wsi) {
        case .refuse: handle(.nextRequestRefused)
        case .readByLibrary:
            if lws_http_transaction_completed(wsi) != 0 { return handle(.nextRequestRefused) }
            if signalbox_reads_while_serving() { lws_rx_flow_control(wsi, 1) }
        case .awaitHead(let descriptor):
            guard let server else {
                signalbox_close(descriptor)
                return
            }
            // libwebsockets must not read before the head has been checked. The transaction is completed then, too: that
            // has the library ask for the writable callback, which would keep the loop spinning during the pause.
            lws_rx_flow_control(wsi, 0)
            let head = HeldConnection(id: id, descriptor: descriptor, address: peer, server: server)
            nextHead = head
            isInCallback = true
            head.look()
            isInCallback = false
        }
    }

    /// The whole head is there, or there will be none.
    func nextHead(ended end: HeldConnection.End) {
        guard let head = nextHead else { return }
        switch end {
        case .complete(let descriptor, let heads):
            // The library must not be called from its own callback.
            if heads.originForm != nil, isInCallback, let server {
                let again = HeldConnection(id: id, descriptor: descriptor, address: peer, server: server)
                nextHead = again
                return server.lookSoon(again)
            }
            // The second descriptor. The library has its own.
            signalbox_close(descriptor)
            stopAwaitingHead()
            checkedHeads = heads.checked
            forwarded = heads.forwarded
            guard let wsi, lws_http_transaction_completed(wsi) == 0 else { return handle(.terminateRequested) }
            lws_rx_flow_control(wsi, 1)
            if let head = heads.originForm { read(head) }
        case .malformed(let fault):
            server?.note(fault, from: peer)
            head.answer(fault.response.adding(server?.options.responseHeaders ?? []))
            stopAwaitingHead()
            handle(.terminateRequested)
        case .hungUp, .notTLS, .malformedProxyHeader, .refused:
            stopAwaitingHead()
            handle(.terminateRequested)
        }
    }

    func lookAtNextHead() { nextHead?.look() }

    /// Has the library read this head in place of the one in the socket's buffer: 4.1.6 answers an absolute target with
    /// 403.
    func read(_ originForm: [UInt8]) {
        guard let wsi, let server, let byteCount = checkedHeads?.first?.byteCount else { return }
        let scratch = server.openingBytes
        let count = signalbox_receive(lws_get_socket_fd(wsi), scratch.baseAddress, min(byteCount, scratch.count))
        let isRead = count == byteCount && signalbox_read_instead(wsi, originForm, originForm.count) != 0
        if !isRead { handle(.terminateRequested) }
    }

    private func stopAwaitingHead() {
        nextHead?.close()
        nextHead = nil
    }

    // MARK: Events and effects

    private func respond(to event: Lifecycle.Event) -> Int32 {
        handle(event)
        return lifecycle.mustHangUp ? -1 : 0
    }

    private func handle(_ event: Lifecycle.Event) {
        for effect in lifecycle.handle(event) { perform(effect) }
        if let phase = lifecycle.admissionPhase { server?.moved(id, to: phase) }
    }

    // MARK: Admission

    /// Why the request is not served, if it is not. Notes the client's address behind a trusted proxy.
    private func admissionRefusal(_ headers: RequestHeaders, _ path: String) -> Refusal? {
        guard let server else { return nil }
        if answersHealthOnly, !server.options.healthPaths.contains(path) { return .serverFull }
        guard !server.options.trustedProxies.isEmpty else { return nil }
        let (client, refusal) = server.identify(
            id, peer, forwardedFor: headers[WSI_TOKEN_X_FORWARDED_FOR], forwarded: forwarded)
        address = client
        return refusal
    }

    /// The refusal of a handshake whose upgrade did not arrive: only handshakes have a key.
    private func lostUpgrade(_ headers: RequestHeaders) -> Refusal? {
        headers.length(WSI_TOKEN_KEY) > 0 ? .upgradeMissing : nil
    }

    private func networkRefusal() -> Refusal? {
        guard server?.options.isLocalOnly == true, !isOverLoopback, !isOverLocalNetwork else { return nil }
        return .foreignNetwork
    }

    private func originRefusal(_ headers: RequestHeaders) -> Refusal? {
        guard let allowed = server?.options.allowedOrigins, let origin = headers[WSI_TOKEN_ORIGIN] else { return nil }
        return allowed.contains(origin) ? nil : .origin
    }

    /// Hands the request over as soon as it is the turn of the client's address.
    func handOver(_ exchange: HTTPExchange) { server?.handOver(exchange, of: address) }

    private func handOverIfOpen(_ exchange: HTTPExchange) {
        if wsi != nil { handOver(exchange) }
    }

    private func perform(_ effect: Lifecycle.Effect) {
        guard let server else { return }
        switch effect {
        case .startDeadline(let deadline): server.setDeadline(id, after: deadline.duration(server.options))
        case .clearDeadline: server.clearDeadline(id)
        case .handOver(let exchange, let body):
            if isFollowed(body) { return refuseFollowed() }
            exchange.body = body
            if body.isEmpty || checkedHeads != nil { return handOver(exchange) }
            // With TLS nobody can tell whether bytes follow. If they do, the connection is gone by then.
            server.loop.core.beforeWait { exchange.connection?.handOverIfOpen(exchange) }
        case .answerOverdue(let exchange): exchange.respond(exchange.overdueResponse)
        case .beginStream(let head, let framing):
            stream = HTTPStream(of: self, head.adding(server.options.responseHeaders), framing)
            flushAtTurnEnd()
            if server.isDraining { server.loop.core.beforeWait { [weak self] in self?.drain() } }
        case .finishStream:
            stream?.finish()
            flushAtTurnEnd()
        case .reportStreamEnd: stream?.reportEnd()
        case .endStream:
            let ended = stream
            stream = nil
            ended?.close()
        case .startDiscardingInput: server.loop.core.startDiscardingInput(of: self)
        case .stopDiscardingInput: server.loop.core.stopDiscardingInput(of: self)
        case .closeAtTurnEnd: server.loop.core.closeAtTurnEnd(self)
        case .release: destroyed()
        case .sendContinue, .pauseReading, .resumeReading, .send, .awaitNextRequest, .shutDownWriting, .cut:
            if let wsi { perform(effect, on: wsi) }
        }
    }

    /// Whether the library has read bytes behind the body together with it. 4.1.6 closes such a connection when this
    /// callback returns, so the handler's answer would never arrive. A request that gets no answer must not be carried out.
    private func isFollowed(_ body: [UInt8]) -> Bool {
        guard let wsi, !body.isEmpty, checkedHeads != nil, hasLength else { return false }
        let socket = lws_get_socket_fd(wsi)
        var byte: UInt8 = 0
        // The end of the stream may count as a byte.
        let endCount: Int64 = signalbox_peek(socket, &byte, 1) == 0 ? 1 : 0
        return signalbox_read_byte_count(socket) > requestByteCount + endCount
    }

    private func refuseFollowed() {
        write(
            .refusal(400, "bytes follow the body of the request: send each request after the answer to the one before"))
        handle(.requestUnreadable)
    }

    private func perform(_ effect: Lifecycle.Effect, on wsi: OpaquePointer) {
        switch effect {
        case .sendContinue: write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        case .pauseReading: lws_rx_flow_control(wsi, 0)
        case .resumeReading: lws_rx_flow_control(wsi, signalbox_reads_while_serving() ? 0 : 1)
        case .send(let response, let isHead, let keepsAlive):
            outgoing = OutgoingResponse(
                response.adding(server?.options.responseHeaders ?? []), isHead: isHead, keepsAlive: keepsAlive)
            if signalbox_reads_while_serving() {
                writesAtTurnEnd = true
                server?.loop.core.closeAtTurnEnd(self)
            } else {
                // Only from the writable callback may a transaction be ended with a close.
                lws_callback_on_writable(wsi)
            }
        case .awaitNextRequest:
            awaitNextRequest(wsi)
        case .shutDownWriting:
            if signalbox_reads_while_serving(), stream == nil { lws_rx_flow_control(wsi, 1) }
            shutDownWriting(wsi)
        case .cut: SignalingTransport.cut(wsi)
        case .startDeadline, .clearDeadline, .handOver, .answerOverdue, .beginStream, .finishStream, .reportStreamEnd,
            .endStream, .startDiscardingInput, .stopDiscardingInput, .closeAtTurnEnd, .release:
            break
        }
    }

    private func requestHead(
        _ headers: RequestHeaders, method: HTTPMethod, path: String, wsi: OpaquePointer, server: TransportServer
    ) -> Lifecycle.RequestHead {
        let framing = BodyFraming(headers, method: method)
        let limit = server.options.maxBodyByteCount
        requestByteCount += Int64(framing.byteCount ?? 0)
        hasLength = framing.byteCount != nil
        let disposition: Lifecycle.RequestHead.Disposition
        let isForSocket = method == .get && path == server.options.webSocketPath
        if let fault = headers.fault {
            server.note(fault, from: peer)
            disposition = .refuse(fault.response)
        } else if let refusal = framing.refusal(limit: limit) {
            disposition = .refuse(refusal)
        } else if let refusal = admissionRefusal(headers, path) ?? (isForSocket ? lostUpgrade(headers) : nil) {
            server.refusals.note(refusal, address: remoteAddress, now: server.loop.now)
            disposition = .refuse(.refusal(refusal))
        } else if isForSocket {
            let isMissing = server.refusals.hasNoted(
                .upgradeMissing, within: UpgradeCheck.memory, now: server.loop.now)
            disposition = .answer(UpgradeCheck.upgradeRequired(isMissing: isMissing))
        } else {
            let exchange = HTTPExchange(
                connection: self, method: method, path: path, query: headers.query, headers: headers.keptHeaders())
            if let body = framing.body(limit: limit) {
                disposition = .receive(exchange, body, expectsContinue: framing.expectsContinue)
            } else {
                disposition = .handOver(exchange)
            }
        }
        return Lifecycle.RequestHead(
            isHead: method == .head, acceptsChunks: framing.isVersion11,
            keepsAlive: framing.keepsAlive && !server.isDraining && !answersHealthOnly,
            hasLibraryBody: framing.libraryReadsBody,
            isPipelined: lifecycle.isIdleAgain && lws_service_adjust_timeout(lws_get_context(wsi), 1, 0) == 0,
            disposition: disposition)
    }

    /// Writes a response to a request that is not served further.
    private func write(_ response: HTTPResponse) {
        let response = response.adding(server?.options.responseHeaders ?? [])
        let (head, bodyByteCount) = response.serialized(isHead: false, keepsAlive: false)
        write(head + response.body.prefix(bodyByteCount))
    }

    @discardableResult
    private func write(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBufferPointer { write($0) } }

    /// HTTP/1 without extensions: the library only reads the bytes.
    private func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let wsi, let base = bytes.baseAddress else { return -1 }
        return Int(lws_write(wsi, UnsafeMutablePointer(mutating: base), bytes.count, LWS_WRITE_HTTP))
    }
}
