import CLibwebsockets
import EventLoop
import Logging
import SignalingProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A listening socket, watched on the loop. Confined to the loop.
///
/// libwebsockets' own listener cannot control the backlog, handle a lack of descriptors, or stop, and on a libuv loop
/// it does not report a failed bind. SO_REUSEPORT stays off: two servers started on one port by mistake would share it
/// without an error, and split the members of a session between them.
final class Listener {
    /// How long accepting pauses when no file descriptor is left.
    private static let exhaustedPause = Duration.milliseconds(100)
    /// How many connections are accepted in a row before other sockets are served. The system's backlog does not know
    /// turns, so it must be short: of the accepted connections, addresses take turns (``TurnQueue``).
    private static let batchCount = 64

    let address: SocketAddress
    private let loop: LoopThread
    private var accepted: ((Int32, SocketAddress) -> Void)?
    private var exhausted: (() -> Void)?
    private var descriptor: Int32
    private var poll: PollHandle?
    /// A spare descriptor for when no other is left. If it is closed, one connection can be accepted and closed, so
    /// that the client notices.
    private var spare: Int32
    private var resume: LoopTimer?

    /// Starts to listen. Connections are accepted from ``start(accepted:)`` on.
    convenience init(loop: LoopThread, host: String, port: Int, backlog: Int) throws(TransportError) {
        guard let wanted = SocketAddress(host: host, port: port) else {
            throw TransportError(
                .invalidAddress,
                "Cannot listen on \(host):\(port). "
                    + "Use an IPv4 or IPv6 address or localhost, and a port from 0 to 65535.")
        }
        guard loop.core.loop != nil else { throw TransportError.loopStopped(loop.name) }
        var descriptor: Int32
        do throws(TransportError) {
            descriptor = try Self.listen(on: wanted, host: host, port: port, backlog: backlog)
        } catch {
            // On a machine without IPv6, all addresses are the IPv4 addresses.
            guard wanted.isAnySix, error.code == .invalidAddress, let four = SocketAddress(host: "0.0.0.0", port: port)
            else { throw error }
            descriptor = try Self.listen(on: four, host: host, port: port, backlog: backlog)
        }
        try self.init(
            loop: loop, descriptor: descriptor, address: SocketAddress(boundTo: descriptor) ?? wanted)
    }

    /// Takes over a socket that listens already.
    convenience init(loop: LoopThread, socket: ListeningSocket) throws(TransportError) {
        try self.init(loop: loop, descriptor: socket.descriptor, address: socket.address)
    }

    /// - Parameter descriptor: owned from here on, also when this throws.
    private init(loop: LoopThread, descriptor: Int32, address: SocketAddress) throws(TransportError) {
        self.loop = loop
        self.descriptor = descriptor
        self.address = address
        guard let eventLoop = loop.core.loop else {
            Self.closeDescriptor(descriptor)
            self.descriptor = -1
            spare = -1
            throw TransportError.loopStopped(loop.name)
        }
        spare = Self.openSpare()
        do throws(EventLoopError) {
            poll = try PollHandle(on: eventLoop, descriptor: descriptor) { [unowned self] _ in acceptBatch() }
        } catch {
            Self.closeDescriptor(descriptor)
            Self.closeDescriptor(spare)
            self.descriptor = -1
            throw TransportError(
                .libraryFailed,
                "Cannot watch the listening socket for \(address.host):\(address.port): \(error).")
        }
        resume = LoopTimer(loop: loop) { [weak self] in self?.watch() }
    }

    /// - Parameters:
    ///   - exhausted: called when a connection was closed because no file descriptor was left.
    ///   - accepted: receives each new non-blocking descriptor, and owns it.
    func start(exhausted: @escaping () -> Void, accepted: @escaping (Int32, SocketAddress) -> Void) {
        self.exhausted = exhausted
        self.accepted = accepted
        watch()
    }

    /// Closes the listening socket. The system refuses the connections in the backlog, unless another process has the
    /// same socket. Idempotent.
    func close() {
        guard let poll else { return }
        self.poll = nil
        resume = nil
        accepted = nil
        exhausted = nil
        poll.close()
        Self.closeDescriptor(descriptor)
        Self.closeDescriptor(spare)
    }

    deinit { close() }

    private func watch() { poll?.watch(.readable) }

    private func acceptBatch() {
        for _ in 0..<Self.batchCount {
            guard poll != nil else { return }
            var peer = sockaddr_storage()
            let descriptor = signalbox_accept(self.descriptor, &peer)
            if descriptor >= 0 {
                // Signals are small: send each at once instead of collecting a full packet.
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

    /// The listener stays readable while connections wait. Stop watching it for a while, or the loop would spin.
    private func descriptorsAreExhausted() {
        exhausted?()
        Self.closeDescriptor(spare)
        var peer = sockaddr_storage()
        Self.closeDescriptor(signalbox_accept(descriptor, &peer))
        spare = Self.openSpare()
        poll?.stop()
        resume?.schedule(at: loop.now.advanced(by: Self.exhaustedPause))
    }

    private static func listen(
        on address: SocketAddress, host: String, port: Int, backlog: Int
    ) throws(TransportError) -> Int32 {
        let descriptor = signalbox_stream_socket(address.family)
        guard descriptor >= 0 else {
            if errno == EAFNOSUPPORT {
                throw TransportError(.invalidAddress, "Cannot listen on \(host): this machine has no IPv6.")
            }
            throw TransportError(
                .resourcesExhausted,
                "Cannot create a socket: \(systemMessage(errno)). "
                    + "Raise the limit of open files (ulimit -n).")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var on: Int32 = 1
        // A restart must not wait for connections of the last run in TIME_WAIT.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if address.family == AF_INET6 {
            // "::" has the IPv4 addresses, too, on every system and whatever its settings.
            var isSixOnly: Int32 = address.isAnySix ? 0 : 1
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isSixOnly, socklen_t(MemoryLayout<Int32>.size))
        }
        let isBound = address.withPointer { bind(descriptor, $0, address.length) } == 0
        guard isBound, signalbox_listen(descriptor, Int32(clamping: backlog)) == 0 else {
            let reason = errno
            closeDescriptor(descriptor)
            switch reason {
            case EADDRINUSE:
                throw TransportError(
                    .addressInUse,
                    "Another program already listens on \(host):\(port). Stop it, or choose another port.")
            case EACCES, EPERM:
                throw TransportError(
                    .permissionDenied,
                    "No permission to listen on \(host):\(port). "
                        + "Ports below 1024 need a privilege: choose a higher port.")
            case EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL:
                throw TransportError(
                    .invalidAddress,
                    "Cannot listen on \(host): it is not an address of this machine. "
                        + "Use 127.0.0.1, ::1 or one of its own.")
            default:
                throw TransportError(
                    .libraryFailed, "Cannot listen on \(host):\(port): \(systemMessage(reason)).")
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
