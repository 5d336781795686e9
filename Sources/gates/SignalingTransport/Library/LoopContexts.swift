import CLibwebsockets
import EventLoop
import Logging

/// The libwebsockets contexts of a loop. Confined to the loop.
///
/// A context has a table of every descriptor that the process may open. Debian's 4.1.6 is built with assertions, and
/// walks all of it when a connection closes: 1 ns for each descriptor, which in a server is a quarter of the cost of a
/// connection that comes and goes. So the servers of a loop have a second context with a short table, for connections
/// with low descriptors. The system gives the lowest free descriptor to each connection.
final class LoopContexts {
    /// The length of the short table. A server with fewer open files uses no other.
    static let shortTableCount = 1024

    /// For all descriptors, and for all clients of the loop.
    let whole: LWSContext
    /// For the connections of servers; nil before the loop has one, if the whole table is short, too, and where the limit
    /// may not be lowered (``DescriptorLimit/mayBeLowered``).
    private var short: LWSContext?
    private let loop: EventLoop
    private let logger: Logger
    private var serverTLS: TransportServer.TLS?
    /// Lives as long as the `SSL_CTX` of each context, which has a pointer to it.
    private var serverCertificate: ServerCertificate?

    init(loop: EventLoop, logger: Logger) throws(TransportError) {
        self.loop = loop
        self.logger = logger
        whole = try LWSContext(loop: loop, logger: logger)
    }

    private var all: [LWSContext] { [whole, short].compactMap { $0 } }

    /// The virtual hosts that all servers of this loop share.
    func serverHosts(subprotocol: String) throws(TransportError) -> ServerHosts {
        if short == nil, DescriptorLimit.current > 2 * Self.shortTableCount {
            // Without it, the whole table does.
            DescriptorLimit.withLowered(to: Self.shortTableCount) {
                short = try? LWSContext(loop: loop, logger: logger)
            }
        }
        return ServerHosts(
            short: try short?.serverVHost(subprotocol: subprotocol),
            whole: try whole.serverVHost(subprotocol: subprotocol))
    }

    /// Loads certificate and key. Connections of the server's hosts can be adopted with TLS afterwards.
    func enableServerTLS(_ tls: TransportServer.TLS) throws(TransportError) {
        guard serverTLS == nil || serverTLS == tls else {
            throw TransportError(
                .unsupported,
                "The servers of this loop use another certificate. "
                    + "Start the server for \(tls.certificateFile) on another loop.")
        }
        let certificate = if let serverCertificate { serverCertificate } else { try ServerCertificate(tls) }
        serverCertificate = certificate
        for context in all { try context.use(certificate) }
        serverTLS = tls
    }

    /// Reads certificate and key of the servers again; see ``TransportServer/reloadCertificate(_:)``.
    func reloadServerTLS(_ tls: TransportServer.TLS) throws(TransportError) -> Bool {
        guard let serverCertificate else {
            throw TransportError(.unsupported, "The server does not use TLS. Restart it to enable TLS.")
        }
        let isChanged = try serverCertificate.reload(tls)
        serverTLS = tls
        return isChanged
    }

    /// Closes every socket; see ``LWSContext/beginDestroying()``. If the loop may not continue, every socket of the loop
    /// is closed already, and the other contexts leak, too.
    func beginDestroying() -> Bool { all.allSatisfy { $0.beginDestroying() } }

    /// Frees the contexts when the loop has closed all handles.
    func finishDestroying() { for context in all { context.finishDestroying() } }
}

/// The virtual hosts of a loop's servers, one in each context.
struct ServerHosts {
    let short: OpaquePointer?
    let whole: OpaquePointer

    /// The host for a connection with this descriptor.
    func host(for descriptor: Int32) -> OpaquePointer {
        if let short, descriptor < LoopContexts.shortTableCount { return short }
        return whole
    }
}
