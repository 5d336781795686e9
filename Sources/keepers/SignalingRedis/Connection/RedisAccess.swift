/// What the settings say of all connections to Redis, beside the addresses.
public struct RedisAccess: Hashable, Sendable {
    /// A PEM file with the certificates that are trusted; `nil`: those of the system.
    public var trustedFile: String?
    /// A PEM file with the certificate of this client and its chain, if Redis asks for one.
    public var certificateFile: String?
    /// A PEM file with the private key of this certificate.
    public var keyFile: String?
    /// The name that the certificate of Redis must be for, if it is not that of the address.
    public var serverName: String?

    /// The user that signs in at the Sentinels; `nil`: their default user.
    public var sentinelUser: String?
    /// `nil`: the Sentinels want none.
    public var sentinelPassword: String?

    public init() {}
}

extension RedisAccess: CustomReflectable, CustomStringConvertible {
    /// Without the password.
    public var description: String { "RedisAccess(\(serverName ?? "the host's name"))" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
