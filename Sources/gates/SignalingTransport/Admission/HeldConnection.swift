import CLibwebsockets
import EventLoop
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection that waits for a whole request head, or with TLS for the client's greeting. Confined to the loop.
///
/// It is a new connection, or one that has served a request and may send another one: the server checks each head of a
/// connection without TLS before libwebsockets reads it.
///
/// libwebsockets would reserve one of its header places from the start, also for a client that never sends a byte.
/// So the bytes are only looked at, and stay in the system's buffer for libwebsockets to read.
final class HeldConnection {
    /// What became of it.
    enum End {
        /// The opening is complete: the descriptor belongs to the receiver of this event. With TLS the request is not
        /// known yet, so it may ask for the server's health.
        case complete(Int32, Heads)
        case hungUp
        case notTLS
        /// The connection of a trusted proxy does not begin with a well-formed PROXY header.
        case malformedProxyHeader
        /// The client that the proxy names is not admitted.
        case refused(Refusal)
        /// The head breaks a rule of HTTP.
        case malformed(RequestFault)
    }

    /// What the first bytes say about the requests.
    struct Heads {
        /// Whether the first request may ask for the server's health.
        var mayAskForHealth = false
        /// The heads that have been checked, in their order; nil with TLS, whose bytes cannot be.
        var checked: [RequestHeadCheck.CheckedHead]?
        /// The size of the PROXY header before them.
        var proxyHeaderByteCount = 0
        /// The first head with a path as its target, if its target is absolute: libwebsockets reads this one in place of
        /// the client's, which the receiver takes from the system's buffer.
        var originForm: [UInt8]?
        /// The first request's `Forwarded` headers, joined with commas, if a trusted proxy has sent them.
        var forwarded: [UInt8]?
    }

    /// Looks at incomplete bytes, after which it looks only every ``pause``. Clients send a head in a few pieces.
    private static let eagerLookCount = 8
    static let pause = Duration.milliseconds(100)

    let id: UInt64
    /// Of the peer, or of the client that a PROXY header has named.
    private(set) var address: PeerAddress
    private unowned let server: TransportServer
    /// Whether the connection begins with a PROXY header.
    private var expectsProxyHeader: Bool
    private var proxyHeaderByteCount = 0
    private var descriptor: Int32
    private var poll: PollHandle?
    private var lookCount = 0

    /// Owns the descriptor.
    init(
        id: UInt64, descriptor: Int32, address: PeerAddress, server: TransportServer, expectsProxyHeader: Bool = false
    ) {
        self.id = id
        self.descriptor = descriptor
        self.address = address
        self.server = server
        self.expectsProxyHeader = expectsProxyHeader
    }

    /// Looks at the bytes that are there, and waits for more if they are incomplete. May report the end at once.
    func look() {
        guard descriptor >= 0 else { return }
        switch inspect() {
        case .ended(let end): finish(end)
        // It is readable all the time.
        case .queued: poll?.stop()
        case .waiting(let count):
            lookCount += 1
            guard lookCount <= Self.eagerLookCount else {
                poll?.stop()
                return server.lookLater(self)
            }
            // The bytes stay in the buffer: without this the socket would be readable all the time.
            if count > 0 { signalbox_wait_for_bytes(descriptor, Int32(count + 1)) }
            watch()
        }
    }

    /// Closes the connection. With unread bytes in the buffer the system resets it.
    func close() {
        stopWatching()
        if descriptor >= 0 { signalbox_close(descriptor) }
        descriptor = -1
    }

    deinit { close() }

    private enum Inspection {
        case ended(End)
        case waiting(byteCount: Int)
        /// The greeting is complete, and the server looks again when the handshake may begin.
        case queued
    }

    private func inspect() -> Inspection {
        let scratch = server.openingBytes
        let count = signalbox_peek(descriptor, scratch.baseAddress, scratch.count)
        if count == 0 { return .ended(.hungUp) }
        guard count > 0 else {
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR
                ? .waiting(byteCount: 0) : .ended(.hungUp)
        }
        let bytes = UnsafeRawBufferPointer(rebasing: scratch[..<count])
        if expectsProxyHeader { return inspect(proxyHeader: bytes) }
        guard server.options.tls != nil else { return inspect(request: bytes) }
        switch Opening(greeting: bytes) {
        case .complete:
            guard server.mayBeginHandshake(self) else { return .queued }
            return .ended(.complete(descriptor, Heads(mayAskForHealth: true)))
        case .incomplete: return .waiting(byteCount: count)
        case .notTLS: return .ended(.notTLS)
        }
    }

