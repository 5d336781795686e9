import SignalingProtocol

extension TransportServer {
    /// The TLS certificate and key. Read when the server starts, and by ``TransportServer/reloadCertificate(_:)``.
    ///
    /// The server accepts TLS 1.2 and 1.3, with forward secrecy and authenticated ciphers only; no client certificates,
    /// no renegotiation, no resumption.
    public struct TLS: Sendable, Hashable {
        /// A PEM file with the server's certificate first, then the intermediate certificates.
        public var certificateFile: String
        /// A PEM file with the private key, without a passphrase.
        public var privateKeyFile: String

        public init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// The options of a server, with a bound for every resource that a peer can consume.
    public struct Options: Sendable {
        /// An IPv4 or IPv6 address, or "localhost" (127.0.0.1). Default: "127.0.0.1".
        public var host = "127.0.0.1"
        /// 0 lets the system choose a port, which ``TransportServer/port`` returns. Default: 0.
        public var port = 0
        /// A listening socket that another process has opened; `host`, `port` and `backlog` then have no effect. The
        /// server owns the descriptor from ``TransportServer/init(loop:options:handler:refusals:)`` on. Default: nil.
        public var listeningSocket: ListeningSocket?
        /// How many connections may wait to be accepted; the system has a limit of its own. Default: 4096.
        public var backlog = 4096
        /// Certificate and key for https and wss. All servers of a loop that use TLS share one. Default: nil, no TLS.
        public var tls: TLS?
        /// Headers of every response, those of the transport itself included, unless a response has them already.
        /// Default: none.
        public var responseHeaders: [(name: String, value: String)] = []
        /// The WebSocket's path. Default: `/v1/signaling`.
        public var webSocketPath = "/v1/signaling"
        /// The sub-protocol that a client must offer. All servers of a loop share one. Default: `signalbox.v1`.
        public var subprotocol = "signalbox.v1"
        /// Maximum size of a WebSocket message in bytes. Default: ``Limits/messageByteCount``.
        public var maxMessageByteCount = Limits.messageByteCount
        /// Maximum number of fragments of a message. Default: ``Limits/fragmentCount``.
        public var maxFragmentCount = Limits.fragmentCount
        /// Maximum size of a request body in bytes; a larger one is answered with 413. Default:
        /// ``Limits/bodyByteCount``.
        ///
        /// The limit for the header block belongs to the loop: ``Limits/headerByteCount``. A larger one closes the
        /// connection.
        public var maxBodyByteCount = Limits.bodyByteCount
        /// Maximum number of connections of any kind. A further one gets the place of the one that has waited longest
        /// for its client; if there is none, it gets 503, unless it asks for one of ``healthPaths``. Default: nil, the
        /// process's limit of open files less ``spareDescriptorCount``, which is also the maximum.
        public var maxConnectionCount: Int?
        /// File descriptors left for the rest of the process and for ``reserveCount``. Default: 128.
        public var spareDescriptorCount = 128
        /// Connections beyond ``maxConnectionCount`` that may only ask for one of ``healthPaths``. Default: 32.
        public var reserveCount = 32
        /// The paths that a full server answers. Default: none.
        public var healthPaths: Set<String> = []
        /// What one client address may hold. Default: nil, as much as all together.
        public var addressLimit: AddressLimit?
        /// Reverse proxies that tell the client's address. Their own addresses have no limit. Default: none.
        public var trustedProxies: [AddressBlock] = []
        /// How the trusted proxies tell it. With `.proxyProtocol` each of their connections must begin with a header of
        /// that protocol. Default: `.xForwardedFor`.
        public var proxyNaming = ProxyNaming.xForwardedFor
        /// The values of `Origin` with which a page may open a WebSocket; clients without `Origin` are not affected.
        /// Default: nil, all.
        public var allowedOrigins: Set<String>?
        /// Whether clients of other networks than this machine's own get no WebSocket. Default: false.
        public var isLocalOnly = false
        /// The time from accepting a connection to the end of its headers, the TLS handshake included; and again from
        /// there to the end of the body. Absolute: bytes that arrive do not extend it. Default:
        /// ``Limits/requestTimeout``.
        public var requestTimeout = Limits.requestTimeout
        /// The time from a request to the handler's response; then the transport answers 503. Default: 30 s.
        public var answerTimeout = Duration.seconds(30)
        /// The time for a client to read a response; then the connection is cut. Default: 30 s.
        public var responseTimeout = Duration.seconds(30)
        /// The time from a response to the end of the next request's headers. Default: 5 s.
        public var keepAliveTimeout = Duration.seconds(5)
        /// The time for the closing handshake of a WebSocket; then the connection is cut. Default: 5 s.
        public var closeTimeout = Duration.seconds(5)

        public init(host: String = "127.0.0.1", port: Int = 0) {
            self.host = host
            self.port = port
        }

        /// The effective maximum number of connections.
        public var connectionCount: Int {
            let available = max(16, DescriptorLimit.current - spareDescriptorCount)
            return min(maxConnectionCount ?? available, available)
        }

        var admissionBounds: AdmissionControl.Bounds {
            AdmissionControl.Bounds(
                connectionCount: connectionCount,
                // libwebsockets frees a header place when a turn ends, so some are left for those within a turn.
                placeCount: LWSContext.headerPoolCount * 7 / 8, reserveCount: reserveCount, perAddress: addressLimit,
                trustedProxies: TrustedProxies(blocks: trustedProxies))
        }
    }
}
