import SignalingProtocol

/// The contents of a token to make.
public struct AccessRequest: Hashable, Sendable {
    public var sessionId: SessionID
    public var role: Role
    /// Text about the client for every client of the session. At most `Limits.connectionDataIssued` UTF-16 units.
    public var connectionData: String
    /// The user whom the token names: 1 to `Limits.userIDLength` UTF-16 units without control characters. Default:
    /// `nil`, a guest.
    public var user: UserID?
    /// From 1 second to ``TokenLifetime/longest``, cut to whole seconds. The default is ``TokenLifetime/standard``.
    public var lifetime: Duration
    /// Whether the client may read the session's history; `nil` leaves it to the server (HIS-8). Default: `nil`.
    public var history: HistoryClaim?

    public init(
        sessionId: SessionID, role: Role = .publisher, connectionData: String = "", user: UserID? = nil,
        lifetime: Duration = TokenLifetime.standard, history: HistoryClaim? = nil
    ) {
        self.sessionId = sessionId
        self.role = role
        self.connectionData = connectionData
        self.user = user
        self.lifetime = lifetime
        self.history = history
    }

    /// When the token expires, in whole seconds since 1970.
    ///
    /// - Throws: `otherProject`, `malformed` or `tooLong` for a session ID that is not of this project,
    ///   `connectionDataTooLong`, `userNotValid`, `lifetimeOutOfRange`.
    func expirySeconds(apiKey: APIKey, now: WallTime) throws(TokenError) -> Int64 {
        guard try SessionIDCodec.apiKey(of: sessionId) == apiKey else { throw .otherProject }
        guard connectionData.utf16.count <= Limits.connectionDataIssued else { throw .connectionDataTooLong }
        guard user.map({ UserID.isValid($0.rawValue) }) ?? true else { throw .userNotValid }
        guard lifetime >= .seconds(1), lifetime <= TokenLifetime.longest else { throw .lifetimeOutOfRange }
        return now.wholeSeconds + lifetime.components.seconds
    }
}