    /// Consumes the PROXY header, which comes before a request or a TLS greeting.
    private func inspect(proxyHeader bytes: UnsafeRawBufferPointer) -> Inspection {
        switch ProxyHeader.verdict(on: bytes) {
        case .malformed: return .ended(.malformedProxyHeader)
        case .incomplete: return .waiting(byteCount: bytes.count)
        case .complete(let byteCount, let client):
            guard signalbox_receive(descriptor, server.openingBytes.baseAddress, byteCount) == byteCount else {
                return .ended(.hungUp)
            }
            expectsProxyHeader = false
            proxyHeaderByteCount = byteCount
            if lookCount > 0 { signalbox_wait_for_bytes(descriptor, 1) }
            if let client {
                address = client
                if let refusal = server.identify(id, as: client) { return .ended(.refused(refusal)) }
            }
            return inspect()
        }
    }

    /// Checks the raw head: libwebsockets would accept more than the rules of HTTP permit.
    private func inspect(request bytes: UnsafeRawBufferPointer) -> Inspection {
        let findings = RequestHeadCheck.inspect(bytes)
        switch findings.verdict {
        case .accept(let byteCount): return .ended(.complete(descriptor, heads(in: bytes, byteCount, findings)))
        case .refuse(let fault): return .ended(.malformed(fault))
        // libwebsockets refuses a head that is too long.
        case .incomplete where bytes.count >= Opening.byteLimit:
            return .ended(.complete(descriptor, Heads(checked: [.init(byteCount: bytes.count, path: nil)])))
        case .incomplete: return .waiting(byteCount: bytes.count)
        }
    }

    private func heads(
        in bytes: UnsafeRawBufferPointer, _ headByteCount: Int, _ findings: RequestHeadCheck.Findings
    ) -> Heads {
        let target =
            findings.originForm.map { $0.withUnsafeBytes(Opening.target) } ?? Opening.target(of: bytes)
        var heads = Heads(
            mayAskForHealth: target.map(server.options.healthPaths.contains) ?? false,
            checked: findings.heads, proxyHeaderByteCount: proxyHeaderByteCount,
            originForm: findings.originForm)
        if server.readsForwarded(from: address) {
            let values = RequestHeadCheck.values(of: "forwarded", in: bytes.prefix(headByteCount))
            if !values.isEmpty { heads.forwarded = Array(values.joined(separator: [UInt8(ascii: ",")])) }
            // The others have headers of their own.
            heads.checked = Array(findings.heads.prefix(1))
        }
        return heads
    }

    /// Reads and discards what the client has sent: a close with unread bytes resets the connection.
    func discardInput() {
        let scratch = server.openingBytes
        var pieceCount = 0
        while pieceCount < 4, signalbox_receive(descriptor, scratch.baseAddress, scratch.count) == scratch.count {
            pieceCount += 1
        }
    }

    /// Sends a response to a request that is not served.
    func answer(_ response: HTTPResponse) {
        // A reset would destroy the response.
        discardInput()
        let (head, bodyByteCount) = response.serialized(isHead: false, keepsAlive: false)
        let bytes = head + response.body.prefix(bodyByteCount)
        _ = bytes.withUnsafeBytes { signalbox_send(descriptor, $0.baseAddress, $0.count) }
        signalbox_shutdown_writing(descriptor)
    }

    private func finish(_ end: End) {
        stopWatching()
        if case .complete = end {
            if lookCount > 0 { signalbox_wait_for_bytes(descriptor, 1) }
            descriptor = -1
        }
        server.heldConnection(self, ended: end)
    }

    private func watch() {
        guard poll == nil else { return }
        guard let loop = server.loop.core.loop,
            let poll = try? PollHandle(on: loop, descriptor: descriptor, { [unowned self] in polled($0) })
        else { return finish(.hungUp) }
        self.poll = poll
        poll.watch([.readable, .disconnected])
    }

    private func polled(_ events: PollHandle.Events?) {
        // Retained while it runs: the server releases a connection that ends.
        withExtendedLifetime(self) {
            look()
            // A client that has sent its last byte will not complete an incomplete opening.
            let hasHungUp = events?.contains(.disconnected) ?? true
            if hasHungUp, descriptor >= 0 { finish(.hungUp) }
        }
    }

    private func stopWatching() {
        poll?.close()
        poll = nil
    }
}
