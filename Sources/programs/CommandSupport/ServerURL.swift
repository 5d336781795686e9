import FoundationEssentials

/// The URL of a server: `http`, `https`, `ws` or `wss`, and a host. Without a query and a fragment.
package struct ServerURL {
    /// The URL as it was given.
    package let text: String
    package let host: String
    package let port: Int
    private let components: URLComponents

    package init?(_ text: String) {
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
    package func resource(_ path: String, query: [(name: String, value: String)] = []) -> URL? {
        var components = components
        while components.path.hasSuffix("/") { components.path.removeLast() }
        components.path += path
        if !query.isEmpty {
            components.queryItems = query.map { URLQueryItem(name: $0.name, value: $0.value) }
        }
        return components.url
    }
}
