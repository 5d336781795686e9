import SignalingProtocol

/// OpenTok's second form of token, and the default of its SDKs today (TOK-3): a JWT in HS256 with the project's secret.
public enum ProjectJWT {
    static let issuerType = "project"
    static let scope = "session.connect"

    /// Makes a token, signed with the project's first secret.
    ///
    /// - Throws: `otherProject`, `malformed` or `tooLong` for a session ID that is not of this project,
    ///   `connectionDataTooLong`, `userNotValid`, `lifetimeOutOfRange`, `wrongAlgorithm` for an application, which has no secret.
    public static func make(
        _ request: AccessRequest, project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        let secret = try project.signingSecret
        var claims = Claims()
        claims.iss = project.apiKey.rawValue
        claims.ist = issuerType
        claims.exp = Double(try request.expirySeconds(apiKey: project.apiKey, now: now))
        claims.iat = Double(now.wholeSeconds)
        claims.sessionId = request.sessionId.rawValue
        claims.role = request.role.rawValue
        claims.scope = scope
        claims.nonce = UInt32.random(in: 0..<1_000_000, using: &generator)
        claims.connectionData = request.connectionData.isEmpty ? nil : request.connectionData
        claims.user = request.user?.rawValue
        claims.history = request.history?.rawValue
        return try JSONWebToken.sign(claims, with: .hs256(secret))
    }

    /// Returns what the token permits. Checks its algorithm, signature, dates and claims, in this order.
    ///
    /// `session_id` is required, and so is `exp` or `iat`: without `exp` the token lives ``TokenLifetime/standard`` from
    /// `iat`. `ist` and `scope`, if present, must be `project` and `session.connect`.
    ///
    /// - Parameter dates: those that count (RES-7).
    /// - Throws: the ``TokenError`` of the first check that fails; `wrongAlgorithm` for an application.
    public static func verify(
        _ token: String, project: Project, now: WallTime, checking dates: TokenDates = .all
    ) throws(TokenError) -> AccessGrant {
        guard token.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        _ = try project.secrets
        let claims = try JSONWebToken.open(token, project: project)
        guard claims.iss == project.apiKey.rawValue else { throw .otherProject }
        let expiry = try claims.checkDates(now: now, checking: dates)
        guard claims.ist ?? issuerType == issuerType, claims.scope ?? scope == scope else { throw .wrongPurpose }
        return try AccessGrant(claims, project: project, expiresAt: expiry)
    }
}
