import ArgumentParser
import Foundation

/// The server that a command talks to.
struct ServerOptions: ParsableArguments {
    @Option(help: "The server's URL (SIGNALBOX_SERVER). (default: \(Self.defaultServer))")
    var server: String?

    private static let defaultServer = "http://127.0.0.1:8080"

    /// - Throws: the exit code 64 for a text that is not the URL of a server.
    func url() throws -> ServerURL {
        let text = server ?? ProcessInfo.processInfo.environment["SIGNALBOX_SERVER"] ?? Self.defaultServer
        guard let url = ServerURL(text) else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "the server's URL is \"\(text)\". Use a URL that begins with http:// or https://, such as "
                    + "\(Self.defaultServer) (--server, SIGNALBOX_SERVER).")
        }
        return url
    }
}

/// The URL of a server: `http`, `https`, `ws` or `wss`, and a host. Without a query and a fragment.
struct ServerURL {
    /// The URL as it was given.
    let text: String
    let host: String
    let port: Int
    private let components: URLComponents

    init?(_ text: String) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            let plain = ["http": "http", "https": "https", "ws": "http", "wss": "https"][scheme],
            let host = components.host, !host.isEmpty, components.query == nil, components.fragment == nil,
            components.port.map((1...65_535).contains) ?? true
        else { return nil }
        self.text = text
        self.host = host
        port = components.port ?? (plain == "https" ? 443 : 80)
        var web = components
        web.scheme = plain
        self.components = web
    }

    /// The URL of a resource, over http or https.
    func resource(_ path: String, query: [(name: String, value: String)] = []) -> URL? {
        var components = components
        while components.path.hasSuffix("/") { components.path.removeLast() }
        components.path += path
        if !query.isEmpty {
            components.queryItems = query.map { URLQueryItem(name: $0.name, value: $0.value) }
        }
        return components.url
    }
}
