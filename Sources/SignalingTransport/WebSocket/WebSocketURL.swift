/// The parts of a `ws` or `wss` URL (RFC 6455, section 3).
struct WebSocketURL: Equatable {
    let isSecure: Bool
    /// Without the brackets of an IPv6 address.
    let host: String
    let port: Int
    /// With its query; at least "/".
    let path: String

    init(_ text: String) throws(TransportError) {
        func invalid(_ why: String) -> TransportError {
            TransportError(.invalidURL, "this is no WebSocket URL (ws://host:port/path): \(why)")
        }
        guard let schemeEnd = text.range(of: "://") else { throw invalid("it has no scheme") }
        switch text[..<schemeEnd.lowerBound].lowercased() {
        case "ws": isSecure = false
        case "wss": isSecure = true
        default: throw invalid("the scheme is neither ws nor wss")
        }
        let rest = text[schemeEnd.upperBound...]
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw invalid("it has blanks or bare Unicode in it")
        }
        guard !rest.contains("#") else { throw invalid("it has a fragment") }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        let tail = rest[authorityEnd...]
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        guard !authority.contains("@") else { throw invalid("it has a user in it") }

        let portText: Substring?
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { throw invalid("a bracket is open") }
            host = String(authority[authority.index(after: authority.startIndex)..<bracket])
            let after = authority[authority.index(after: bracket)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw invalid("the port is malformed") }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = String(parts[0])
            portText = parts.count > 1 ? parts[1] : nil
        }
        guard !host.isEmpty else { throw invalid("it has no host") }
        if let portText {
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
                (1...65_535).contains(number)
            else { throw invalid("the port is malformed") }
            port = number
        } else {
            port = isSecure ? 443 : 80
        }
    }

    /// The `Host` header.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

extension String {
    /// Where `other` begins and ends, without Foundation.
    fileprivate func range(of other: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(other) { return start..<index(start, offsetBy: other.count) }
            start = index(after: start)
        }
        return nil
    }
}
