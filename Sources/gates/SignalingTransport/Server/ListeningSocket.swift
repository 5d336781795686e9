import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A TCP socket that listens already, from the process that started this one.
///
/// That process keeps the socket open, so connections wait in its backlog while no server runs.
public struct ListeningSocket: Sendable {
    /// Set to close on exec and non-blocking.
    let descriptor: Int32
    let address: SocketAddress

    /// The address that the socket is bound to, as text.
    public var host: String { address.host }
    public var port: Int { address.port }

    /// Checks a descriptor.
    ///
    /// - Throws: ``TransportError`` `.notListening` if it is not open, or no listening TCP socket. The descriptor is
    ///   unchanged then.
    public init(descriptor: Int32) throws(TransportError) {
        func refuse(_ fault: String) -> TransportError {
            TransportError(
                .notListening,
                "Descriptor \(descriptor) \(fault). Pass a TCP socket on which `listen` was called, or start the server "
                    + "without LISTEN_FDS.")
        }
        guard fcntl(descriptor, F_GETFD) >= 0 else { throw refuse("is not open") }
        guard let address = SocketAddress(boundTo: descriptor) else { throw refuse("is no socket") }
        guard address.family == AF_INET || address.family == AF_INET6 else { throw refuse("is no TCP socket") }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw refuse("is no listening socket") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.descriptor = descriptor
        self.address = address
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}
