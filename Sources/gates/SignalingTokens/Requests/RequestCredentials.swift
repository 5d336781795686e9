import SignalingCryptography
import SignalingProtocol

/// A backend's credentials for REST requests (REST-1): a JWT, in HS256 with a project's secret or in RS256 with an
/// application's private key.
public enum RequestCredentials {
    /// The subject that Vonage's SDK for Ruby writes into the credentials of every backend.
    private static let rubySubject = "Subject"

    /// The request headers that may hold credentials; `nil` for an absent one.
    ///
    /// The first header that is present counts, in the order of declaration. If it is wrong, the others are not tried.
    public struct Headers: Sendable {
        /// `X-OPENTOK-AUTH`: a project's JWT.
        public var openTokAuth: String?
        /// `Authorization`: `Bearer` and an application's JWT.
        public var authorization: String?
        /// `X-TB-PARTNER-AUTH`: `key:secret`, obsolete. Counts only when the server permits it.
        public var partnerAuth: String?

        public init(openTokAuth: String? = nil, authorization: String? = nil, partnerAuth: String? = nil) {
            self.openTokAuth = openTokAuth
            self.authorization = authorization
            self.partnerAuth = partnerAuth
        }
    }

    /// Makes a value for `X-OPENTOK-AUTH`, valid for ``TokenLifetime/request``.
    ///
    /// - Throws: `wrongAlgorithm` for an application, which has no secret.
    public static func make(
        project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        let secret = try project.signingSecret
        var claims = Claims()
        claims.iss = project.apiKey.rawValue
        claims.ist = ProjectJWT.issuerType
        claims.iat = Double(now.wholeSeconds)
        claims.exp = Double(now.wholeSeconds + TokenLifetime.request.components.seconds)
        claims.jti = RandomText.bits128(using: &generator)
        return try JSONWebToken.sign(claims, with: .hs256(secret))
    }

    /// Makes the token for `Authorization: Bearer …`, valid for ``TokenLifetime/request``.
    public static func make(
        application: Application, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        var claims = Claims(of: application, now: now, using: &generator)
        claims.exp = Double(now.wholeSeconds + TokenLifetime.request.components.seconds)
        return try JSONWebToken.sign(claims, with: .rs256(application.privateKey.key))
    }

    /// Throws unless these are valid credentials of this project or application, and not expired.
    ///
    /// `ist` must be `project`, in the claims or, as in OpenTok's Ruby SDK, in the header. An application may leave it
    /// out. OpenTok's `account` is signed with an account's secret, which no project has. An application's credentials
    /// without `exp` live ``TokenLifetime/undatedRequest`` from `iat`: Vonage's SDKs for Java and .NET write them so.
    ///
    /// A client's token must not act as the backend's credentials, and the same key signs both. So claims of a session,
    /// a role, a scope or connection data are refused, and for an application also `acl`, `sub` and `subject`: clients of
    /// Vonage's other services hold tokens with a user's name there. The one exception is ``rubySubject``.
    static func verify(_ token: JSONWebToken.Parts, project: Project, now: WallTime) throws(TokenError) {
        try token.verify(by: project)
        var claims = try token.claims()
        guard issuer(claims, of: project.key) == project.apiKey.rawValue else { throw .otherProject }
        guard let issued = claims.iat else { throw .malformed }
        switch project.key {
        case .secrets: guard claims.exp != nil else { throw .malformed }
        case .application:
            claims.exp = claims.exp ?? issued + Double(TokenLifetime.undatedRequest.components.seconds)
        }
        _ = try claims.checkDates(now: now)
        guard claims.sessionId == nil, claims.role == nil, claims.scope == nil, claims.connectionData == nil else {
            throw .wrongPurpose
        }
        switch project.key {
        case .secrets:
            guard claims.ist ?? token.issuerType == ProjectJWT.issuerType else { throw .wrongPurpose }
        case .application:
            guard claims.ist ?? ProjectJWT.issuerType == ProjectJWT.issuerType,
                claims.subjects.allSatisfy({ $0 == rubySubject }), !claims.hasAccessList
            else { throw .wrongPurpose }
        }
    }

    private static func issuer(_ claims: Claims, of key: Project.Key) -> String? {
        switch key {
        case .secrets: claims.iss
        case .application: claims.applicationID
        }
    }

    /// The token of an `Authorization: Bearer …` header; `nil` for another scheme. The scheme's case has no meaning
    /// (RFC 9110 section 11.1).
    static func bearer(_ authorization: String) -> Substring? {
        let parts = authorization.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1]
    }

    /// Whether the text is a secret of the project, in a time that reveals nothing about the secret.
    static func isSecret(_ text: some StringProtocol, of project: Project) -> Bool {
        guard case .secrets(let secrets) = project.key else { return false }
        let bytes = Array(text.utf8)
        return secrets.contains { $0.equals(bytes) }
    }
}
