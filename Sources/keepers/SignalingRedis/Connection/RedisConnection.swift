import DequeModule
import EventLoop
import SignalingCryptography
import SignalingRedisCore

/// One connection to Redis: commands go out, and each reply goes to the handler of its command. Confined to the loop's
/// thread.
///
/// Whatever Redis sends, it ends the connection at most, and never the process.
final class RedisConnection {
    enum Loss {
        /// The connection is lost, or cannot be made.
        case unreachable(String)
        /// Redis has sent what nothing has asked for, or what is not its protocol.
        case nonsense(String)
        /// There is no TLS connection.
        case insecure(TLSFailure)
    }

    private enum Phase {
        /// Next: `handshaking`, `open`, `closed`.
        case connecting
        /// Next: `open`, `closed`.
        case handshaking
        /// Next: `closed`.
        case open
        /// The last state.
        case closed
    }

    /// Called once. Not called after ``close()``.
    var onLost: ((Loss) -> Void)?
    /// Called with what nothing has asked for, on a connection that has subscribed.
    var onPush: ((RedisPush) -> Void)?

    /// The first byte with which a TLS server answers what is not TLS (RFC 8446 section 5.1).
    private static let tlsAlert: UInt8 = 21

    private var phase = Phase.connecting
    private var tcp: TCPHandle?
    /// Of a connection with TLS.
    private let tls: TLSClient?
    private var hasReceived = false
    private let reader: RedisReplyReader
    private var handlers: Deque<(RedisReply) -> Void> = []
    /// What the next flush writes. The log bounds it (LOG-22).
    private var output: [UInt8] = []
    /// Whether replies are handled: what their handlers send leaves in one write.
    private var isReading = false

    /// - Parameters:
    ///   - address: an IP address.
    ///   - tls: the client's side of a connection with TLS.
    init(address: String, port: Int, tls: TLSClient?, loop: EventLoop) throws {
        self.tls = tls
        reader = try RedisReplyReader()
        tcp = try TCPHandle(to: address, port: port, on: loop) { [weak self] event in self?.handle(event) }
    }

    private func handle(_ event: TCPHandle.Event) {
        switch event {
        case .connected:
            if let tls {
                phase = .handshaking
                tls.begin()
                writeRecords(of: tls)
            } else {
                phase = .open
                flush()
            }
        case .received(let bytes): received(bytes)
        case .ended(let error): lose(.unreachable(reason(error)))
        }
    }

    /// Why the connection has ended, as far as its phase tells.
    private func reason(_ error: EventLoopError? = nil) -> String {
        let end = error.map { "\($0)" } ?? "the connection was closed"
        switch phase {
        case .handshaking:
            return "\(end) during the TLS handshake. If this port has no TLS, begin the address with redis://"
        case .open where !hasReceived && tls == nil:
            return "\(end) before the first answer. If this port has TLS, begin the address with rediss://"
        case .connecting, .open, .closed: return end
        }
    }

    // MARK: - Sending

    /// Sends a command at the next ``flush()``. The handler is not called if the connection is lost before the reply.
    func send(_ command: RedisCommand, _ handler: @escaping (RedisReply) -> Void) {
        guard phase != .closed else { return }
        handlers.append(handler)
        output += command.bytes
    }

    /// Sends SUBSCRIBE or UNSUBSCRIBE. What follows comes to ``onPush``.
    func sendSubscription(_ command: RedisCommand) {
        guard phase != .closed else { return }
        output += command.bytes
    }

    /// Writes what was sent.
    func flush() {
        guard phase == .open, !isReading, !output.isEmpty else { return }
        let bytes = output
        output = []
        guard let tls else { return tcp?.write(bytes) ?? () }
        if let failure = tls.write(bytes) { return lose(.insecure(failure)) }
        writeRecords(of: tls)
    }

    private func writeRecords(of tls: TLSClient) { tcp?.write(tls.takeOutput()) }

    // MARK: - Receiving

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let tls else { return read(bytes) }
        let reading = tls.receive(bytes)
        writeRecords(of: tls)
        if phase == .handshaking, tls.isOpen { phase = .open }
        reading.content.withUnsafeBytes { read($0) }
        if phase == .closed { return }
        if let failure = reading.failure {
            lose(.insecure(failure))
        } else if reading.isEnd {
            lose(.unreachable(reason()))
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        if !hasReceived, bytes.first == Self.tlsAlert { return lose(.unreachable(reason())) }
        if !bytes.isEmpty { hasReceived = true }
        isReading = true
        do throws(RedisReplyReader.Violation) {
            try reader.feed(bytes)
            // A handler may close the connection.
            while phase == .open, let reply = try reader.next() { dispatch(reply) }
        } catch {
            lose(.nonsense(error.text))
        }
        isReading = false
        flush()
    }

    private func dispatch(_ reply: RedisReply) {
        if let handler = handlers.popFirst() { return handler(reply) }
        guard let onPush, let push = RedisPush(reply) else { return lose(.nonsense("a reply that answers nothing")) }
        onPush(push)
    }

    // MARK: - Ending

    private func lose(_ loss: Loss) {
        let onLost = onLost
        close()
        onLost?(loss)
    }

    /// Closes the connection. Nothing is reported afterwards.
    func close() {
        phase = .closed
        tcp?.close()
        tcp = nil
        onLost = nil
        onPush = nil
        handlers = []
        output = []
    }
}
