import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How long a request's body is, by its headers, and whether the connection goes on after it (RFC 9112, sections 6, 9).
///
/// Stricter than libwebsockets 4.1.6, which takes `Content-Length: -1` for an endless body, a missing one for 100 MiB,
/// and what follows a chunked one for the next request.
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
    let keepsAlive: Bool
    let wantsContinue: Bool
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
        // A length that is there counts by `atoll`; a POST, PUT or PATCH without one counts as 100 MiB.
        libraryReadsBody = text.map { atoll($0) != 0 } ?? mayHaveBody
        let isVersion11 = headers[WSI_TOKEN_HTTP]?.hasPrefix("HTTP/1.1") ?? false
        lacksHost = isVersion11 && headers.length(WSI_TOKEN_HOST) == 0
        // As the library decides it, since that closes or does not.
        switch headers[WSI_TOKEN_CONNECTION]?.lowercased() {
        case "keep-alive": keepsAlive = true
        case "close": keepsAlive = false
        default: keepsAlive = isVersion11
        }
        wantsContinue = isVersion11 && headers[WSI_TOKEN_HTTP_EXPECT]?.lowercased() == "100-continue"
    }

    var byteCount: Int? {
        if case .bytes(let count) = length { return count }
        return nil
    }

    var isChunked: Bool { transferEncoding == "chunked" }

    /// Whether libwebsockets does not know where the request ends, so that no other can follow on this connection.
    var endIsOurs: Bool { byteCount == nil && mayHaveBody }

    /// The answer to a request that cannot be read on, or nil.
    func refusal(limit: Int) -> HTTPResponse? {
        if lacksHost { return .refusal(400, "the request lacks Host") }
        switch length {
        case .malformed: return .refusal(400, "the Content-Length is malformed")
        // Both at once is how requests are smuggled past proxies; and where no body is expected, what follows a chunked
        // one would be taken for the next request.
        case _ where transferEncoding != nil && !(isChunked && endIsOurs):
            return .refusal(411, "the request must say its Content-Length")
        // Neither: a request without a body (RFC 9112 section 6.3), as of `curl -X POST`.
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
