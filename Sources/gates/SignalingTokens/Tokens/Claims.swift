import SignalingProtocol

/// The claims of OpenTok's and Vonage's JWTs. They distinguish a client's token from a backend's credentials.
///
/// Other claims (`nonce`, layout classes) are not read, so they may have any type.
struct Claims: Codable {
    /// The API key. Some backends write it as a number.
    var iss: String?
    var ist: String?
    /// `iat`, `nbf` and `exp`: seconds since 1970, whole or fractional.
    var iat: Double?
    var nbf: Double?
    var exp: Double?
    var sessionId: String?
    var role: String?
    var scope: String?
    var connectionData: String?
    /// Connection data under the name that Vonage's Ruby SDK gives it. Counts when there is no ``connectionData``. A
    /// value that is not a string is read as absent. Never written.
    var data: String?
    /// The user ID (USR-1). A value that is not a string is read as the empty string, which is no user ID.
    var user: String?
    /// The permission to read the session's history (HIS-8). A value that is not a string permits nothing, but
    /// `null` says nothing.
    var history: String?
    var applicationID: String?
    /// The values of `sub` and `subject`: Vonage's SDKs differ in the name. Written as `subject`. A value that is not a
    /// string is read as the empty string.
    var subjects: [String] = []
    /// Whether there is an `acl` with access rights for paths. Only clients' tokens have one. Written as Vonage's SDKs
    /// do.
    var hasAccessList = false
    /// Written only.
    var nonce: UInt32?
    /// The token's name, by which it can be revoked (TOK-10). A value that is not a string is read as absent: for
    /// OpenTok it has no meaning.
    var jti: String?

    init() {}

    enum CodingKeys: String, CodingKey {
        case iss, ist, iat, nbf, exp, role, scope, nonce, jti, sub, subject, acl, data, user, history
        case applicationID = "application_id"
        case sessionId = "session_id"
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
        sessionId = try claims.decodeIfPresent(String.self, forKey: .sessionId)
        role = try claims.decodeIfPresent(String.self, forKey: .role)
        scope = try claims.decodeIfPresent(String.self, forKey: .scope)
        connectionData = try claims.decodeIfPresent(String.self, forKey: .connectionData)
        data = try? claims.decode(String.self, forKey: .data)
        jti = try? claims.decode(String.self, forKey: .jti)
        // Some backends write null for what is absent. Any other value that is not a string is one that is not valid.
        func statement(_ key: CodingKeys) -> String? {
            let isThere = claims.contains(key) && !((try? claims.decodeNil(forKey: key)) ?? false)
            return isThere ? (try? claims.decode(String.self, forKey: key)) ?? "" : nil
        }
        (user, history) = (statement(.user), statement(.history))
        // A project with a secret does not use these three, so a wrong type must not make its token invalid.
        applicationID = try? claims.decode(String.self, forKey: .applicationID)
        subjects = [.sub, .subject].filter(claims.contains).map { (try? claims.decode(String.self, forKey: $0)) ?? "" }
        hasAccessList = claims.contains(.acl)
    }

    func encode(to encoder: any Encoder) throws {
        var claims = encoder.container(keyedBy: CodingKeys.self)
        try claims.encodeIfPresent(iss, forKey: .iss)
        try claims.encodeIfPresent(ist, forKey: .ist)
        // This package writes whole seconds, as integers.
        try claims.encodeIfPresent(iat.flatMap(Int64.init(exactly:)), forKey: .iat)
        try claims.encodeIfPresent(exp.flatMap(Int64.init(exactly:)), forKey: .exp)
        try claims.encodeIfPresent(sessionId, forKey: .sessionId)
        try claims.encodeIfPresent(role, forKey: .role)
        try claims.encodeIfPresent(scope, forKey: .scope)
        try claims.encodeIfPresent(connectionData, forKey: .connectionData)
        try claims.encodeIfPresent(user, forKey: .user)
        try claims.encodeIfPresent(history, forKey: .history)
        try claims.encodeIfPresent(nonce, forKey: .nonce)
        try claims.encodeIfPresent(jti, forKey: .jti)
        try claims.encodeIfPresent(applicationID, forKey: .applicationID)
        try claims.encodeIfPresent(subjects.first, forKey: .subject)
        if hasAccessList { try claims.encode(["paths": ["/session/**": [String: String]()]], forKey: .acl) }
    }

    /// Returns the expiry of a client's token. Throws `malformed` for a time that cannot be a date, `undated`, `expired`
    /// or `notYetValid` by ``TokenLifetime``.
    func checkDates(now: WallTime, checking dates: TokenDates = .all) throws(TokenError) -> WallTime {
        let issued = try moment(iat)
        let expiry = try TokenLifetime.expiry(stated: try moment(exp), issued: issued)
        try TokenLifetime.check(
            issued: issued, notBefore: moment(nbf), expiry: expiry, now: now, checking: dates)
        return expiry
    }

    /// `nil` also for a time that cannot be a date, which ``checkDates(now:checking:)`` refuses.
    var issuedAt: WallTime? { iat.flatMap(WallTime.init(tokenSeconds:)) }

    private func moment(_ seconds: Double?) throws(TokenError) -> WallTime? {
        guard let seconds else { return nil }
        guard let moment = WallTime(tokenSeconds: seconds) else { throw .malformed }
        return moment
    }
}

extension AccessGrant {
    /// The permissions in the claims of a JWT whose signature, dates and purpose were checked.
    init(_ claims: Claims, project: Project, expiresAt: WallTime) throws(TokenError) {
        try self.init(
            Content(
                sessionId: claims.sessionId, role: claims.role, connectionData: claims.connectionData ?? claims.data,
                user: claims.user, history: claims.history, issuedAt: claims.issuedAt, tokenID: claims.jti),
            project: project, expiresAt: expiresAt)
    }
}
