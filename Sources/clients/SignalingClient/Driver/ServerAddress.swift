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
}
