import SignalingProtocol

/// The permissions in a verified token. Everything that the server knows about a client comes from here (G8).
public struct AccessGrant: Hashable, Sendable {
    public let sessionId: SessionID
    public let apiKey: APIKey
    public let role: Role
    /// At most `Limits.connectionDataLength` UTF-16 units; empty when the token has none.
    public let connectionData: String
    /// The user whom the token names; `nil` for a guest (USR-1).
    public var user: UserID? { origin.user }
    /// When the token expires. No connection can be opened later, give or take ``TokenLifetime/clockSkew``.
    public let expiresAt: WallTime
    /// What the token says of the session's history; `nil` if it says nothing (HIS-8).
    public let history: HistoryClaim?
    /// By what the token can be revoked.
    public let origin: TokenOrigin

    /// The first moment at which the token has expired, ``TokenLifetime/clockSkew`` included.
    public var validUntil: WallTime {
        WallTime(milliseconds: expiresAt.milliseconds + TokenLifetime.clockSkew.wholeMilliseconds)
    }
}

extension AccessGrant {
    /// What a token says, in whatever form, before it is checked.
    struct Content {
        var sessionId: String?
        var role: String?
        var connectionData: String?
        var user: String?
        var history: String?
        var issuedAt: WallTime?
        var tokenID: String?
    }

    /// The checks that all forms of token share: session, role (TOK-4), length of the connection data, user (USR-1).
    init(_ content: Content, project: Project, expiresAt: WallTime) throws(TokenError) {
        guard let sessionId = content.sessionId, !sessionId.isEmpty else { throw .malformed }
        let roleName = content.role ?? ""
        // OpenTok's SDK for .NET writes the names of roles in capital letters.
        guard let role = roleName.isEmpty ? .publisher : Role(rawValue: roleName.lowercased()) else {
            throw .unknownRole
        }
        let connectionData = content.connectionData ?? ""
        guard connectionData.utf16.count <= Limits.connectionDataLength else { throw .connectionDataTooLong }
        let user = try content.user.map(Self.user) ?? project.userSource?.user(in: connectionData)
        self.init(
            sessionId: SessionID(sessionId), apiKey: project.apiKey, role: role, connectionData: connectionData,
            expiresAt: expiresAt,
            // An unknown word must not grant what its author may have wanted to forbid.
            history: content.history.map { HistoryClaim(rawValue: $0) ?? .none },
            origin: TokenOrigin(issuedAt: content.issuedAt, user: user, tokenID: content.tokenID))
    }

    /// A user that a token names itself. Another user than its author meant must not speak for the client.
    private static func user(_ text: String) throws(TokenError) -> UserID {
        guard UserID.isValid(text) else { throw .userNotValid }
        return UserID(text)
    }
}

/// A token's permission to read the history of its session (HIS-8).
public enum HistoryClaim: String, Hashable, Sendable, CaseIterable {
    case all
    case none
}
