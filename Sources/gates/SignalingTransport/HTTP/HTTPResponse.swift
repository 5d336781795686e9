/// A response to a request. The transport adds `Content-Length` and `Connection`, and drops them from `headers`.
public struct HTTPResponse: Sendable {
    /// 200 to 599.
    public var status: Int
    /// Sent in this order; names in any case. Control characters in values, such as line ends, are sent as spaces.
    public var headers: [(name: String, value: String)]
    /// Sent in pieces as fast as the client reads. Not sent for HEAD, 204 and 304.
    public var body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response with a text body; adds its `Content-Type`.
    public init(status: Int, contentType: String, headers: [(name: String, value: String)] = [], text: String) {
        self.init(status: status, headers: headers + [("Content-Type", contentType)], body: Array(text.utf8))
    }

    /// An error response of the transport itself, with the body that `docs/PROTOCOL.md`, section REST, defines.
    static func refusal(_ status: Int, _ message: String, headers: [(name: String, value: String)] = []) -> HTTPResponse
    {
        HTTPResponse(
            status: status, contentType: "application/json", headers: headers,
            text: #"{"code":\#(status),"message":"\#(message)"}"#)
    }

    /// The response with those of the headers that it does not have.
    func adding(_ common: [(name: String, value: String)]) -> HTTPResponse {
        let own = Set(headers.map { $0.name.lowercased() })
        var response = self
        response.headers += common.filter { !own.contains($0.name.lowercased()) }
        return response
    }

    /// The response to a request that the server does not admit.
    static func refusal(_ refusal: Refusal) -> HTTPResponse {
        switch refusal {
        case .addressRate, .addressConnections, .addressUnjoined:
            .refusal(429, refusal.text, headers: [("Retry-After", "1")])
        case .serverFull, .displaced, .descriptors: .refusal(503, refusal.text, headers: [("Retry-After", "1")])
        case .origin, .foreignNetwork, .project, .token: .refusal(403, refusal.text)
        case .silent: .refusal(408, refusal.text)
        case .notTLS, .proxyHeader: .refusal(400, refusal.text)
        case .upgradeMissing: .refusal(426, refusal.text, headers: UpgradeCheck.upgrade)
        }
    }

    /// RFC 9110, sections 6.4.1 and 15: these carry neither a body nor its length.
    var isBodiless: Bool { status == 204 || status == 304 || status < 200 }

    /// The head's bytes, and how many bytes of the body follow it.
    func serialized(isHead: Bool, keepsAlive: Bool) -> (head: [UInt8], bodyByteCount: Int) {
        let head = head(length: isBodiless ? nil : "Content-Length: \(body.count)", keepsAlive: keepsAlive)
        return (head, isBodiless || isHead ? 0 : body.count)
    }

    /// The head of a response whose body follows piece by piece, before a close.
    func streamHead(_ framing: StreamFraming) -> [UInt8] {
        head(length: framing == .chunked ? "Transfer-Encoding: chunked" : nil, keepsAlive: false)
    }

    private func head(length: String?, keepsAlive: Bool) -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(256)
        head.append(contentsOf: "HTTP/1.1 \(status) \(Self.reasonPhrase(status))\r\n".utf8)
        for (name, value) in headers {
            switch name.lowercased() {
            case "content-length", "connection", "transfer-encoding": continue
            default: break
            }
            head.append(contentsOf: name.utf8.lazy.filter(Self.isTokenByte))
            head.append(contentsOf: ": ".utf8)
            head.append(contentsOf: value.utf8.lazy.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 })
            head.append(contentsOf: "\r\n".utf8)
        }
        if let length { head.append(contentsOf: "\(length)\r\n".utf8) }
        head.append(contentsOf: (keepsAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n").utf8)
        return head
    }

    /// RFC 9110, section 5.6.2, as far as needed to keep a name from ending its line.
    private static func isTokenByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: ":") }

    private static func reasonPhrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}
