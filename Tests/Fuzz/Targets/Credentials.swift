import SignalingCryptography
import SignalingProtocol

@testable import SignalingTokens

private let secret = "secret of the fuzzer"
private let session = SessionID("1_MX4xMDB-fjE3MDAwMDAwMDAwMDB-UmFuZG9tVGV4dH5Qfn4")
private let now = WallTime(milliseconds: 1_700_000_000_000)
private let verifier = TokenVerifier(
    projects: [Project(apiKey: APIKey("100"), secret: secret)].compactMap { $0 }, allowsPartnerAuth: true)

/// A grant is for the session that was asked for, within its limits. The first byte chooses: the text as it is, or
/// signed as the claims of a JWT or the fields of a T1 token, so that the fuzzer gets behind the signature.
func fuzzTokens(_ bytes: UnsafeRawBufferPointer) {
    guard let kind = bytes.first else { return }
    let content = Array(bytes.dropFirst())
    let token =
        switch kind % 3 {
        case 0: String(decoding: content, as: UTF8.self)
        case 1: jwt(content)
        default: t1(content)
        }
    for dates: TokenDates in [.all, .end, []] {
        if let grant = try? verifier.verify(
            token: token, sessionId: session, apiKey: APIKey("100"), now: now, checking: dates)
        {
            precondition(grant.sessionId == session, "a grant for another session")
            precondition(token.utf8.count <= Limits.tokenByteCount, "a token over the limit")
        }
    }
    let headers = [
        RequestCredentials.Headers(openTokAuth: token), .init(authorization: "Bearer " + token),
        .init(authorization: token), .init(partnerAuth: token),
    ]
    for header in headers {
        for apiKey in [nil, APIKey("100"), APIKey("101")] {
            guard let project = try? verifier.verifyRequest(header, apiKey: apiKey, now: now) else { continue }
            precondition(project.apiKey == APIKey("100") && apiKey != APIKey("101"), "credentials of another project")
        }
    }
}

private func jwt(_ claims: [UInt8]) -> String {
    let signed = Base64.urlSafe(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + Base64.urlSafe(claims)
    return signed + "." + Base64.urlSafe(Secret(Array(secret.utf8)).code(.sha256, of: Array(signed.utf8)))
}

private func t1(_ fields: [UInt8]) -> String {
    let signature = Hexadecimal.text(Secret(Array(secret.utf8)).code(.sha1, of: fields))
    return "T1==" + Base64.standard(Array("partner_id=100&sig=\(signature):".utf8) + fields)
}

/// An ID that is read names a key, has no white space, and is read the same way again.
func fuzzSessionIDs(_ bytes: UnsafeRawBufferPointer) {
    let texts = [
        String(decoding: bytes, as: UTF8.self), "1_" + Base64.urlSafe(Array(bytes)),
        "2_" + Base64.standard(Array("1~".utf8) + Array(bytes)),
    ]
    for text in texts {
        guard let content = try? SessionIDCodec.read(SessionID(text)) else { continue }
        precondition(!content.apiKey.rawValue.isEmpty, "an ID without a key")
        precondition(text.utf8.count <= Limits.sessionIDByteCount, "an ID over the limit")
        precondition(!text.utf8.contains { $0 <= 0x20 }, "an ID with white space")
    }
}
