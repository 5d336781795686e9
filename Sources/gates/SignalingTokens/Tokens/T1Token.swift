import SignalingCryptography
import SignalingProtocol

/// OpenTok's first form of token (TOK-2): `T1==` and the base64 of `partner_id=KEY&sig=HEX:DATA`, where HEX is the
/// HMAC-SHA1 of the exact bytes of DATA.
public enum T1Token {
    static let prefix = "T1=="

    /// Whether the token begins like a T1 token.
    public static func isOne(_ token: String) -> Bool { token.utf8.starts(with: prefix.utf8) }

    /// Makes a token, signed with the project's first secret.
    ///
    /// - Throws: `otherProject`, `malformed` or `tooLong` for a session ID that is not of this project,
    ///   `connectionDataTooLong`, `userNotValid`, `lifetimeOutOfRange`, `wrongAlgorithm` for an application, which has no secret.
    public static func make(
        _ request: AccessRequest, project: Project, now: WallTime, using generator: inout some RandomNumberGenerator
    ) throws(TokenError) -> String {
        let secret = try project.signingSecret
        let expiry = try request.expirySeconds(apiKey: project.apiKey, now: now)
        var data = "session_id=\(FormEncoding.encoded(request.sessionId.rawValue))"
        data += "&create_time=\(now.wholeSeconds)&expire_time=\(expiry)&role=\(request.role.rawValue)"
        data += "&nonce=\(UInt32.random(in: 0..<1_000_000, using: &generator))&initial_layout_class_list="
        if !request.connectionData.isEmpty {
            data += "&connection_data=\(FormEncoding.encoded(request.connectionData))"
        }
        if let user = request.user { data += "&user=\(FormEncoding.encoded(user.rawValue))" }
        if let history = request.history { data += "&history=\(history.rawValue)" }
        let signature = secret.code(.sha1, of: Array(data.utf8))
        let content = "partner_id=\(project.apiKey)&sig=\(Hexadecimal.text(signature)):\(data)"
        return prefix + Base64.standard(Array(content.utf8))
    }

    /// Returns what the token permits. Checks its signature, its dates and its fields, in this order.
    ///
    /// The order of fields has no meaning. Unknown fields are ignored, and repeated fields are refused. Without
    /// `expire_time` the token lives ``TokenLifetime/standard`` from its `create_time`.
    ///
    /// - Parameter dates: those that count (RES-7).
    /// - Throws: the ``TokenError`` of the first check that fails; `wrongAlgorithm` for an application.
    public static func verify(
        _ token: String, project: Project, now: WallTime, checking dates: TokenDates = .all
    ) throws(TokenError) -> AccessGrant {
        guard token.utf8.count <= Limits.tokenByteCount else { throw .tooLong }
        let secrets = try project.secrets
        guard isOne(token), let content = Base64.decoded(token.utf8.dropFirst(prefix.utf8.count)) else {
            throw .malformed
        }
        // The signature covers the exact bytes behind the colon, so they are never decoded and encoded again.
        guard let colon = content.firstIndex(of: UInt8(ascii: ":")),
            let envelope = FormEncoding.fields(content[..<colon]),
            let apiKey = envelope["partner_id"],
            let signature = envelope["sig"].flatMap({ Hexadecimal.decoded($0.utf8) })
        else { throw .malformed }
        guard apiKey == project.apiKey.rawValue else { throw .otherProject }
        let data = Array(content[(colon + 1)...])
        guard secrets.contains(where: { $0.verifies(signature, .sha1, of: data) }) else { throw .wrongSignature }

        guard let fields = FormEncoding.fields(data) else { throw .malformed }
        let created = try moment(fields["create_time"])
        let expiry = try TokenLifetime.expiry(stated: try moment(fields["expire_time"]), issued: created)
        try TokenLifetime.check(
            issued: created, expiry: expiry, now: now, checking: dates)
        return try AccessGrant(
            .init(
                sessionId: fields["session_id"], role: fields["role"], connectionData: fields["connection_data"],
                user: fields["user"], history: fields["history"], issuedAt: created),
            project: project, expiresAt: expiry)
    }

    /// The moment in a field, in seconds since 1970; `nil` when the field is absent or empty.
    private static func moment(_ field: String?) throws(TokenError) -> WallTime? {
        guard let field, !field.isEmpty else { return nil }
        guard let seconds = Double(field), let moment = WallTime(tokenSeconds: seconds) else { throw .malformed }
        return moment
    }
}
