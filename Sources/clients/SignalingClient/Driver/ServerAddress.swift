import SignalingProtocol

/// The WebSocket URL of a server.
struct ServerAddress: Equatable {
    let webSocketURL: String

    /// - Throws: ``SignalingError`` 400 if `text` is not the URL of a server.
    init(_ text: String) throws(SignalingError) {
        let schemes = [
            ("http://", "ws://"), ("https://", "wss://"), ("ws://", "ws://"), ("wss://", "wss://"),
        ]
        for (prefix, scheme) in schemes where text.hasPrefix(prefix) {
            var rest = text.dropFirst(prefix.count)
            while rest.hasSuffix("/") { rest.removeLast() }
            guard !rest.isEmpty, !rest.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" }) else { break }
            webSocketURL = scheme + rest + "/v1/signaling"
            return
        }
        throw SignalingError(
            .invalidParameter, "not a server URL: \(text) (expected http://, https://, ws:// or wss:// with a host)")
    }

    /// The URL with the session in its query, by which a proxy can choose the server (WIRE-17). An ID that is too long
    /// to be valid is left out.
    func webSocketURL(for session: SessionID) -> String {
        let bytes = session.rawValue.utf8
        guard bytes.count <= Limits.sessionIDByteCount else { return webSocketURL }
        var url = webSocketURL + "?sessionId="
        for byte in bytes {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                url.append(character)
            } else {
                url += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return url
    }
}
