import SignalingCore
import SignalingTransport

/// Which connections the server accepts, and how many (docs/SECURITY-MODEL.md, "Admission").
public struct AdmissionSettings: Sendable {
    /// Connections of any kind, at least 1. Default: nil, the limit of open files less 128, which is also the maximum.
    public var maxConnections: Int?
    /// Connections of one client address, at least 1; half of them without a session, and a tenth new per second. Given
    /// here, it also holds for loopback addresses. Default: nil, 500 but at most a quarter of all connections, and no
    /// limit for loopback addresses.
    public var maxConnectionsPerAddress: Int?
    /// Connections in the sessions of one project, at least 1. Default: nil, all connections if the server has one
    /// project, otherwise half of them.
    public var maxConnectionsPerProject: Int?
    /// Connections in sessions with one token, at least 1. Default: nil, half of all connections.
    public var maxConnectionsPerToken: Int?
    /// Reverse proxies that tell the client's address. Default: none.
    public var trustedProxies: [AddressBlock] = []
    /// How they tell it. Default: `X-Forwarded-For`.
    public var proxyNaming = ProxyNaming.xForwardedFor
    /// The origins whose pages may open a WebSocket, as browsers send them in `Origin`. Default: nil, all.
    public var allowedOrigins: Set<String>?

    public init() {}

    /// Applies these settings to the options of a transport.
    func apply(to options: inout TransportServer.Options) {
        options.maxConnectionCount = maxConnections
        options.trustedProxies = trustedProxies
        options.proxyNaming = proxyNaming
        options.allowedOrigins = allowedOrigins
        options.addressLimit =
            maxConnectionsPerAddress.map { AddressLimit(connectionCount: $0, exemptsLoopback: false) }
            ?? .standard(ofTotal: options.connectionCount)
    }

    /// - Parameter total: the number of connections of the server.
    func joinLimits(total: Int, projectCount: Int) -> JoinLimits {
        JoinLimits(
            perProject: maxConnectionsPerProject ?? (projectCount > 1 ? max(1, total / 2) : total),
            perToken: maxConnectionsPerToken ?? max(1, total / 2))
    }
}

extension AdmissionSettings {
    /// Reads a list of addresses and CIDR blocks, separated by commas.
    ///
    /// - Throws: ``ConfigurationError``.
    static func trustedProxies(_ text: String) throws -> [AddressBlock] {
        try elements(text).mapCollectingFaults { element in
            guard let block = AddressBlock(element) else {
                throw ConfigurationError(
                    "the trusted proxy \"\(element)\" is not valid. Use an IP address, or a block such as 10.0.0.0/8.")
            }
            return block
        }
    }

    /// Origins without a host: browsers send the first for sandboxed frames and, as the second, for pages that were
    /// opened from a file. Any page can have the origin `null`, so both are allowed only if the operator says so.
    private static let hostlessOrigins: Set = ["null", "file://"]

    /// Reads a list of origins, separated by commas.
    ///
    /// - Throws: ``ConfigurationError``.
    static func allowedOrigins(_ text: String) throws -> Set<String> {
        Set(
            try elements(text).mapCollectingFaults { element in
                guard !hostlessOrigins.contains(element) else { return element }
                guard WebOrigin(element) != nil, element == element.lowercased() else {
                    throw ConfigurationError(
                        "the allowed origin \"\(element)\" is not valid. Use the form that browsers send: the scheme, "
                            + "the host in lower case and the port unless it is the scheme's own, without a path, such "
                            + "as https://chat.example.org; or null or file:// for pages without a host.")
                }
                return element
            })
    }

    private static func elements(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { element in
            String(String(element.drop { $0 == " " }.reversed()).drop { $0 == " " }.reversed())
        }
    }
}
