import SignalingProtocol

/// Makes and reads session ids: OpenTok's shape, checked by reading alone (`docs/PROTOCOL.md`, TOK-1).
///
/// An id is `1_` or `2_` and base64 of fields joined with `~`: version `1`, API key, location, creation time in ms,
/// random text, a mode letter, empty fields. OpenTok's SDKs read the API key out of field 1 and refuse ids that lack it.
public enum SessionIDCodec {
    /// What an id says about itself.
    public struct Content: Hashable, Sendable {
        public let apiKey: APIKey
        /// Nil in OpenTok's oldest ids, which hold a date in words.
        public let createdAt: WallTime?
    }

    /// A new id of the project, with 128 random bits. Whoever can guess an id still needs a token for it.
    public static func make(
        for project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) -> SessionID {
        let random = RandomText.make(using: &generator)
        let content = "1~\(project.apiKey)~~\(now.milliseconds)~\(random)~P~~"
        return SessionID("1_" + Base64.urlSafe(Array(content.utf8)))
    }

    /// Reads both alphabets of base64, with padding or without.
    ///
    /// Throws `tooLong` over `Limits.sessionIDByteCount`, else `malformed`.
    public static func read(_ id: SessionID) throws(TokenError) -> Content {
        let bytes = id.rawValue.utf8
        guard bytes.count <= Limits.sessionIDByteCount else { throw .tooLong }
        guard id.rawValue.hasPrefix("1_") || id.rawValue.hasPrefix("2_"),
            // White space is fine inside a token, but a name has to be the same text everywhere.
            !bytes.contains(where: { $0 <= UInt8(ascii: " ") }),
            let decoded = Base64.decoded(bytes.dropFirst(2)), let content = String(validating: decoded, as: UTF8.self)
        else { throw .malformed }
        let fields = content.split(separator: "~", omittingEmptySubsequences: false)
        guard fields.count >= 5, fields[0] == "1", !fields[1].isEmpty else { throw .malformed }
        return Content(
            apiKey: APIKey(String(fields[1])), createdAt: Int64(fields[3]).map(WallTime.init(milliseconds:)))
    }
}

/// Random text.
enum RandomText {
    /// A UUID of version 4 (RFC 9562): 122 random bits.
    static func makeUUID(using generator: inout some RandomNumberGenerator) -> String {
        var digits = Array(make(using: &generator).utf8)
        digits[12] = UInt8(ascii: "4")
        // The variant: binary 10 in the two highest bits of this digit.
        digits[16] = Array("89ab".utf8)[Int(Hexadecimal.digit(digits[16]) ?? 0) % 4]
        for place in [20, 16, 12, 8] { digits.insert(UInt8(ascii: "-"), at: place) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// 128 random bits in hex.
    static func make(using generator: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            let bits: UInt64 = generator.next()
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
        }
        return Hexadecimal.text(bytes)
    }
}
