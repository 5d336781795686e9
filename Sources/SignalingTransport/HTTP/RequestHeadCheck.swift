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

    /// The verdict on the first head, and the sizes of the whole heads that the bytes begin with, one directly behind
    /// the other. A head that announces a body is the last one, since its body follows.
    static func inspect(_ bytes: UnsafeRawBufferPointer) -> (verdict: Verdict, headByteCounts: [Int]) {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            let first = read(bytes)
            var counts: [Int] = []
            var (head, start) = (first, 0)
            while case .accept(let byteCount) = head.verdict {
                counts.append(byteCount)
                start += byteCount
                if head.mayHaveBody || start == bytes.count { break }
                head = read(bytes.part(start..<bytes.count))
            }
            return (first.verdict, counts)
        }
    }

    /// The sizes of the whole heads that the bytes begin with; see ``inspect(_:)``.
    static func headByteCounts(in bytes: some RandomAccessCollection<UInt8>) -> [Int] {
        withContiguousBytes(of: bytes) { inspect(UnsafeRawBufferPointer($0)).headByteCounts }
    }

    /// - Parameter bytes: the connection's input from the first byte of a request.
    static func verdict(on bytes: some RandomAccessCollection<UInt8>) -> Verdict {
        withContiguousBytes(of: bytes) { read($0).verdict }
    }

    /// The values of a header, in their order.
    ///
    /// - Parameters:
    ///   - name: in lower case.
    ///   - head: bytes with the verdict ``Verdict/accept(headByteCount:)``.
    static func values(of name: String, in head: some RandomAccessCollection<UInt8>) -> [[UInt8]] {
        withContiguousBytes(of: head) { values(of: Array(name.utf8), in: $0) }
    }

    private static func values(of name: [UInt8], in head: Bytes) -> [[UInt8]] {
        var lines = HeadLines(head)
        var values: [[UInt8]] = []
        var hasBegun = false
        while case .line(let line) = lines.next() {
            guard !line.isEmpty else {
                if hasBegun { break }
                continue
            }
            defer { hasBegun = true }
            guard hasBegun, let colon = line.firstIndex(of: UInt8(ascii: ":")), line.part(0..<colon).isName(name)
            else { continue }
            values.append(Array(line.part((colon + 1)..<line.count)))
        }
        return values
    }

    private static func withContiguousBytes<Result>(
        of bytes: some RandomAccessCollection<UInt8>, _ body: (Bytes) -> Result
    ) -> Result {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }

    /// What one pass over the first head of some bytes finds.
    private struct Reading {
        let verdict: Verdict
        /// Only of an accepted head.
        var mayHaveBody = false
    }

    private static func read(_ bytes: Bytes) -> Reading {
        var lines = HeadLines(bytes)
        var head: HeadFields?
        while true {
            switch lines.next() {
            case .malformed: return Reading(verdict: .refuse(.malformedLine))
            case .partial(let line):
                // The start of a line can only be judged by its bytes: its end may still make it valid.
                return Reading(verdict: line.contains(where: isForbidden) ? .refuse(.malformedLine) : .incomplete)
            case .line(let line):
                if line.contains(where: isForbidden) { return Reading(verdict: .refuse(.malformedLine)) }
                if var fields = head {
                    guard !line.isEmpty else {
                        if let fault = fields.fault { return Reading(verdict: .refuse(fault)) }
                        return Reading(
                            verdict: .accept(headByteCount: lines.consumedByteCount), mayHaveBody: fields.mayHaveBody)
                    }
                    if let fault = fields.read(line) { return Reading(verdict: .refuse(fault)) }
                    head = fields
                } else if line.isEmpty {
                    // RFC 9112, section 2.2: a server ignores one empty line before a request.
                    guard lines.consumedByteCount == 2 else { return Reading(verdict: .refuse(.malformedRequestLine)) }
                } else {
                    do throws(RequestFault) {
                        head = HeadFields(of: try RequestLine(line))
                    } catch {
                        return Reading(verdict: .refuse(error))
                    }
                }
            }
        }
    }

    /// RFC 9110, section 5.5: no control character but the tab. The request line and the names are checked further.
    private static func isForbidden(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }
}

/// The bytes of a head or of a part of it. Every connection passes this check, and slices of generic collections cost
/// ten times as much here.
private typealias Bytes = UnsafeBufferPointer<UInt8>

extension Bytes {
    fileprivate func part(_ range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }

    /// Whether the bytes are this name, in any case.
    ///
    /// - Parameter name: in lower case.
    fileprivate func isName(_ name: [UInt8]) -> Bool {
        count == name.count && elementsEqual(name) { ($0 | (($0 >= 0x41 && $0 <= 0x5A) ? 0x20 : 0)) == $1 }
    }
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
        if bytes.elementsEqual("HTTP/1.1".utf8) {
            self = .version11
            return
        }
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
private struct HeadLines {
    enum Next {
        case line(Bytes)
        /// The rest, without a line end.
        case partial(Bytes)
        /// The line ends with a bare LF or has a bare CR (RFC 9112, section 2.2).
        case malformed
    }

