/// `METHOD SP TARGET SP VERSION` (RFC 9112, section 3).
struct RequestLine {
    let methodRange: Range<Int>
    let target: RequestTarget
    /// The path of the target as the client has spelled it, without the query.
    let path: String
    let version: HTTPVersion
    /// RFC 9110, sections 9.3.1 and 9.3.2: a body has no meaning there, so a request has one only if its head says so.
    let usuallyHasBody: Bool

    init(_ line: HeadBytes) throws(RequestFault) {
        let blanks = line.indices.filter { line[$0] == 0x20 }
        guard blanks.count == 2, blanks[0] > 0, blanks[1] > blanks[0] + 1, blanks[1] + 1 < line.count else {
            throw .malformedRequestLine
        }
        let method = line.part(0..<blanks[0])
        guard method.allSatisfy(isTokenByte) else { throw .malformedRequestLine }
        version = try HTTPVersion(line.part((blanks[1] + 1)..<line.count))
        guard let known = HTTPMethod(rawValue: String(decoding: method, as: UTF8.self)) else { throw .unknownMethod }
        usuallyHasBody = known != .get && known != .head
        methodRange = 0..<blanks[0]
        let range = (blanks[0] + 1)..<blanks[1]
        target = try RequestTarget(line, in: range)
        let spelled =
            switch target {
            case .origin: line.part(range)
            case .absolute(_, let path): line.part(path)
            }
        let end = spelled.firstIndex(of: UInt8(ascii: "?")) ?? spelled.count
        path = end == 0 ? "/" : String(decoding: spelled.part(0..<end), as: UTF8.self)
    }
}

/// The form of a request's target (RFC 9112, section 3.2). Authorities are for CONNECT, and `*` is for OPTIONS.
enum RequestTarget: Equatable {
    /// A path and perhaps a query.
    case origin
    /// A URL, as clients send it to proxies. A server must accept it, too (section 3.2.2). The ranges of the request line:
    /// its host and port, and what follows them, which may be empty or begin with the query.
    case absolute(host: Range<Int>, path: Range<Int>)

    private static let schemes = [Array("http://".utf8), Array("https://".utf8)]

    /// Stricter than RFC 3986 in one point: an encoded control character is refused, too, since libwebsockets decodes it
    /// before it splits lines. More lenient in another: ASCII that URLs must encode is accepted, since browsers send it.
    ///
    /// - Parameters:
    ///   - line: a request line.
    ///   - range: that of the target, not empty.
    init(_ line: HeadBytes, in range: Range<Int>) throws(RequestFault) {
        let target = line.part(range)
        guard target.first != UInt8(ascii: "/") else {
            try Self.check(target)
            self = .origin
            return
        }
        guard
            let scheme = Self.schemes.first(where: { $0.count < target.count && target.part(0..<$0.count).isName($0) })
        else { throw .malformedTarget }
        let host = target.part(scheme.count..<target.count)
        let hostCount = host.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? host.count
        // User information, which RFC 9110 calls an error (section 4.2.4), has a character that no host has.
        guard HostValue.isValid(host.part(0..<hostCount)) else { throw .malformedTarget }
        try Self.check(host.part(hostCount..<host.count))
        let path = range.lowerBound + scheme.count + hostCount
        self = .absolute(host: (range.lowerBound + scheme.count)..<path, path: path..<range.upperBound)
    }

    private static func check(_ target: HeadBytes) throws(RequestFault) {
        var index = 0
        while index < target.count {
            let byte = target[index]
            index += 1
            guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#") else { throw .malformedTarget }
            guard byte == UInt8(ascii: "%") else { continue }
            guard target.count - index >= 2, let high = hexDigit(target[index]), let low = hexDigit(target[index + 1])
            else { throw .malformedTarget }
            guard !isControl(high << 4 | low) else { throw .controlCharacter }
            index += 2
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The bytes of a head or of a part of it. Every connection passes this check, and slices of generic collections cost
/// ten times as much here.
typealias HeadBytes = UnsafeBufferPointer<UInt8>

extension HeadBytes {
    func part(_ range: Range<Int>) -> HeadBytes { HeadBytes(rebasing: self[range]) }

    /// Whether the bytes are this name, in any case.
    ///
    /// - Parameter name: in lower case.
    func isName(_ name: [UInt8]) -> Bool {
        count == name.count && elementsEqual(name) { ($0 | (($0 >= 0x41 && $0 <= 0x5A) ? 0x20 : 0)) == $1 }
    }
}
