import SignalingProtocol

/// Why the server refuses a connection, a request or a join, or closes a connection to make room for another.
public enum Refusal: String, CaseIterable, Sendable {
    /// The address opens connections faster than ``AddressLimit/perSecond``.
    case addressRate
    /// The address has ``AddressLimit/connectionCount`` connections.
    case addressConnections
    /// The address has ``AddressLimit/unjoinedCount`` connections that have joined no session.
    case addressUnjoined
    /// The server has `maxConnectionCount` connections, or as many requests as it processes at a time.
    case serverFull
    /// The connection had waited longest for its client when places ran short, so another one got its place.
    case displaced
    /// No file descriptor was left.
    case descriptors
    /// The client did not send a whole request, or a whole TLS greeting, in time.
    case silent
    /// A client of a TLS server did not begin with a TLS greeting.
    case notTLS
    /// A trusted proxy did not tell the client's address as ``ProxyNaming`` demands it: the PROXY header is missing or
    /// malformed, or the header `Forwarded` is malformed.
    case proxyHeader
    /// A WebSocket handshake arrived without its upgrade: a proxy has removed `Upgrade` or `Connection`, or uses
    /// HTTP/1.0.
    case upgradeMissing
    /// The page that opens the WebSocket has an origin that is not allowed.
    case origin
    /// The client of a server that serves its own network only is of another one.
    case foreignNetwork
    /// The project has its maximum number of connections.
    case project
    /// The token has its maximum number of connections.
    case token

    /// One phrase for the log and for the client.
    public var text: String {
        switch self {
        case .addressRate: "too many new connections from this address"
        case .addressConnections: "too many connections from this address"
        case .addressUnjoined: "too many connections from this address that have joined no session"
        case .serverFull: "the server has reached its maximum number of connections"
        case .displaced: "the connection waited for its client while other clients needed its place"
        case .descriptors: "no file descriptor is left; raise the limit (ulimit -n)"
        case .silent: "no complete request arrived in time"
        case .notTLS: "the client does not speak TLS"
        case .proxyHeader: "the trusted proxy's header with the client's address is missing or malformed"
        case .upgradeMissing: "the proxy in front does not pass WebSocket upgrades"
        case .origin: "pages of this origin may not open WebSockets"
        case .foreignNetwork: "this server is shared with its own network only"
        case .project: "the project has reached its maximum number of connections"
        case .token: "the token has reached its maximum number of connections"
        }
    }

    /// Browsers open connections in advance and may never use them, so this is no news.
    var isUsual: Bool {
        switch self {
        case .silent: true
        case .addressRate, .addressConnections, .addressUnjoined, .serverFull, .displaced, .descriptors, .notTLS,
            .proxyHeader, .upgradeMissing, .origin, .foreignNetwork, .project, .token:
            false
        }
    }
}

/// How often each refusal has happened since the server started.
public struct RefusalCounts: Sendable, Equatable {
    private var counts: [Refusal: Int] = [:]

    public init() {}

    public subscript(_ refusal: Refusal) -> Int { counts[refusal] ?? 0 }

    /// The sum of all refusals.
    public var total: Int { counts.values.reduce(0, +) }

    mutating func note(_ refusal: Refusal) { counts[refusal, default: 0] += 1 }
}
