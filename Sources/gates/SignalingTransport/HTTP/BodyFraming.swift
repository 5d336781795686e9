import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The length of a request's body by its headers, and whether the connection may be used again (RFC 9112, sections 6,
/// 9).
///
/// Stricter than libwebsockets 4.1.6, which reads `Content-Length: -1` as an endless body and a missing length as 100
/// MiB, and interprets the bytes after a chunked body's headers as the next request.
struct BodyFraming {
    private enum Length {
        case absent
        case bytes(Int)
        case malformed
    }

    private let length: Length
    private let transferEncoding: String?
    private let mayHaveBody: Bool
    private let lacksHost: Bool
    private let clientKeepsAlive: Bool
    let isVersion11: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// Whether libwebsockets, by its own reading of the headers, will deliver body bytes.
    let libraryReadsBody: Bool

    init(_ headers: RequestHeaders, method: HTTPMethod) {
        let text = headers[WSI_TOKEN_HTTP_CONTENT_LENGTH]
        length = Self.parse(text)
        transferEncoding = headers[WSI_TOKEN_HTTP_TRANSFER_ENCODING]?.lowercased()
        switch method {
        case .post, .put, .patch: mayHaveBody = true
        case .get, .head, .delete, .options: mayHaveBody = false
        }
        // The library reads a length with `atoll`, and assumes 100 MiB for a POST, PUT or PATCH without one.
        libraryReadsBody = text.map { atoll($0) != 0 } ?? mayHaveBody
        isVersion11 = headers[WSI_TOKEN_HTTP]?.hasPrefix("HTTP/1.1") ?? false
        lacksHost = isVersion11 && headers.length(WSI_TOKEN_HOST) == 0
        // The same decision as the library's, since the library closes the connection.
        switch headers[WSI_TOKEN_CONNECTION]?.lowercased() {
        case "keep-alive": clientKeepsAlive = true
        case "close": clientKeepsAlive = false
        default: clientKeepsAlive = isVersion11
        }
        expectsContinue = isVersion11 && headers[WSI_TOKEN_HTTP_EXPECT]?.lowercased() == "100-continue"
    }

    /// Whether another request may follow on this connection.
    var keepsAlive: Bool { clientKeepsAlive && !isEndUnknownToLibrary }

    /// The body to receive; nil if there is none. Valid if there is no ``refusal(limit:)``.
    func body(limit: Int) -> RequestBody? {
        if isChunked { return .chunked(ChunkedBody(limit: limit)) }
        guard let byteCount, byteCount > 0 else { return nil }
        return .counted(byteCount: byteCount)
    }

    /// The size of the body by `Content-Length`; nil without that header.
    var byteCount: Int? {
        if case .bytes(let count) = length { return count }
        return nil
    }

    private var isChunked: Bool { transferEncoding == "chunked" }

    /// Whether libwebsockets cannot tell where the request ends and the next one begins.
    private var isEndUnknownToLibrary: Bool { byteCount == nil && mayHaveBody }

    /// The response to a request whose body cannot be read; nil if it can.
    func refusal(limit: Int) -> HTTPResponse? {
        if lacksHost { return .refusal(400, "the request lacks Host") }
        switch length {
        case .malformed: return .refusal(400, "the Content-Length is malformed")
        // Both headers at once are a way to smuggle requests past proxies. If the library expects no body, it would
        // read the chunks as the next request.
        case _ where transferEncoding != nil && !(isChunked && isEndUnknownToLibrary):
            return .refusal(411, "the request must say its Content-Length")
        // Neither header: a request without a body (RFC 9112 section 6.3), as `curl -X POST` sends.
        case .absent: return nil
        case .bytes(let count): return count > limit ? .refusal(413, "the body is over \(limit) bytes") : nil
        }
    }

    /// Digits only: no sign, no list, no hexadecimal.
    private static func parse(_ text: String?) -> Length {
        guard let text else { return .absent }
        let digits = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop { $0 == 0x20 || $0 == 0x09 }
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .malformed
        }
        return .bytes(digits.reversed().reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
}
