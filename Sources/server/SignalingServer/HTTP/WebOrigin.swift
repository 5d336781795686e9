import SignalingTransport

/// The origin of a page, as browsers send it in `Origin`: `https://chat.example.org:8443` (RFC 6454, section 6.2).
///
/// Read as a whole: in `http://127.0.0.1:1@evil.example` the host is `evil.example`, and what precedes the `@` is a name
/// and a password. Such a text is no origin.
struct WebOrigin {
    let scheme: String
    /// The host, and the port unless it is the scheme's own: what the same page's requests have in `Host`.
    let authority: String

    /// - Returns: nil for a text that is no origin, and for `null`.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty, parts[0].last == ":", let first = parts[0].utf8.first,
            Self.isLetter(first), parts[0].utf8.dropLast().allSatisfy(Self.isSchemeByte),
            HostValue.isValid(parts[2].utf8)
        else { return nil }
        (scheme, authority) = (String(parts[0].dropLast()), String(parts[2]))
    }

    /// Whether the page comes from a web server on this machine.
    var isOfThisMachine: Bool { ["http", "https"].contains(scheme) && LoopbackName.matches(authority) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// RFC 3986, section 3.1.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: isLetter(byte)
        }
    }
}
