import SignalingProtocol

/// OpenTok's second form of token, its SDKs' default now (`docs/PROTOCOL.md`, TOK-3): a JWT in HS256 with the project's
/// secret.
public enum ProjectJWT {
    static let issuerType = "project"
    static let scope = "session.connect"

    /// A token for the session, signed by the project.
    ///
    /// Throws `otherProject` or `malformed` for a session id that is not the project's, `connectionDataTooLong`,
    /// `lifetimeOutOfRange`, and `wrongAlgorithm` for an application, which has no secret.
    public static func make(
        _ request: AccessRequest, project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        let secret = try project.signingSecret
        var claims = Claims()
        claims.iss = project.apiKey.rawValue
        claims.ist = issuerType
        claims.exp = Double(try request.expirySeconds(apiKey: project.apiKey, now: now))
        claims.iat = Double(now.wholeSeconds)
        claims.sessionID = request.sessionID.rawValue
        claims.role = request.role.rawValue
        claims.scope = scope
        claims.nonce = UInt32.random(in: 0..<1_000_000, using: &generator)
        claims.connectionData = request.connectionData.isEmpty ? nil : request.connectionData
        return try JSONWebToken.sign(claims, with: HS256(secret: secret))
    }

    /// What the token permits, after its algorithm, signature, dates and claims have been checked, in this order.
    ///
    /// `exp` and `session_id` must be there; `ist` and `scope`, if there, must be `project` and `session.connect`.
    /// With `allowsExpired` its expiry is not looked at.
    public static func verify(
        _ token: String, project: Project, now: WallTime, allowsExpired: Bool = false
    ) throws(TokenError) -> AccessGrant {
        guard token.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        _ = try project.secrets
        let claims = try JSONWebToken.open(token, project: project)
        guard claims.iss == project.apiKey.rawValue else { throw .otherProject }
        let expiry = try claims.checkDates(now: now, allowsExpired: allowsExpired)
        guard claims.ist ?? issuerType == issuerType, claims.scope ?? scope == scope else { throw .wrongPurpose }
        return try AccessGrant(
            sessionID: claims.sessionID, apiKey: project.apiKey, role: claims.role,
            connectionData: claims.connectionData, expiresAt: expiry)
    }
}
