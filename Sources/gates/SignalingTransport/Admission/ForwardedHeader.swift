/// The `for` parameters of the header `Forwarded` (RFC 7239).
///
/// Strict, since the last proxy only appends to the client's own text: a quoted string that does not end would swallow
/// the proxy's part.
enum ForwardedHeader {
    enum Node: Equatable {
        case address(PeerAddress)
        /// `unknown`, an invented name such as `_hidden`, or an element without `for`.
        case hidden
    }

    /// - Parameter value: repeated headers joined with commas, in their order.
    /// - Returns: one node for each element, the client's first; nil if the value is malformed.
    static func nodes(_ value: some Collection<UInt8>) -> [Node]? {
        var parser = Parser(rest: Array(value)[...])
        return parser.elements()
    }

    private struct Parser {
        var rest: ArraySlice<UInt8>

        /// A list may have empty elements (RFC 9110, section 5.6.1).
        mutating func elements() -> [Node]? {
            var nodes: [Node] = []
            while true {
                skipBlanks()
                if let byte = rest.first, byte != UInt8(ascii: ",") {
                    guard let node = element() else { return nil }
                    nodes.append(node)
                    skipBlanks()
                }
                if rest.isEmpty { return nodes }
                guard rest.popFirst() == UInt8(ascii: ",") else { return nil }
            }
        }

        /// `[ pair ] *( ";" [ pair ] )`. A parameter appears at most once.
        private mutating func element() -> Node? {
            var names: Set<String> = []
            var node = Node.hidden
            while true {
                if let byte = rest.first, isTokenByte(byte) {
                    let name = String(decoding: token(), as: UTF8.self).lowercased()
                    guard names.insert(name).inserted, rest.popFirst() == UInt8(ascii: "="), let value = value()
                    else { return nil }
                    if name == "for" {
                        guard let found = Self.node(value) else { return nil }
                        node = found
                    }
                }
                guard rest.first == UInt8(ascii: ";") else { return node }
                rest.removeFirst()
            }
        }

        private mutating func token() -> ArraySlice<UInt8> {
            let token = rest.prefix(while: isTokenByte)
            rest = rest[token.endIndex...]
            return token
        }

        /// A token or a quoted string.
        private mutating func value() -> [UInt8]? {
            guard rest.first == UInt8(ascii: "\"") else {
                let token = token()
                return token.isEmpty ? nil : Array(token)
            }
            rest.removeFirst()
            var text: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return text
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst(), !isControl(escaped) else { return nil }
                    text.append(escaped)
                case _ where isControl(byte): return nil
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

        /// RFC 7239, section 6: an address and perhaps a port. IPv6 addresses stand in brackets.
        private static func node(_ bytes: [UInt8]) -> Node? {
            let text = Substring(decoding: bytes, as: UTF8.self)
            let name: Substring
            let port: Substring
            if text.first == "[" {
                guard let end = text.firstIndex(of: "]") else { return nil }
                (name, port) = (text[...end], text[text.index(after: end)...])
            } else {
                let colon = text.firstIndex(of: ":") ?? text.endIndex
                (name, port) = (text[..<colon], text[colon...])
            }
            guard port.isEmpty || (port.first == ":" && isPort(port.dropFirst())) else { return nil }
            if name.lowercased() == "unknown" || isInvented(name) { return .hidden }
            if name.first == "[" {
                return name.contains(":") ? PeerAddress(literal: name.dropFirst().dropLast()).map(Node.address) : nil
            }
            return PeerAddress(literal: name).map(Node.address)
        }

        private static func isPort(_ text: Substring) -> Bool {
            isInvented(text) || ((1...5).contains(text.utf8.count) && text.utf8.allSatisfy(isDigit))
        }

        /// `_` and letters, digits, `.`, `_` or `-` (RFC 7239, section 6.3).
        private static func isInvented(_ text: Substring) -> Bool {
            text.hasPrefix("_") && text.utf8.count > 1
                && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "._-".utf8.contains($0) }
        }
    }
}
