/// Where a Redis or a Sentinel listens.
package struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// An IP address, or a name.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
