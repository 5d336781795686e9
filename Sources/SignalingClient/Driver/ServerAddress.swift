import SignalingProtocol

/// A server's URL, as the WebSocket that it stands for.
struct ServerAddress: Equatable {
    let webSocketURL: String

    /// - Throws: 400 for what is not a URL of a server.
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
        throw SignalingError(.invalidParameter, "not a server's URL: \(text)")
    }
}
