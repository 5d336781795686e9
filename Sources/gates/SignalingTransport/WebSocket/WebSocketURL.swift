/// The parts of a `ws` or `wss` URL (RFC 6455, section 3).
struct WebSocketURL: Equatable {
    let isSecure: Bool
    /// An IPv6 address has no brackets here.
    let host: String
    let port: Int
    /// With the query; at least "/".
    let path: String

    init(_ text: String) throws(TransportError) {
        func invalid(_ why: String) -> TransportError {
            // A URL with a user may contain a password, so the message does not repeat it.
            let shown = text.contains("@") ? "" : " \(text.debugDescription)"
            return TransportError(
                .invalidURL, "The WebSocket URL\(shown) \(why). Use ws://host:port/path or wss://host:port/path.")
        }
        guard let schemeEnd = text.range(of: "://") else { throw invalid("has no scheme") }
        switch text[..<schemeEnd.lowerBound].lowercased() {
        case "ws": isSecure = false
        case "wss": isSecure = true
        default: throw invalid("has a scheme other than ws and wss")
        }
        let rest = text[schemeEnd.upperBound...]
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw invalid("contains blanks or characters outside ASCII")
        }
        guard !rest.contains("#") else { throw invalid("has a fragment") }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        let tail = rest[authorityEnd...]
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        guard !authority.contains("@") else { throw invalid("contains a user name") }

        let portText: Substring?
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { throw invalid("has a [ without a ]") }
            host = String(authority[authority.index(after: authority.startIndex)..<bracket])
            let after = authority[authority.index(after: bracket)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw invalid("has a port that is not 1 to 65535") }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = String(parts[0])
            portText = parts.count > 1 ? parts[1] : nil
        }
        guard !host.isEmpty else { throw invalid("has no host") }
        if let portText {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
                (1...65_535).contains(number)
            else { throw invalid("has a port that is not 1 to 65535") }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
    }

    /// The value of the `Host` header.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

extension String {
    /// The first occurrence of `other`; Foundation's method without Foundation.
    fileprivate func range(of other: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(other) { return start..<index(start, offsetBy: other.count) }
            start = index(after: start)
        }
        return nil
    }
}
