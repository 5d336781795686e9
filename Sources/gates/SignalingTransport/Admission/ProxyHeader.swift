/// The header of HAProxy's PROXY protocol, version 1 or 2, before the first byte of a connection
/// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
///
/// A pure function: it reads bytes and returns a verdict. A verdict on some bytes never changes when more bytes follow,
/// unless it is ``Verdict/incomplete``.
enum ProxyHeader {
    enum Verdict: Equatable {
        /// The header ends after this many bytes. `client` is nil if the proxy speaks for itself (`LOCAL`, a health
        /// check), or does not know the client's IP address (`UNKNOWN`, a Unix socket).
        case complete(byteCount: Int, client: PeerAddress?)
        /// The bytes are well-formed so far, and the header does not end in them.
        case incomplete
        case malformed
    }

    /// The longest header that the server accepts. Version 2 permits 65,551 bytes, but proxies add a few hundred bytes
    /// of further fields at most, such as the name that a TLS client asked for.
    static let byteLimit = 4096

    /// - Parameter bytes: the connection's input from its first byte.
    static func verdict(on bytes: some RandomAccessCollection<UInt8>) -> Verdict {
        if bytes.starts(with: signature) { return verdictOnVersion2(bytes) }
        if bytes.count < signature.count, signature.starts(with: bytes) { return .incomplete }
        return verdictOnVersion1(bytes)
    }

    // MARK: Version 2, binary

    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    /// The signature, then version and command, family and protocol, and the length of the rest in two bytes.
    private static let fixedByteCount = signature.count + 4

    private static func verdictOnVersion2(_ bytes: some RandomAccessCollection<UInt8>) -> Verdict {
        var rest = bytes.dropFirst(signature.count)
        guard let versionAndCommand = rest.popFirst() else { return .incomplete }
        guard versionAndCommand == 0x20 || versionAndCommand == 0x21 else { return .malformed }
        guard let family = rest.popFirst() else { return .incomplete }
        guard family >> 4 <= 3, family & 0x0F <= 2 else { return .malformed }
        guard let high = rest.popFirst() else { return .incomplete }
        guard Int(high) << 8 <= byteLimit - fixedByteCount else { return .malformed }
        guard let low = rest.popFirst() else { return .incomplete }
        let byteCount = fixedByteCount + (Int(high) << 8 | Int(low))
        guard byteCount <= byteLimit else { return .malformed }
        let isLocal = versionAndCommand == 0x20
        let addressByteCount: Int? = isLocal ? nil : [0x11: 4, 0x21: 16][family]
        // The addresses and ports of both ends.
        if let addressByteCount, byteCount < fixedByteCount + 2 * addressByteCount + 4 { return .malformed }
        guard bytes.count >= byteCount else { return .incomplete }
        let client = addressByteCount.flatMap { PeerAddress(networkOrder: Array(rest.prefix($0))) }
        return .complete(byteCount: byteCount, client: client)
    }

    // MARK: Version 1, text

    /// The longest line of version 1, CRLF included.
    private static let lineByteLimit = 107

    private static func verdictOnVersion1(_ bytes: some RandomAccessCollection<UInt8>) -> Verdict {
        let start = "PROXY ".utf8
        guard bytes.starts(with: start.prefix(bytes.count)) else { return .malformed }
        guard let end = bytes.firstIndex(of: 0x0D) else {
            return bytes.count < lineByteLimit ? .incomplete : .malformed
        }
        let lineByteCount = bytes.distance(from: bytes.startIndex, to: end)
        guard lineByteCount + 2 <= lineByteLimit else { return .malformed }
        let behind = bytes[bytes.index(after: end)...]
        guard let last = behind.first else { return .incomplete }
        guard last == 0x0A, bytes[..<end].allSatisfy({ (0x20...0x7E).contains($0) }) else { return .malformed }
        let text = String(decoding: bytes[..<end].dropFirst(start.count), as: UTF8.self)
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let byteCount = lineByteCount + 2
        // What follows UNKNOWN on the line has no meaning.
        if words.first == "UNKNOWN" { return .complete(byteCount: byteCount, client: nil) }
        guard words.count == 5, words[3...].allSatisfy(isPort) else { return .malformed }
        let ends = words[1...2].compactMap { PeerAddress(literal: $0) }
        let isSix = words[0] == "TCP6"
        guard isSix || words[0] == "TCP4", ends.count == 2, words[1...2].allSatisfy({ $0.contains(":") == isSix })
        else { return .malformed }
        return .complete(byteCount: byteCount, client: ends[0])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(text) != nil
            && (text == "0" || !text.hasPrefix("0"))
    }
}
