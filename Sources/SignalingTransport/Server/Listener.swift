import CLibwebsockets
import Logging
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A listening socket of our own, watched on the loop. Confined to the loop.
///
/// libwebsockets' listener gives no control of backlog, of what happens when descriptors run out, or of stopping; and
/// with a libuv loop a failed bind goes unnoticed. No SO_REUSEPORT: two servers started on one port by mistake would
/// share it in silence, and each session's members would land on either.
final class Listener {
    /// How long accepting rests when the system has no descriptor to give.
    private static let exhaustedPause = Duration.milliseconds(100)

    let address: SocketAddress
    private let loop: LoopThread
    private let batchCount: Int
    private var accepted: ((Int32, SocketAddress) -> Void)?
    private var descriptor: Int32
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    /// Kept open for the moment when no other descriptor is left: given up, it lets one connection be accepted and
    /// closed, so that the peer learns of it and the listener's readiness goes away.
    private var spare: Int32
    private var resume: LoopTimer?

    /// Listens; nothing is accepted before ``start(accepted:)``.
    ///
    /// - Parameter batchCount: accepted in one go before other sockets get their turn.
    init(loop: LoopThread, host: String, port: Int, backlog: Int, batchCount: Int) throws(TransportError) {
        guard let wanted = SocketAddress(host: host, port: port) else {
            throw TransportError(
                .invalidAddress,
                "\(host):\(port) is no address to listen on: give an IPv4 or IPv6 address or localhost")
        }
        guard let uvLoop = loop.core.loop else { throw TransportError(.stopped, "the loop has stopped") }
        self.loop = loop
        self.batchCount = batchCount
        let descriptor = try Self.listen(on: wanted, host: host, port: port, backlog: backlog)
        self.descriptor = descriptor
        address = SocketAddress(boundTo: descriptor) ?? wanted
        spare = Self.openSpare()

        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let outcome = uv_poll_init(uvLoop, poll, descriptor)
        guard outcome == 0 else {
            poll.deallocate()
            Self.closeDescriptor(descriptor)
            Self.closeDescriptor(spare)
            self.descriptor = -1
            throw TransportError(.libraryFailed, "the listening socket cannot be watched: \(uvMessage(outcome))")
        }
        self.poll = poll
        poll.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        resume = LoopTimer(loop: loop) { [weak self] in self?.watch() }
    }

    /// - Parameter accepted: gets each new descriptor, not blocking, and owns it.
    func start(accepted: @escaping (Int32, SocketAddress) -> Void) {
        self.accepted = accepted
        watch()
    }

    /// Nothing is accepted any more; what waits in the backlog is refused by the system. Idempotent.
    func close() {
        guard let poll else { return }
        self.poll = nil
        resume = nil
        accepted = nil
        uv_poll_stop(poll)
        closeAndFree(poll)
        Self.closeDescriptor(descriptor)
        Self.closeDescriptor(spare)
    }

    deinit { close() }

    private func watch() {
        guard let poll else { return }
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue().acceptBatch()
        }
    }

    private func acceptBatch() {
        for _ in 0..<batchCount {
            guard poll != nil else { return }
            var peer = sockaddr_storage()
            let descriptor = signalbox_accept(self.descriptor, &peer)
            if descriptor >= 0 {
                // Signals are small and late is worse than small packets.
                var on: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                accepted?(descriptor, SocketAddress(peer))
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return descriptorsAreExhausted()
            default: return  // EAGAIN: the batch is done
            }
        }
    }

    /// The listener stays readable as long as connections wait, so only watching it less keeps the loop from spinning.
    private func descriptorsAreExhausted() {
        loop.logger.warning("no descriptors left: a connection was turned away")
        Self.closeDescriptor(spare)
        var peer = sockaddr_storage()
        Self.closeDescriptor(signalbox_accept(descriptor, &peer))
        spare = Self.openSpare()
        if let poll { uv_poll_stop(poll) }
        resume?.schedule(at: loop.now.advanced(by: Self.exhaustedPause))
    }

    private static func listen(
        on address: SocketAddress, host: String, port: Int, backlog: Int
    ) throws(TransportError) -> Int32 {
        let descriptor = signalbox_stream_socket(address.family)
        guard descriptor >= 0 else {
            throw TransportError(.resourcesExhausted, "there is no socket to be had: \(systemMessage(errno))")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var on: Int32 = 1
        // Restarting must not wait for connections of the last run that linger in TIME_WAIT.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if address.family == AF_INET6 {
            // "::" means IPv6 alone on every system, whatever the machine's setting.
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let isBound = address.withPointer { bind(descriptor, $0, address.length) } == 0
        guard isBound, signalbox_listen(descriptor, Int32(clamping: backlog)) == 0 else {
            let reason = errno
            closeDescriptor(descriptor)
            switch reason {
            case EADDRINUSE:
                throw TransportError(.addressInUse, "another program listens on \(host):\(port) already")
            case EACCES, EPERM:
                throw TransportError(
                    .permissionDenied,
                    "this process may not listen on \(host):\(port); ports below 1024 need a privilege")
            case EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL:
                throw TransportError(.invalidAddress, "\(host) is not an address of this machine")
            default:
                throw TransportError(
                    .libraryFailed, "listening on \(host):\(port) failed: \(systemMessage(reason))")
            }
        }
        return descriptor
    }

    private static func openSpare() -> Int32 { signalbox_open_nothing() }

    private static func closeDescriptor(_ descriptor: Int32) {
        guard descriptor >= 0 else { return }
        signalbox_close(descriptor)
    }
}

func systemMessage(_ code: Int32) -> String { String(cString: strerror(code)) }
