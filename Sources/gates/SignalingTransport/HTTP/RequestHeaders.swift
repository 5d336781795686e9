import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads the headers of a request. libwebsockets keeps them until the response is complete, or until the upgrade.
struct RequestHeaders {
    let wsi: OpaquePointer

    /// The headers that an exchange keeps. libwebsockets finds those that it knows by token, others by name.
    static let kept: [(name: String, token: lws_token_indexes?)] = [
        ("accept", WSI_TOKEN_HTTP_ACCEPT), ("accept-encoding", WSI_TOKEN_HTTP_ACCEPT_ENCODING),
        ("accept-language", WSI_TOKEN_HTTP_ACCEPT_LANGUAGE),
        ("access-control-request-headers", WSI_TOKEN_HTTP_AC_REQUEST_HEADERS),
        ("authorization", WSI_TOKEN_HTTP_AUTHORIZATION), ("content-type", WSI_TOKEN_HTTP_CONTENT_TYPE),
        ("forwarded", nil), ("host", WSI_TOKEN_HOST), ("if-modified-since", WSI_TOKEN_HTTP_IF_MODIFIED_SINCE),
        ("if-none-match", WSI_TOKEN_HTTP_IF_NONE_MATCH), ("origin", WSI_TOKEN_ORIGIN),
        ("referer", WSI_TOKEN_HTTP_REFERER), ("user-agent", WSI_TOKEN_HTTP_USER_AGENT),
        ("via", WSI_TOKEN_HTTP_VIA), ("x-forwarded-for", WSI_TOKEN_X_FORWARDED_FOR), ("x-forwarded-host", nil),
        ("x-forwarded-proto", nil), ("x-opentok-auth", nil), ("x-real-ip", WSI_TOKEN_HTTP_X_REAL_IP),
        ("x-request-id", nil), ("x-tb-partner-auth", nil),
    ]

    /// The kept headers that a proxy adds to the requests that it passes on.
    static let ofProxies = [
        "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    ]

    var method: HTTPMethod? {
        for (token, method) in Self.methods where length(token) > 0 { return method }
        return nil
    }

    /// Decoded and normalized, without the query; nil if the method is unknown.
    var path: String? {
        for (token, _) in Self.methods where length(token) > 0 { return self[token] }
        return nil
    }

    var query: [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        while let text = fragment(pairs.count) {
            // By bytes, as in `listElements`: every handshake of a client that names its session has a query.
            let utf8 = text.utf8
            let end = utf8.firstIndex(of: UInt8(ascii: "=")) ?? utf8.endIndex
            let value = end < utf8.endIndex ? text[utf8.index(after: end)...] : ""
            pairs.append((String(text[..<end]), String(value)))
        }
        return pairs
    }

    func length(_ token: lws_token_indexes) -> Int { Int(lws_hdr_total_length(wsi, token)) }

    /// A header that libwebsockets has a token for; nil if it is absent or empty. Repeated headers are joined with
    /// commas.
    subscript(_ token: lws_token_indexes) -> String? {
        let length = length(token)
        guard length > 0 else { return nil }
        // Space for the commas between fragments, and for the NUL.
        return read(capacity: length * 2 + 2) { lws_hdr_copy(wsi, $0, $1, token) }
    }

    /// A header that libwebsockets has no token for; nil if it is absent or empty.
    subscript(_ name: String) -> String? {
        let key = name + ":"
        let keyLength = Int32(key.utf8.count)
        let length = lws_hdr_custom_length(wsi, key, keyLength)
        guard length > 0 else { return nil }
        return read(capacity: Int(length) + 2) { lws_hdr_custom_copy(wsi, $0, $1, key, keyLength) }
    }

    /// What is wrong with the request, as far as the headers show it that libwebsockets has parsed. Unlike
    /// ``RequestHeadCheck`` it needs no raw bytes, so it also covers TLS and the later requests of a connection.
    var fault: RequestFault? {
        let version: HTTPVersion
        // After `%0a` in a target the library parses the rest of the line as headers, so the version is missing.
        do throws(RequestFault) { version = try HTTPVersion((self[WSI_TOKEN_HTTP] ?? "").utf8) } catch { return error }
        if path?.utf8.contains(where: isControl) == true { return .controlCharacter }
        if query.contains(where: { $0.utf8.contains(where: isControl) || $1.utf8.contains(where: isControl) }) {
            return .controlCharacter
        }
        for token in Self.single where length(token) > 0 {
            if lws_hdr_fragment_length(wsi, token, 1) > 0 { return .repeatedHeader }
            if hasNUL(token) { return .malformedLine }
        }
        // libwebsockets keeps blanks around a value, which have no meaning (RFC 9110, section 5.5).
        if let host = self[WSI_TOKEN_HOST], !HostValue.isValid(withoutBlanks(host[...].utf8).utf8) {
            return .malformedHost
        }
        if version == .version10, length(WSI_TOKEN_UPGRADE) > 0 { return .upgradeInVersion10 }
        return nil
    }

    /// Headers that may appear once.
    private static let single = [
        WSI_TOKEN_HOST, WSI_TOKEN_HTTP_CONTENT_LENGTH, WSI_TOKEN_HTTP_TRANSFER_ENCODING, WSI_TOKEN_HTTP_CONTENT_TYPE,
        WSI_TOKEN_HTTP_AUTHORIZATION, WSI_TOKEN_ORIGIN, WSI_TOKEN_KEY, WSI_TOKEN_VERSION,
    ]

    /// Whether a header that appears once has a NUL, at which C cuts it.
    private func hasNUL(_ token: lws_token_indexes) -> Bool {
        let capacity = length(token) + 2
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            guard let base = buffer.baseAddress else { return true }
            let count = lws_hdr_copy(wsi, base, Int32(capacity), token)
            return count < 0 || strlen(base) != Int(count)
        }
    }

