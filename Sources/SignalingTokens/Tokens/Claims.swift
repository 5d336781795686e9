import JWTKit
import SignalingProtocol

/// What OpenTok's and Vonage's JWTs claim: a client's token and a backend's credentials are told apart by their claims.
///
/// Claims that nobody asks for (`nonce`, `jti`, layout classes) are not read, so they may have any shape.
struct Claims: JWTPayload {
    /// The API key. Some backends hold theirs as a number and sign it so.
    var iss: String?
    var ist: String?
    /// Moments in seconds since 1970, whole or with a fraction.
    var iat: Double?
    var nbf: Double?
    var exp: Double?
    var sessionID: String?
    var role: String?
    var scope: String?
    var connectionData: String?
    var applicationID: String?
    /// What the token is about, said as `sub` or as `subject`; Vonage's SDKs differ in the name. Written as `subject`.
    /// One that is no text is read as the empty one.
    var subjects: [String] = []
    /// Whether there are access rights for paths: only clients' tokens have them. Written as Vonage's SDKs do.
    var hasAccessList = false
    /// Written only.
    var nonce: UInt32?
    /// Written only.
    var jti: String?

    init() {}

    enum CodingKeys: String, CodingKey {
        case iss, ist, iat, nbf, exp, role, scope, nonce, jti, sub, subject, acl
        case applicationID = "application_id"
        case sessionID = "session_id"
        case connectionData = "connection_data"
    }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: CodingKeys.self)
        do {
            iss = try claims.decodeIfPresent(String.self, forKey: .iss)
        } catch DecodingError.typeMismatch {
            iss = String(try claims.decode(UInt64.self, forKey: .iss))
        }
        ist = try claims.decodeIfPresent(String.self, forKey: .ist)
        iat = try claims.decodeIfPresent(Double.self, forKey: .iat)
        nbf = try claims.decodeIfPresent(Double.self, forKey: .nbf)
        exp = try claims.decodeIfPresent(Double.self, forKey: .exp)
        sessionID = try claims.decodeIfPresent(String.self, forKey: .sessionID)
        role = try claims.decodeIfPresent(String.self, forKey: .role)
        scope = try claims.decodeIfPresent(String.self, forKey: .scope)
        connectionData = try claims.decodeIfPresent(String.self, forKey: .connectionData)
        // These three mean nothing to a project with a secret, where no shape of them may spoil a token.
        applicationID = try? claims.decode(String.self, forKey: .applicationID)
        subjects = [.sub, .subject].filter(claims.contains).map { (try? claims.decode(String.self, forKey: $0)) ?? "" }
        hasAccessList = claims.contains(.acl)
    }

    func encode(to encoder: any Encoder) throws {
        var claims = encoder.container(keyedBy: CodingKeys.self)
        try claims.encodeIfPresent(iss, forKey: .iss)
        try claims.encodeIfPresent(ist, forKey: .ist)
        // Moments that we write are whole seconds, and stand there as integers.
        try claims.encodeIfPresent(iat.flatMap(Int64.init(exactly:)), forKey: .iat)
        try claims.encodeIfPresent(exp.flatMap(Int64.init(exactly:)), forKey: .exp)
        try claims.encodeIfPresent(sessionID, forKey: .sessionID)
        try claims.encodeIfPresent(role, forKey: .role)
        try claims.encodeIfPresent(scope, forKey: .scope)
        try claims.encodeIfPresent(connectionData, forKey: .connectionData)
        try claims.encodeIfPresent(nonce, forKey: .nonce)
        try claims.encodeIfPresent(jti, forKey: .jti)
        try claims.encodeIfPresent(applicationID, forKey: .applicationID)
        try claims.encodeIfPresent(subjects.first, forKey: .subject)
        if hasAccessList { try claims.encode(["paths": ["/session/**": [String: String]()]], forKey: .acl) }
    }

    /// jwt-kit's hook for checks that need no clock: all of ours need one, see ``checkDates(now:)``.
    func verify(using algorithm: some JWTAlgorithm) async throws {}

    /// The expiry, which must be there; throws when now is outside of the token's time.
    func checkDates(now: WallTime, allowsExpired: Bool = false) throws(TokenError) -> WallTime {
        guard let exp, let expiry = WallTime(tokenSeconds: exp) else { throw .malformed }
        try TokenLifetime.check(
            issued: moment(iat), notBefore: moment(nbf), expiry: expiry, now: now, allowsExpired: allowsExpired)
        return expiry
    }

    private func moment(_ seconds: Double?) throws(TokenError) -> WallTime? {
        guard let seconds else { return nil }
        guard let moment = WallTime(tokenSeconds: seconds) else { throw .malformed }
        return moment
    }
}
