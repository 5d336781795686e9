import Crypto
import SignalingProtocol

/// What a backend shows with a REST request (`docs/PROTOCOL.md`, REST-1): a JWT, with a project's secret in HS256, with an
/// application's private key in RS256.
public enum RequestCredentials {
    /// The headers that credentials may stand in, each as it came; nil for one that the request does not have.
    ///
    /// The first that is there counts, in the order in which they are declared here: what is wrong in one is not made good
    /// by another.
    public struct Headers: Sendable {
        /// `X-OPENTOK-AUTH`: a project's JWT.
        public var openTokAuth: String?
        /// `Authorization`: `Bearer` and an application's JWT.
        public var authorization: String?
        /// `X-TB-PARTNER-AUTH`: `key:secret`, obsolete. It counts only where the server permits it.
        public var partnerAuth: String?

        public init(openTokAuth: String? = nil, authorization: String? = nil, partnerAuth: String? = nil) {
            self.openTokAuth = openTokAuth
            self.authorization = authorization
            self.partnerAuth = partnerAuth
        }
    }

    /// The value of `X-OPENTOK-AUTH` for one request, or several within ``TokenLifetime/request``.
    ///
    /// Throws `wrongAlgorithm` for an application, which has no secret.
    public static func make(
        project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        let secret = try project.signingSecret
        var claims = Claims()
        claims.iss = project.apiKey.rawValue
        claims.ist = ProjectJWT.issuerType
        claims.iat = Double(now.wholeSeconds)
        claims.exp = Double(now.wholeSeconds + TokenLifetime.request.components.seconds)
        claims.jti = RandomText.make(using: &generator)
        return try JSONWebToken.sign(claims, with: HS256(secret: secret))
    }

    /// What stands behind `Bearer` in `Authorization` for one request, or several within ``TokenLifetime/request``.
    public static func make(
        application: Application, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        var claims = Claims(of: application, now: now, using: &generator)
        claims.exp = Double(now.wholeSeconds + TokenLifetime.request.components.seconds)
        return try JSONWebToken.sign(claims, with: RS256Signer(key: application.privateKey))
    }

    /// Throws unless these are credentials of this project or application, in time.
    ///
    /// Only `ist` = `project` is accepted, among the claims or, as OpenTok's Ruby SDK has it, in the header; an application may leave it out. OpenTok's `account` is signed with an
    /// account's secret, which no project has. A client's token is signed with the same key and has the same issuer, and
    /// every client holds one: whatever names a session, a role, a scope or connection data is refused, and of an
    /// application also what names a subject or access rights, or each client could act as the backend.
    static func verify(_ token: JSONWebToken.Parts, project: Project, now: WallTime) throws(TokenError) {
        try token.verify(by: project)
        let claims = try token.claims()
        guard issuer(claims, of: project.key) == project.apiKey.rawValue else { throw .otherProject }
        _ = try claims.checkDates(now: now)
        guard claims.iat != nil else { throw .malformed }
        guard claims.sessionID == nil, claims.role == nil, claims.scope == nil, claims.connectionData == nil else {
            throw .wrongPurpose
        }
        switch project.key {
        case .secrets:
            guard claims.ist ?? token.issuerType == ProjectJWT.issuerType else { throw .wrongPurpose }
        case .application:
            guard claims.ist ?? ProjectJWT.issuerType == ProjectJWT.issuerType, claims.subjects.isEmpty,
                !claims.hasAccessList
            else { throw .wrongPurpose }
        }
    }

    private static func issuer(_ claims: Claims, of key: Project.Key) -> String? {
        switch key {
        case .secrets: claims.iss
        case .application: claims.applicationID
        }
    }

    /// The JWT of an `Authorization` header; nil for another scheme than `Bearer`, whose case means nothing (RFC 9110
    /// section 11.1).
    static func bearer(_ authorization: String) -> Substring? {
        let parts = authorization.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1]
    }

    /// Whether the text is a secret of the project. Digests are compared, in constant time, so that neither place nor
    /// length of a difference can be measured.
    static func isSecret(_ text: some StringProtocol, of project: Project) -> Bool {
        guard case .secrets(let secrets) = project.key else { return false }
        let shown = Crypto.SHA256.hash(data: Array(text.utf8))
        return secrets.contains { secret in secret.withUnsafeBytes { Crypto.SHA256.hash(data: $0) } == shown }
    }
}