    private let bytes: Bytes
    private(set) var consumedByteCount = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    mutating func next() -> Next {
        var end = consumedByteCount
        while end < bytes.count, bytes[end] != 0x0D, bytes[end] != 0x0A { end += 1 }
        let line = bytes.part(consumedByteCount..<end)
        guard end < bytes.count else { return .partial(line) }
        guard bytes[end] == 0x0D else { return .malformed }
        guard end + 1 < bytes.count else { return .partial(line) }
        guard bytes[end + 1] == 0x0A else { return .malformed }
        consumedByteCount = end + 2
        return .line(line)
    }
}

/// `METHOD SP TARGET SP VERSION` (RFC 9112, section 3).
private struct RequestLine {
    let version: HTTPVersion
    /// RFC 9110, sections 9.3.1 and 9.3.2: a body has no meaning there, so a request has one only if its head says so.
    let usuallyHasBody: Bool

    init(_ line: Bytes) throws(RequestFault) {
        let blanks = line.indices.filter { line[$0] == 0x20 }
        guard blanks.count == 2, blanks[0] > 0, blanks[1] > blanks[0] + 1, blanks[1] + 1 < line.count else {
            throw .malformedRequestLine
        }
        let method = line.part(0..<blanks[0])
        guard method.allSatisfy(isTokenByte) else { throw .malformedRequestLine }
        version = try HTTPVersion(line.part((blanks[1] + 1)..<line.count))
        guard let known = HTTPMethod(rawValue: String(decoding: method, as: UTF8.self)) else { throw .unknownMethod }
        usuallyHasBody = known != .get && known != .head
        try Self.checkTarget(line.part((blanks[0] + 1)..<blanks[1]))
    }

    /// RFC 9112, section 3.2.1: a path and perhaps a query. Absolute targets, `*` and authorities are for proxies and
    /// CONNECT. Stricter than RFC 3986 in one point: an encoded control character is refused, too, since libwebsockets
    /// decodes it before it splits lines. More lenient in another: ASCII that URLs must encode is accepted, since
    /// browsers send it.
    private static func checkTarget(_ target: Bytes) throws(RequestFault) {
        guard target.first == UInt8(ascii: "/") else { throw .malformedTarget }
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

/// The header lines of one request, as far as the check needs them.
private struct HeadFields {
    /// Headers of which a second one contradicts the first (RFC 9110, section 5.3). Lists such as `Accept` may repeat.
    private enum Single: String, CaseIterable {
        case host
        case contentLength = "content-length"
        case transferEncoding = "transfer-encoding"
        case contentType = "content-type"
        case authorization
        case openTokAuth = "x-opentok-auth"
        case partnerAuth = "x-tb-partner-auth"
        case origin
        case key = "sec-websocket-key"
        case version = "sec-websocket-version"
    }

    private static let single = Single.allCases.map { (header: $0, name: Array($0.rawValue.utf8)) }
    private static let upgrade = Array("upgrade".utf8)

    private let line: RequestLine
    private var seen: [Single] = []
    private var hasUpgrade = false

    init(of line: RequestLine) { self.line = line }

    mutating func read(_ line: Bytes) -> RequestFault? {
        // RFC 9112, section 5.2.
        if line.first == 0x20 || line.first == 0x09 { return .foldedHeader }
        // RFC 9112, section 5.1: no blank between name and colon.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return .malformedHeaderName }
        let name = line.part(0..<colon)
        guard name.allSatisfy(isTokenByte) else { return .malformedHeaderName }
        if name.isName(Self.upgrade) { hasUpgrade = true }
        guard let header = Self.single.first(where: { name.isName($0.name) })?.header else { return nil }
        guard !seen.contains(header) else { return .repeatedHeader }
        seen.append(header)
        switch header {
        case .host: return HostValue.isValid(value(of: line, behind: colon)) ? nil : .malformedHost
        case .contentLength:
            let value = value(of: line, behind: colon)
            return !value.isEmpty && value.allSatisfy(isDigit) ? nil : .malformedLength
        case .transferEncoding, .contentType, .authorization, .openTokAuth, .partnerAuth, .origin, .key, .version:
            return nil
        }
    }

    var mayHaveBody: Bool {
        line.usuallyHasBody || seen.contains(.contentLength) || seen.contains(.transferEncoding)
    }

    /// The fault that only shows at the end of the head.
    var fault: RequestFault? {
        switch line.version {
        // RFC 9112, section 3.2.
        case .version11: seen.contains(.host) ? nil : .missingHost
        case .version10:
            // RFC 9112, section 6.1, and RFC 6455, section 4.2.1.
            if seen.contains(.transferEncoding) {
                .chunkedInVersion10
            } else {
                hasUpgrade ? .upgradeInVersion10 : nil
            }
        }
    }

    /// Without the blanks around it.
    private func value(of line: Bytes, behind colon: Int) -> Bytes {
        var (start, end) = (colon + 1, line.count)
        while start < end, isBlank(line[start]) { start += 1 }
        while start < end, isBlank(line[end - 1]) { end -= 1 }
        return line.part(start..<end)
    }
}

/// The value of `Host`: a name or an address, and perhaps a port (RFC 9110, section 7.2).
enum HostValue {
    static func isValid<Value: Collection<UInt8>>(_ value: Value) -> Bool {
        guard let first = value.first else { return false }
        let port: Value.SubSequence
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
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isLetter(byte) || isDigit(byte)
        }
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }
}

/// RFC 9110, section 5.6.2.
func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
        UInt8(ascii: "~"):
        true
    default: isLetter(byte) || isDigit(byte)
    }
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

/// RFC 9110, section 5.6.3.
func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