    func keptHeaders() -> [String: String] {
        var headers: [String: String] = [:]
        for (name, token) in Self.kept {
            if let value = token.flatMap({ self[$0] }) ?? self[name] { headers[name] = value }
        }
        return headers
    }

    private func fragment(_ index: Int) -> String? {
        let length = Int(lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_URI_ARGS, Int32(index)))
        return read(capacity: length + 2) {
            lws_hdr_copy_fragment(wsi, $0, $1, WSI_TOKEN_HTTP_URI_ARGS, Int32(index))
        }
    }

    private func read(capacity: Int, _ copy: (UnsafeMutablePointer<CChar>, Int32) -> Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            guard let base = buffer.baseAddress, copy(base, Int32(capacity)) >= 0 else { return nil }
            return String(cString: base)
        }
    }

    private static let methods: [(lws_token_indexes, HTTPMethod)] = [
        (WSI_TOKEN_GET_URI, .get), (WSI_TOKEN_POST_URI, .post), (WSI_TOKEN_PUT_URI, .put),
        (WSI_TOKEN_PATCH_URI, .patch), (WSI_TOKEN_DELETE_URI, .delete), (WSI_TOKEN_HEAD_URI, .head),
        (WSI_TOKEN_OPTIONS_URI, .options),
    ]
}

/// A decoded path as RFC 3986 writes it (section 3.3): characters that a path cannot have are percent-encoded.
func usualSpelling(_ path: String) -> String {
    var bytes: [UInt8] = []
    for byte in path.utf8 {
        if isLetter(byte) || isDigit(byte) || "-._~!$&'()*+,;=:@/".utf8.contains(byte) {
            bytes.append(byte)
        } else {
            bytes += [UInt8(ascii: "%"), hexadecimalDigit(byte >> 4), hexadecimalDigit(byte & 15)]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}

/// The elements of a comma-separated header, without the blanks around them (RFC 9110, section 5.6.1).
///
/// By bytes: comparing characters costs a hundred times as much, and every handshake has two such headers.
func listElements(_ value: String) -> [Substring] {
    value.utf8.split(separator: UInt8(ascii: ",")).map(withoutBlanks).filter { !$0.isEmpty }
}

private func withoutBlanks(_ bytes: Substring.UTF8View) -> Substring {
    var rest = bytes
    while let byte = rest.first, isBlank(byte) { rest.removeFirst() }
    while let byte = rest.last, isBlank(byte) { rest.removeLast() }
    return Substring(rest)
}
