/// Checks the raw bytes of a request's head by RFC 9110 and RFC 9112, before libwebsockets parses them.
///
/// libwebsockets 4.1.6 decodes `%0a` in a target before it splits lines, matches methods in any case, and accepts a
/// blank before a header's colon, folded headers, NUL and repeated headers. A proxy in front of the server that reads
/// such a head in another way disagrees with the server about where a request ends or to which host it goes.
///
/// A pure function: it reads bytes and returns a verdict. A verdict on some bytes never changes when more bytes follow,
/// unless it is ``Verdict/incomplete``.
enum RequestHeadCheck {
    enum Verdict: Equatable {
        /// The head is well-formed and ends after this many bytes; a body may follow.
        case accept(headByteCount: Int)
        /// Answer with the fault and close the connection.
        case refuse(RequestFault)
        /// The bytes are well-formed so far, and the head does not end in them.
        case incomplete
    }

    /// The sizes of the whole heads that the bytes begin with, one directly behind the other. A head that announces a
    /// body is the last one, since its body follows.
    static func headByteCounts(in bytes: some RandomAccessCollection<UInt8>) -> [Int] {
        var rest = bytes[...]
        var counts: [Int] = []
        while case .accept(let byteCount) = verdict(on: rest) {
            counts.append(byteCount)
            let head = rest.prefix(byteCount)
            rest = rest.dropFirst(byteCount)
            if mayHaveBody(head) { break }
        }
        return counts
    }

    private static func mayHaveBody(_ head: some RandomAccessCollection<UInt8>) -> Bool {
        let method = head.drop { $0 == 0x0D || $0 == 0x0A }.prefix { $0 != 0x20 }
        guard ["GET", "HEAD"].contains(where: { method.elementsEqual($0.utf8) }) else { return true }
        return !values(of: "content-length", in: head).isEmpty || !values(of: "transfer-encoding", in: head).isEmpty
    }

    /// The values of a header, in their order.
    ///
    /// - Parameters:
    ///   - name: in lower case.
    ///   - head: bytes with the verdict ``Verdict/accept(headByteCount:)``.
    static func values(of name: String, in head: some RandomAccessCollection<UInt8>) -> [[UInt8]] {
        var lines = HeadLines(head)
        var values: [[UInt8]] = []
        var hasBegun = false
        while case .line(let line) = lines.next() {
            guard !line.isEmpty else {
                if hasBegun { break }
                continue
            }
            defer { hasBegun = true }
            guard hasBegun, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            guard line[..<colon].elementsEqual(name.utf8, by: { ($0 | ($0 >= 0x41 && $0 <= 0x5A ? 0x20 : 0)) == $1 })
            else { continue }
            values.append(Array(line[line.index(after: colon)...]))
        }
        return values
    }

    /// - Parameter bytes: the connection's input from the first byte of a request.
    static func verdict(on bytes: some RandomAccessCollection<UInt8>) -> Verdict {
        var lines = HeadLines(bytes)
        var head: HeadFields?
        while true {
            switch lines.next() {
            case .malformed: return .refuse(.malformedLine)
            case .partial(let line):
                // The start of a line can only be judged by its bytes: its end may still make it valid.
                return line.contains(where: isForbidden) ? .refuse(.malformedLine) : .incomplete
            case .line(let line):
                if line.contains(where: isForbidden) { return .refuse(.malformedLine) }
                if var fields = head {
                    guard !line.isEmpty else {
                        if let fault = fields.fault { return .refuse(fault) }
                        return .accept(headByteCount: lines.consumedByteCount)
                    }
                    if let fault = fields.read(line) { return .refuse(fault) }
                    head = fields
                } else if line.isEmpty {
                    // RFC 9112, section 2.2: a server ignores one empty line before a request.
                    guard lines.consumedByteCount == 2 else { return .refuse(.malformedRequestLine) }
                } else {
                    switch RequestLine.read(line) {
                    case .success(let version): head = HeadFields(version: version)
                    case .failure(let fault): return .refuse(fault)
                    }
                }
            }
        }
    }

    /// RFC 9110, section 5.5: no control character but the tab. The request line and the names are checked further.
    private static func isForbidden(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }
}

