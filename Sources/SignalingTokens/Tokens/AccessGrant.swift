import SignalingProtocol

/// What a verified token permits: everything that the server knows about a client comes from here (G8).
public struct AccessGrant: Hashable, Sendable {
    public let sessionID: SessionID
    public let apiKey: APIKey
    public let role: Role
    /// At most `Limits.connectionDataLength` UTF-16 units; empty when the token has none.
    public let connectionData: String
    /// No new connection is opened after this, give or take ``TokenLifetime/clockSkew``.
    public let expiresAt: WallTime

    /// Whether no new connection may be opened with it any more.
    public func isExpired(now: WallTime) -> Bool { TokenLifetime.isOver(expiresAt, now: now) }
}

/// What a token is to permit.
public struct AccessRequest: Hashable, Sendable {
    public var sessionID: SessionID
    public var role: Role
    /// Said to everybody in the session about the client. At most `Limits.connectionDataIssued` UTF-16 units.
    public var connectionData: String
    /// Above zero, at most ``TokenLifetime/longest``; whole seconds count.
    public var lifetime: Duration

    public init(
        sessionID: SessionID, role: Role = .publisher, connectionData: String = "",
        lifetime: Duration = TokenLifetime.standard
    ) {
        self.sessionID = sessionID
        self.role = role
        self.connectionData = connectionData
        self.lifetime = lifetime
    }

    /// The moment of expiry in whole seconds; throws when the request cannot be granted by this project.
    func expirySeconds(apiKey: APIKey, now: WallTime) throws(TokenError) -> Int64 {
        guard try SessionIDCodec.read(sessionID).apiKey == apiKey else { throw .otherProject }
        guard connectionData.utf16.count <= Limits.connectionDataIssued else { throw .connectionDataTooLong }
        guard lifetime >= .seconds(1), lifetime <= TokenLifetime.longest else { throw .lifetimeOutOfRange }
        return now.wholeSeconds + lifetime.components.seconds
    }
}
