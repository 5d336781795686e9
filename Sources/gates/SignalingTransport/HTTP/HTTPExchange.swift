/// A complete request with its body, and the means to respond to it. Confined to the loop.
///
/// It may outlive the callback that delivers it: a response can be computed elsewhere and posted back to the loop.
/// Every exchange needs a response, or the beginning of a stream; without one within ``TransportServer/Options/answerTimeout`` the transport sends
/// ``overdueResponse``.
public final class HTTPExchange {
    /// Unique among all sockets and connections during the server's life; the exchanges of one connection share it.
    public let connectionID: UInt64
    public let method: HTTPMethod
    /// The path without the query, as the client has spelled it: with its percent escapes, and with `..` and double
    /// slashes. With TLS only libwebsockets sees the client's bytes. It decodes escapes and resolves `..` and double
    /// slashes, so the path is then the usual spelling of the result, and a `%2F` inside a segment looks like a slash.
    public let path: String
    /// In the request's order. Names and values are decoded, `+` to a space. A name without `=` has an empty value.
    public let query: [(name: String, value: String)]
    /// The client's IP address: the peer's, or the one that a trusted proxy names.
    public let remoteAddress: String
    /// The same as it counts for limits: an IPv6 address by its first 64 bits.
    public let remotePrefix: PeerAddress
    /// Whether the request comes from a trusted proxy, whose headers about the client can be believed.
    public let isFromTrustedProxy: Bool
    /// Whether a program on this machine has sent the request: it comes over the loopback, and no proxy says that it has
    /// passed it on. A proxy that says nothing looks like a program on its own machine.
    public let isOfThisMachine: Bool
    /// Whether it comes from a device of the local network or this machine, and a proxy has added nothing to it.
    public let isOfLocalNetwork: Bool
    /// The response if there is none in time. Default: 503, with which the client may repeat the request. A handler that
    /// cannot take back what it began says so here.
    public var overdueResponse = HTTPResponse.refusal(
        503, "there is no answer right now", headers: [("Retry-After", "1")])
    /// Called once, with the response before it is sent. It may add headers.
    public var onResponse: ((inout HTTPResponse) -> Void)?
    private let headers: [String: String]
    /// At most ``TransportServer/Options/maxBodyByteCount``.
    public internal(set) var body: [UInt8] = []
    weak var connection: HTTPConnection?
    private weak var loop: LoopThread?

    init(
        connection: HTTPConnection, method: HTTPMethod, path: String, query: [(name: String, value: String)],
        headers: [String: String]
    ) {
        self.connection = connection
        connectionID = connection.id
        loop = connection.server?.loop
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        remoteAddress = connection.remoteAddress
        remotePrefix = connection.addressPrefix
        isFromTrustedProxy = connection.isFromTrustedProxy
        let isDirect = RequestHeaders.ofProxies.allSatisfy { headers[$0] == nil }
        isOfThisMachine = connection.isOverLoopback && isDirect
        isOfLocalNetwork = connection.isOverLocalNetwork && isDirect
    }

    /// The value of a header, by its name in lower case; nil if it is absent, empty, or none of those that are kept:
    /// `accept`, `accept-encoding`, `accept-language`, `access-control-request-headers`, `authorization`,
    /// `content-type`, `forwarded`, `host`, `if-modified-since`, `if-none-match`, `origin`, `referer`, `user-agent`,
    /// `via`, `x-forwarded-for`, `x-forwarded-host`, `x-forwarded-proto`, `x-opentok-auth`, `x-real-ip`,
    /// `x-request-id`, `x-tb-partner-auth`.
    public func header(_ name: String) -> String? { headers[name] }

    /// The first value with that name in the query.
    public func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Sends the response. Call it on the loop, within the callback or at any time after it. Only the first response is
    /// sent; a later one, and one to a client that has gone, does nothing.
    public func respond(_ response: HTTPResponse) { connection?.respond(to: self, with: completed(response)) }

    /// Sends the response's head, and then what the stream is given; the body of `head` is ignored. Call it on the loop,
    /// in place of ``respond(_:)``. If a response was sent before, or the client has gone, the stream is one that has
    /// ended, and says so at the end of this turn.
    public func beginStream(_ head: HTTPResponse) -> HTTPStream {
        if let stream = connection?.beginStream(for: self, with: completed(head)) { return stream }
        let stream = HTTPStream()
        loop?.beforeWait { stream.reportEnd() }
        return stream
    }

    private func completed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if let onResponse {
            self.onResponse = nil
            onResponse(&response)
        }
        return response
    }
}
