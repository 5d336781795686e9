/// The methods that libwebsockets tells apart; a request with any other is answered 403 by it.
public enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// A request, whole with its body, and the way to answer it. Confined to the loop.
///
/// It may outlive the callback that brought it: the answer can come from work elsewhere, posted back to the loop. Each
/// exchange has to be answered; one that is not within ``TransportServer/Options/answerTimeout`` gets a 503.
public final class HTTPExchange {
    /// Unique among all sockets and connections of the server's life: many exchanges of one connection share it.
    public let connectionID: UInt64
    public let method: HTTPMethod
    /// Without the query; percent-decoded, and with `.` and `..` and double slashes resolved, by libwebsockets. It keeps
    /// no raw target, so a `%2F` inside a segment cannot be told from a slash.
    public let path: String
    /// In the order of the request; names and values decoded, `+` being a space. A name without `=` has an empty value.
    public let query: [(name: String, value: String)]
    /// The peer's IP address.
    public let remoteAddress: String
    private let headers: [String: String]
    /// At most ``TransportServer/Options/maxBodyByteCount``.
    public internal(set) var body: [UInt8] = []
    weak var connection: HTTPConnection?

    init(
        connection: HTTPConnection, method: HTTPMethod, path: String, query: [(name: String, value: String)],
        headers: [String: String]
    ) {
        self.connection = connection
        connectionID = connection.id
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        remoteAddress = connection.remoteAddress
    }

    /// A header's value, by its name in lower case; nil if it is absent, empty, or not one of those that are kept:
    /// `accept`, `accept-language`, `access-control-request-headers`, `authorization`, `content-type`, `host`,
    /// `if-modified-since`, `if-none-match`, `origin`, `referer`, `user-agent`, `x-forwarded-for`, `x-forwarded-proto`,
    /// `x-opentok-auth`, `x-request-id`, `x-tb-partner-auth`.
    public func header(_ name: String) -> String? { headers[name] }

    /// The first value of that name in the query.
    public func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Answers, on the loop, within the callback or at any time after it. The first answer counts: later ones, and one
    /// to a client that has gone meanwhile, do nothing.
    public func respond(_ response: HTTPResponse) {
        connection?.answer(self, with: response)
    }
}
