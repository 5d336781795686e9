import SignalingProtocol

/// Vonage's form of token (TOK-7): a JWT in RS256 with the application's private key.
public enum ApplicationToken {
    static let subject = "video"

    /// Makes a token, signed with the application's private key.
    ///
    /// - Throws: `otherProject`, `malformed` or `tooLong` for a session ID that is not of this application,
    ///   `connectionDataTooLong`, `userNotValid`, `lifetimeOutOfRange`.
    public static func make(
        _ request: AccessRequest, application: Application, now: WallTime,
        using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        var claims = Claims(of: application, now: now, using: &generator)
        claims.exp = Double(try request.expirySeconds(apiKey: application.project.apiKey, now: now))
        claims.sessionId = request.sessionId.rawValue
        claims.role = request.role.rawValue
        claims.scope = ProjectJWT.scope
        claims.subjects = [subject]
        claims.hasAccessList = true
        claims.connectionData = request.connectionData.isEmpty ? nil : request.connectionData
        claims.user = request.user?.rawValue
        claims.history = request.history?.rawValue
        return try JSONWebToken.sign(claims, with: .rs256(application.privateKey.key))
    }

    /// Returns what the token permits. Checks its algorithm, signature, dates and claims, in this order.
    ///
    /// `application_id` and `session_id` are required, and so is `exp` or `iat`: without `exp` the token lives
    /// ``TokenLifetime/standard`` from `iat`. `scope`, `sub` and `subject`, if present, must be `session.connect`, `video`
    /// and `video`.
    ///
    /// - Parameter dates: those that count (RES-7).
    /// - Throws: the ``TokenError`` of the first check that fails; `wrongAlgorithm` for a project with a secret.
    public static func verify(
        _ token: String, project: Project, now: WallTime, checking dates: TokenDates = .all
    ) throws(TokenError) -> AccessGrant {
        guard token.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        guard case .application = project.key else { throw .wrongAlgorithm }
        let claims = try JSONWebToken.open(token, project: project)
        guard claims.applicationID == project.apiKey.rawValue else { throw .otherProject }
        let expiry = try claims.checkDates(now: now, checking: dates)
        guard claims.scope ?? ProjectJWT.scope == ProjectJWT.scope, claims.subjects.allSatisfy({ $0 == subject })
        else { throw .wrongPurpose }
        return try AccessGrant(claims, project: project, expiresAt: expiry)
    }
}

extension Claims {
    /// The claims that all tokens and credentials of an application share.
    init(of application: Application, now: WallTime, using generator: inout some RandomNumberGenerator) {
        self.init()
        applicationID = application.project.apiKey.rawValue
        iat = Double(now.wholeSeconds)
        jti = RandomText.uuid(using: &generator)
    }
}
