import SignalingProtocol

/// The permissions in a verified token. Everything that the server knows about a client comes from here (G8).
public struct AccessGrant: Hashable, Sendable {
    public let sessionId: SessionID
    public let apiKey: APIKey
    public let role: Role
    /// At most `Limits.connectionDataLength` UTF-16 units; empty when the token has none.
    public let connectionData: String
    /// When the token expires. No connection can be opened later, give or take ``TokenLifetime/clockSkew``.
    public let expiresAt: WallTime
    /// What the token says of the session's history; `nil` if it says nothing (HIS-8).
    public let history: HistoryClaim?

    /// The first moment at which the token has expired, ``TokenLifetime/clockSkew`` included.
    public var validUntil: WallTime {
        WallTime(milliseconds: expiresAt.milliseconds + TokenLifetime.clockSkew.wholeMilliseconds)
    }
}

extension AccessGrant {
    /// The checks that all forms of token share: session, role (TOK-4), length of the connection data.
    init(
        sessionId: String?, apiKey: APIKey, role: String?, connectionData: String?, expiresAt: WallTime,
        history: String?
    ) throws(TokenError) {
        guard let sessionId, !sessionId.isEmpty else { throw .malformed }
        let roleName = role ?? ""
        // OpenTok's SDK for .NET writes the names of roles in capital letters.
        guard let role = roleName.isEmpty ? .publisher : Role(rawValue: roleName.lowercased()) else {
            throw .unknownRole
        }
        let connectionData = connectionData ?? ""
        guard connectionData.utf16.count <= Limits.connectionDataLength else { throw .connectionDataTooLong }
        self.init(
            sessionId: SessionID(sessionId), apiKey: apiKey, role: role, connectionData: connectionData,
            expiresAt: expiresAt,
            // An unknown word must not grant what its author may have wanted to forbid.
            history: history.map { HistoryClaim(rawValue: $0) ?? .none })
    }
}

/// A token's permission to read the history of its session (HIS-8).
public enum HistoryClaim: String, Hashable, Sendable, CaseIterable {
    case all
    case none
}
