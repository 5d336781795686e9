/// Decides whether a host in an HTTP header names this machine.
enum LoopbackName {
    /// - Parameter host: with or without a port: `127.0.0.1:8080`, `localhost`, `[::1]:8080`. Nil is not this machine.
    static func matches(_ host: String?) -> Bool {
        guard var name = host?.lowercased()[...] else { return false }
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return false }
            name = name[name.index(after: name.startIndex)..<end]
        } else if let colon = name.firstIndex(of: ":") {
            name = name[..<colon]
        }
        return ServerConfiguration.isLoopback(String(name)) || name.hasSuffix(".localhost")
    }
}
