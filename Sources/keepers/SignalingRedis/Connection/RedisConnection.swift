import DequeModule
import EventLoop
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
    }

    private enum Phase {
        /// Next: `open`, `closed`.
        case connecting
        /// Next: `closed`.
        case open
        /// The last state.
        case closed
    }

    /// Called once. Not called after ``close()``.
    var onLost: ((Loss) -> Void)?
    /// Called with what nothing has asked for, on a connection that has subscribed.
    var onPush: ((RedisPush) -> Void)?

    private var phase = Phase.connecting
    private var tcp: TCPHandle?
    private let reader: RedisReplyReader
    private var handlers: Deque<(RedisReply) -> Void> = []
    /// What the next flush writes. The log bounds it (LOG-22).
    private var output: [UInt8] = []
    /// Whether replies are handled: what their handlers send leaves in one write.
    private var isReading = false

    /// - Parameter address: an IP address.
    init(address: String, port: Int, loop: EventLoop) throws {
        reader = try RedisReplyReader()
        tcp = try TCPHandle(to: address, port: port, on: loop) { [weak self] event in self?.handle(event) }
    }

    private func handle(_ event: TCPHandle.Event) {
        switch event {
        case .connected:
            phase = .open
            flush()
        case .received(let bytes): received(bytes)
        case .ended(let error): lose(.unreachable(error.map { "\($0)" } ?? "the connection was closed"))
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
        tcp?.write(bytes)
    }

    // MARK: - Receiving

    private func received(_ bytes: UnsafeRawBufferPointer) {
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
