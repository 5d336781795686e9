/// The bytes of a token that its signature covers.
///
/// Its holder can write the rest in many ways: with white space, in another alphabet of Base64, with other digits in
/// upper case. A limit per token must count all of these as one token.
public enum SignedContent {
    /// - Parameter token: a token that was verified; of another text all bytes count.
    public static func of(_ token: String) -> [UInt8] {
        if T1Token.isOne(token), let content = Base64.decoded(token.utf8.dropFirst(T1Token.prefix.utf8.count)),
            let colon = content.firstIndex(of: UInt8(ascii: ":"))
        {
            return Array(content[(colon + 1)...])
        }
        let bytes = Array(token.utf8)
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return bytes }
        return Array(bytes[..<dot])
    }
}
