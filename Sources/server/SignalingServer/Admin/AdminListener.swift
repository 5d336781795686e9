/// The listener for operators: metrics, health, administration, and a page that shows them.
public struct AdminListener: Sendable, Hashable {
    /// The address to listen on. Default `127.0.0.1`.
    public var host: String
    /// 0 picks a free port.
    public var port: Int
    /// What a client has to send as a bearer token. Required on an address that other machines can reach.
    public var token: String?

    public init(host: String = "127.0.0.1", port: Int, token: String? = nil) {
        self.host = host
        self.port = port
        self.token = token
    }
}