/// Why the transport refuses a request, as an answer to the client. The texts contain nothing of the request.
enum RequestFault: Error, Equatable, CaseIterable {
    case malformedLine
    case malformedRequestLine
    case unknownMethod
    case malformedTarget
    case controlCharacter
    case malformedVersion
    case unsupportedVersion
    case foldedHeader
    case malformedHeaderName
    case repeatedHeader
    case missingHost
    case malformedHost
    case malformedLength
    case chunkedInVersion10
    case upgradeInVersion10

    var response: HTTPResponse {
        switch self {
        case .malformedLine: .refusal(400, "a line of the head has a control character or does not end with CRLF")
        case .malformedRequestLine: .refusal(400, "the request line is not METHOD TARGET VERSION")
        case .unknownMethod:
            // RFC 9110, section 9.1. Methods are case-sensitive.
            .refusal(501, "use \(HTTPMethod.allCases.map(\.rawValue).joined(separator: ", "))")
        case .malformedTarget: .refusal(400, "the target must begin with / and consist of URL characters")
        case .controlCharacter: .refusal(400, "the target has a control character")
        case .malformedVersion: .refusal(400, "the request line does not end with HTTP/1.1 or HTTP/1.0")
        case .unsupportedVersion: .refusal(505, "use HTTP/1.1 or HTTP/1.0")
        case .foldedHeader: .refusal(400, "a header continues on a second line")
        case .malformedHeaderName: .refusal(400, "a header has no valid name before its colon")
        case .repeatedHeader: .refusal(400, "a header that may appear once is repeated")
        case .missingHost: .refusal(400, "the request lacks Host")
        case .malformedHost: .refusal(400, "the Host header is malformed")
        case .malformedLength: .refusal(400, "the Content-Length is malformed")
        case .chunkedInVersion10: .refusal(400, "HTTP/1.0 has no Transfer-Encoding")
        // RFC 9110, section 7.8: such an upgrade counts as absent.
        case .upgradeInVersion10: .refusal(.upgradeMissing)
        }
    }
}

/// The versions that the transport serves.
enum HTTPVersion: String {
    case version10 = "HTTP/1.0"
    case version11 = "HTTP/1.1"

    /// - Throws: `unsupportedVersion` for another version of HTTP, otherwise `malformedVersion`.
    init(_ bytes: some Collection<UInt8>) throws(RequestFault) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let version = HTTPVersion(rawValue: text) {
            self = version
            return
        }
        let digits = bytes.dropFirst("HTTP/".utf8.count)
        let isVersion =
            text.hasPrefix("HTTP/") && digits.count == 3
            && digits.enumerated().allSatisfy { $0 == 1 ? $1 == UInt8(ascii: ".") : isDigit($1) }
        throw isVersion ? .unsupportedVersion : .malformedVersion
    }
}

/// The lines of a head, each without its CRLF.
private struct HeadLines<Bytes: RandomAccessCollection<UInt8>> {
    enum Next {
        case line(Bytes.SubSequence)
        /// The rest, without a line end.
        case partial(Bytes.SubSequence)
        /// The line ends with a bare LF or has a bare CR (RFC 9112, section 2.2).
        case malformed
    }

    private var rest: Bytes.SubSequence
    private(set) var consumedByteCount = 0

    init(_ bytes: Bytes) { rest = bytes[...] }

    mutating func next() -> Next {
        guard let end = rest.firstIndex(where: { $0 == 0x0D || $0 == 0x0A }) else { return .partial(rest) }
        guard rest[end] == 0x0D else { return .malformed }
        let second = rest.index(after: end)
        guard second != rest.endIndex else { return .partial(rest[..<end]) }
        guard rest[second] == 0x0A else { return .malformed }
        let line = rest[..<end]
        rest = rest[rest.index(after: second)...]
        consumedByteCount += line.count + 2
        return .line(line)
    }
}

