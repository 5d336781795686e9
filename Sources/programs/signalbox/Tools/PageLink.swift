import SignalingProtocol

/// What a link to the page carries in its fragment. `web-test-client/page/page-link.js` reads it.
enum PageLink {
    /// The page exchanges it for session, API key and token (REST-7).
    case code(String)
    case token(String, session: String, key: String)

    var fragment: String {
        switch self {
        case .code(let code): "code=\(Self.escaped(code))"
        case .token(let token, let session, let key):
            [("session", session), ("key", key), ("token", token)].map { "\($0)=\(Self.escaped($1))" }
                .joined(separator: "&")
        }
    }

    /// Escapes everything but the unreserved characters of RFC 3986, so that no program that passes a link on changes
    /// it.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved =
                character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isUnreserved
                ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
