import SignalingProtocol

/// An application (Vonage) as its backend sees it: an id, and the private key that signs for it.
///
/// A server needs only its ``project``. The private key appears in no description, dump or log.
public struct Application: Sendable {
    /// What verifies it.
    public let project: Project
    let privateKey: RSAPrivateKey

    /// Nil when the id is not a UUID.
    public init?(id: String, privateKey: RSAPrivateKey) {
        guard let project = Project(applicationID: id, publicKey: privateKey.publicKey) else { return nil }
        self.project = project
        self.privateKey = privateKey
    }
}

/// Vonage's form of token (`docs/PROTOCOL.md`, TOK-7): a JWT in RS256 with the application's private key.
public enum ApplicationToken {
    static let subject = "video"

    /// A token for the session, signed by the application.
    ///
    /// Throws `otherProject` or `malformed` for a session id that is not the application's, `connectionDataTooLong`,
    /// `lifetimeOutOfRange`.
    public static func make(
        _ request: AccessRequest, application: Application, now: WallTime,
        using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        var claims = Claims(of: application, now: now, using: &generator)
        claims.exp = Double(try request.expirySeconds(apiKey: application.project.apiKey, now: now))
        claims.sessionID = request.sessionID.rawValue
        claims.role = request.role.rawValue
        claims.scope = ProjectJWT.scope
        claims.subjects = [subject]
        claims.hasAccessList = true
        claims.connectionData = request.connectionData.isEmpty ? nil : request.connectionData
        return try JSONWebToken.sign(claims, with: RS256Signer(key: application.privateKey))
    }

    /// What the token permits, after its algorithm, signature, dates and claims have been checked, in this order.
    ///
    /// `application_id`, `exp` and `session_id` must be there; `scope`, `sub` and `subject`, if there, must be
    /// `session.connect`, `video` and `video`. Throws `wrongAlgorithm` for a project that is no application.
    /// With `allowsExpired` its expiry is not looked at.
    public static func verify(
        _ token: String, project: Project, now: WallTime, allowsExpired: Bool = false
    ) throws(TokenError) -> AccessGrant {
        guard token.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        guard case .application = project.key else { throw .wrongAlgorithm }
        let claims = try JSONWebToken.open(token, project: project)
        guard claims.applicationID == project.apiKey.rawValue else { throw .otherProject }
        let expiry = try claims.checkDates(now: now, allowsExpired: allowsExpired)
        guard claims.scope ?? ProjectJWT.scope == ProjectJWT.scope, claims.subjects.allSatisfy({ $0 == subject })
        else { throw .wrongPurpose }
        return try AccessGrant(
            sessionID: claims.sessionID, apiKey: project.apiKey, role: claims.role,
            connectionData: claims.connectionData, expiresAt: expiry)
    }
}

extension Claims {
    /// What all that an application signs has in common.
    init(of application: Application, now: WallTime, using generator: inout some RandomNumberGenerator) {
        self.init()
        applicationID = application.project.apiKey.rawValue
        iat = Double(now.wholeSeconds)
        jti = RandomText.makeUUID(using: &generator)
    }
}
