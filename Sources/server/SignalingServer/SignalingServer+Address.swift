extension SignalingServer {
    /// The address on which a server listens.
    public struct Address: Sendable {
        public let host: String
        public let port: Int
        /// Whether it speaks https and wss.
        public let isSecure: Bool
        /// The secret of development mode's project, for backends and tools; `nil` with other projects.
        public let developmentSecret: String?
        /// Where the state of development mode is.
        public let keeping: DevelopmentStorage
        /// The URL of the admin listener; `nil` without one.
        public let adminURL: String?
        /// The URL for a browser: `http://127.0.0.1:8080/`.
        public var url: String { Self.url(host: host, port: port, isSecure: isSecure) }

        /// The URL for a browser on this machine, also of a server that listens on all addresses.
        public var localURL: String {
            Self.url(host: Self.anyHosts.contains(host) ? "127.0.0.1" : host, port: port, isSecure: isSecure)
        }

        /// The URLs for other devices, from the addresses of this machine.
        package func links(at addresses: [String]) -> [String] {
            (Self.anyHosts.contains(host) ? addresses : [host]).map {
                Self.url(host: $0, port: port, isSecure: isSecure)
            }
        }

        /// All addresses of this machine. `::` has the IPv4 addresses, too.
        private static let anyHosts = ["0.0.0.0", "::", "[::]"]

        static func url(host: String, port: Int, isSecure: Bool = false) -> String {
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return "\(isSecure ? "https" : "http")://\(name):\(port)/"
        }
    }
}
