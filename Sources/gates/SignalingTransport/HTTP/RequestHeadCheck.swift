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

    /// A head that libwebsockets may read.
    struct CheckedHead {
        let byteCount: Int
        /// As the client has spelled it, without the query: libwebsockets decodes `%6d`, and resolves `//` and `..`. Nil
        /// if the head is too long to be checked; libwebsockets refuses it.
        let path: String?
    }

    /// What ``inspect(_:)`` finds.
    struct Findings {
        /// On the first head.
        var verdict: Verdict
        /// The whole heads that the bytes begin with, one directly behind the other, as far as libwebsockets may read them
        /// by itself. A head that announces a body is the last one, since its body follows. So is a first head with an
        /// absolute target; further ones of that form do not count.
        var heads: [CheckedHead] = []
        /// The first head as libwebsockets can read it, if its target is absolute; see ``originForm(of:)``.
        var originForm: [UInt8]?
    }

    static func inspect(_ bytes: UnsafeRawBufferPointer) -> Findings {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var head = read(bytes)
            var findings = Findings(verdict: head.verdict)
            var start = 0
            while case .accept(let byteCount) = head.verdict {
                guard head.isOriginForm else {
                    guard start == 0 else { break }
                    findings.heads = [CheckedHead(byteCount: byteCount, path: head.path)]
                    findings.originForm = originForm(of: bytes.part(0..<byteCount))
                    break
                }
                findings.heads.append(CheckedHead(byteCount: byteCount, path: head.path))
                start += byteCount
                if head.mayHaveBody || start == bytes.count { break }
                head = read(bytes.part(start..<bytes.count))
            }
            return findings
        }
    }

    /// The same request with a path as its target, and with the target's host in place of `Host`, which has no meaning
    /// beside an absolute target (RFC 9112, section 3.2.2).
    ///
    /// - Parameter head: a head with the verdict ``Verdict/accept(headByteCount:)`` and an absolute target.
    private static func originForm(of head: HeadBytes) -> [UInt8]? {
        var lines = HeadLines(head)
        var result: [UInt8] = []
        while case .line(let line) = lines.next() {
            if result.isEmpty {
                // An empty line before the request has no meaning.
                guard !line.isEmpty else { continue }
                guard let request = try? RequestLine(line), case .absolute(let host, let path) = request.target else {
                    return nil
                }
                result += line.part(request.methodRange)
                result.append(UInt8(ascii: " "))
                if line.part(path).first != UInt8(ascii: "/") { result.append(UInt8(ascii: "/")) }
                result += line.part(path)
                result += Array(" \(request.version.rawValue)\r\nHost: ".utf8)
                result += line.part(host)
            } else if isField(Array("host".utf8), line) {
                continue
            } else {
                result += line
            }
            result += Array("\r\n".utf8)
        }
        return result
    }

    /// The sizes of the whole heads that the bytes begin with; see ``inspect(_:)``.
    static func headByteCounts(in bytes: some RandomAccessCollection<UInt8>) -> [Int] {
        withContiguousBytes(of: bytes) { inspect(UnsafeRawBufferPointer($0)).heads.map(\.byteCount) }
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

    private static func values(of name: [UInt8], in head: HeadBytes) -> [[UInt8]] {
        var lines = HeadLines(head)
        var values: [[UInt8]] = []
        var hasBegun = false
        while case .line(let line) = lines.next() {
            guard !line.isEmpty else {
                if hasBegun { break }
                continue
            }
            defer { hasBegun = true }
            guard hasBegun, isField(name, line) else { continue }
            values.append(Array(line.part((name.count + 1)..<line.count)))
        }
        return values
    }

    /// Whether the line is a header of this name, in lower case.
    private static func isField(_ name: [UInt8], _ line: HeadBytes) -> Bool {
        line.count > name.count && line[name.count] == UInt8(ascii: ":") && line.part(0..<name.count).isName(name)
    }

    private static func withContiguousBytes<Result>(
        of bytes: some RandomAccessCollection<UInt8>, _ body: (HeadBytes) -> Result
    ) -> Result {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }

    /// What one pass over the first head of some bytes finds.
    private struct Reading {
        let verdict: Verdict
        /// Only of an accepted head.
        var mayHaveBody = false
        /// Only of an accepted head: its target is a path, not an absolute one.
        var isOriginForm = true
        /// Only of an accepted head.
        var path: String?
    }

    private static func read(_ bytes: HeadBytes) -> Reading {
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
                            verdict: .accept(headByteCount: lines.consumedByteCount), mayHaveBody: fields.mayHaveBody,
                            isOriginForm: fields.isOriginForm, path: fields.path)
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
        case .malformedTarget:
            .refusal(400, "the target must be a path, or a URL with http or https and a host, of URL characters")
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
        case line(HeadBytes)
        /// The rest, without a line end.
        case partial(HeadBytes)
        /// The line ends with a bare LF or has a bare CR (RFC 9112, section 2.2).
        case malformed
    }

    private let bytes: HeadBytes
    private(set) var consumedByteCount = 0

    init(_ bytes: HeadBytes) { self.bytes = bytes }

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

    mutating func read(_ line: HeadBytes) -> RequestFault? {
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

    var isOriginForm: Bool { line.target == .origin }

    var path: String { line.path }

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
    private func value(of line: HeadBytes, behind colon: Int) -> HeadBytes {
        var (start, end) = (colon + 1, line.count)
        while start < end, isBlank(line[start]) { start += 1 }
        while start < end, isBlank(line[end - 1]) { end -= 1 }
        return line.part(start..<end)
    }
}

/// The value of `Host`: a name or an address, and perhaps a port (RFC 9110, section 7.2).
package enum HostValue {
    package static func isValid<Value: Collection<UInt8>>(_ value: Value) -> Bool {
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
