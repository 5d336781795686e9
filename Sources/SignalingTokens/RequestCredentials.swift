import SignalingProtocol

/// What a backend shows with a REST request: `X-OPENTOK-AUTH`, a JWT in HS256 with the project's secret
/// (`docs/PROTOCOL.md`, REST-1).
public enum RequestCredentials {
    /// Credentials for one request, or several within ``TokenLifetime/request``.
    public static func make(
        project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        var claims = Claims()
        claims.iss = project.apiKey.rawValue
        claims.ist = ProjectJWT.issuerType
        claims.iat = Double(now.wholeSeconds)
        claims.exp = Double(now.wholeSeconds + TokenLifetime.request.components.seconds)
        claims.jti = RandomText.make(using: &generator)
        return try JSONWebToken.sign(claims, secret: project.secret)
    }

    /// Throws unless these are credentials of this project, in time.
    ///
    /// Only `ist` = `project` is accepted. OpenTok's `account` is signed with an account's secret, which no project has.
    /// A client's token is signed with the same secret and has the same issuer, and every client holds one: whatever
    /// names a session, a role or a scope is refused, or each client could act as the backend.
    static func verify(_ token: JSONWebToken.Parts, project: Project, now: WallTime) throws(TokenError) {
        try token.verify(secret: project.secret)
        let claims = try token.claims()
        guard claims.iss == project.apiKey.rawValue else { throw .otherProject }
        _ = try claims.checkDates(now: now)
        guard claims.iat != nil else { throw .malformed }
        guard claims.ist == ProjectJWT.issuerType, claims.sessionID == nil, claims.role == nil, claims.scope == nil,
            claims.connectionData == nil
        else { throw .wrongPurpose }
    }
}