/// `METHOD SP TARGET SP VERSION` (RFC 9112, section 3).
private enum RequestLine {
    static func read(_ line: some RandomAccessCollection<UInt8>) -> Result<HTTPVersion, RequestFault> {
        do throws(RequestFault) {
            let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
            guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .malformedRequestLine }
            guard parts[0].allSatisfy(isTokenByte) else { throw .malformedRequestLine }
            let version = try HTTPVersion(parts[2])
            guard HTTPMethod(rawValue: String(decoding: parts[0], as: UTF8.self)) != nil else { throw .unknownMethod }
            try checkTarget(parts[1])
            return .success(version)
        } catch {
            return .failure(error)
        }
    }

    /// RFC 9112, section 3.2.1: a path and perhaps a query. Absolute targets, `*` and authorities are for proxies and
    /// CONNECT. Stricter than RFC 3986 in one point: an encoded control character is refused, too, since libwebsockets
    /// decodes it before it splits lines. More lenient in another: ASCII that URLs must encode is accepted, since
    /// browsers send it.
    private static func checkTarget(_ target: some RandomAccessCollection<UInt8>) throws(RequestFault) {
        guard target.first == UInt8(ascii: "/") else { throw .malformedTarget }
        var index = target.startIndex
        while index != target.endIndex {
            let byte = target[index]
            index = target.index(after: index)
            guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#") else { throw .malformedTarget }
            guard byte == UInt8(ascii: "%") else { continue }
            guard target.distance(from: index, to: target.endIndex) >= 2,
                let high = hexDigit(target[index]), let low = hexDigit(target[target.index(after: index)])
            else { throw .malformedTarget }
            guard !isControl(high << 4 | low) else { throw .controlCharacter }
            index = target.index(index, offsetBy: 2)
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

/// The header lines of one request, as far as the check needs them.
private struct HeadFields {
    /// Headers of which a second one contradicts the first (RFC 9110, section 5.3). Lists such as `Accept` may repeat.
    private static let single: Set<String> = [
        "host", "content-length", "transfer-encoding", "content-type", "authorization", "x-opentok-auth",
        "x-tb-partner-auth", "origin", "sec-websocket-key", "sec-websocket-version",
    ]

    private let version: HTTPVersion
    private var seen: Set<String> = []
    private var hasUpgrade = false

    init(version: HTTPVersion) { self.version = version }

    mutating func read(_ line: some RandomAccessCollection<UInt8>) -> RequestFault? {
        // RFC 9112, section 5.2.
        if line.first == 0x20 || line.first == 0x09 { return .foldedHeader }
        // RFC 9112, section 5.1: no blank between name and colon.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
            line[..<colon].allSatisfy(isTokenByte)
        else { return .malformedHeaderName }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        if name == "upgrade" { hasUpgrade = true }
        guard Self.single.contains(name) else { return nil }
        guard seen.insert(name).inserted else { return .repeatedHeader }
        let value = trimmed(line[line.index(after: colon)...])
        switch name {
        case "host": return HostValue.isValid(value) ? nil : .malformedHost
        case "content-length": return !value.isEmpty && value.allSatisfy(isDigit) ? nil : .malformedLength
        default: return nil
        }
    }

    /// The fault that only shows at the end of the head.
    var fault: RequestFault? {
        switch version {
        // RFC 9112, section 3.2.
        case .version11: seen.contains("host") ? nil : .missingHost
        case .version10:
            // RFC 9112, section 6.1, and RFC 6455, section 4.2.1.
            if seen.contains("transfer-encoding") {
                .chunkedInVersion10
            } else {
                hasUpgrade ? .upgradeInVersion10 : nil
            }
        }
    }

    private func trimmed<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        var value = bytes[...]
        while let byte = value.first, isBlank(byte) { value = value.dropFirst() }
        while let byte = value.last, isBlank(byte) { value = value.dropLast() }
        return value
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// The value of `Host`: a name or an address, and perhaps a port (RFC 9110, section 7.2).
enum HostValue {
    static func isValid(_ value: some RandomAccessCollection<UInt8>) -> Bool {
        guard let first = value.first else { return false }
        let port: any RandomAccessCollection<UInt8>
        if first == UInt8(ascii: "[") {
            guard let end = value.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = value[value.index(after: value.startIndex)..<end]
            guard address.count >= 2, address.allSatisfy(isAddressByte) else { return false }
            let rest = value[value.index(after: end)...]
            if rest.isEmpty { return true }
            guard rest.first == UInt8(ascii: ":") else { return false }
            port = rest.dropFirst()
        } else {
            let colon = value.firstIndex(of: UInt8(ascii: ":")) ?? value.endIndex
            guard colon != value.startIndex, value[..<colon].allSatisfy(isNameByte) else { return false }
            port = value[colon...].dropFirst()
        }
        return port.count <= 5 && port.allSatisfy(isDigit)
    }

    /// Letters, digits and `-._~`. Other characters of RFC 3986's names appear in no host name.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || ":.".utf8.contains(byte)
    }
}

/// RFC 9110, section 5.6.2.
func isTokenByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
