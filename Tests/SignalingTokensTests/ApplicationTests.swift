import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@Suite("Applications: keys and tokens")
struct ApplicationTests {
    static let now = WallTime(milliseconds: 1_700_000_000_123)
    static let id = "6f6c9c84-3b1e-4f70-9a0a-000000000001"
    static let key: OpenSSLKey = {
        do { return try .rsa(bitCount: 2048) } catch { preconditionFailure("\(error)") }
    }()
    /// The public key as SubjectPublicKeyInfo and as PKCS#1, in PEM.
    static let (spki, pkcs1): (String, String) = {
        do { return (try key.form("pkey", "-pubout"), try key.form("rsa", "-RSAPublicKey_out")) } catch {
            preconditionFailure("\(error)")
        }
    }()

    let application: Application
    let verifier: TokenVerifier
    let sessionId: SessionID

    init() throws {
        let key = try #require(RSAPrivateKey(pem: Self.key.pem))
        application = try #require(Application(id: Self.id, privateKey: key))
        verifier = TokenVerifier(projects: [application.project])
        var random = SeededGenerator(seed: 1)
        sessionId = SessionIDCodec.make(for: application.project, now: Self.now, using: &random)
    }

    func make(_ request: AccessRequest) throws(TokenError) -> String {
        var random = SeededGenerator(seed: 2)
        return try ApplicationToken.make(request, application: application, now: Self.now, using: &random)
    }

    func verify(_ token: String) throws(SignalingError) -> AccessGrant {
        try verifier.verify(token: token, sessionId: sessionId, apiKey: APIKey(Self.id), now: Self.now)
    }

    @Test("TOK-7: a made token is verified, and has the requested contents", arguments: Role.allCases)
    func accepted(_ role: Role) throws {
        let data = "name=Zoë & co ~1\0\u{2028}😀+%"
        let grant = try verify(
            try make(AccessRequest(sessionId: sessionId, role: role, connectionData: data, lifetime: .seconds(60))))
        #expect(grant.sessionId == sessionId)
        #expect(grant.apiKey.rawValue == Self.id)
        #expect(grant.role == role)
        #expect(grant.connectionData == data)
        #expect(grant.expiresAt.milliseconds == 1_700_000_060_000)
    }

    @Test("USR-1, TOK-10: an application's token names its user, and has a jti by which it can be revoked")
    func user() throws {
        let token = try make(AccessRequest(sessionId: sessionId, user: UserID("u-17")))
        let grant = try verify(token)
        #expect(grant.user == UserID("u-17"))
        #expect(grant.origin.issuedSeconds == 1_700_000_000)
        let id = try #require(grant.origin.tokenID)
        var verifier = verifier
        verifier.revocations[application.project.apiKey] = Revocations([.token(id)])
        #expect(throws: SignalingError.self) {
            try verifier.verify(token: token, sessionId: sessionId, apiKey: APIKey(Self.id), now: Self.now)
        }
    }

    @Test("TOK-7: a session ID names its application, and no token is made for another's session")
    func sessions() throws {
        #expect(try SessionIDCodec.read(sessionId).apiKey.rawValue == Self.id)
        #expect(throws: TokenError.otherProject) {
            try make(AccessRequest(sessionId: SessionID("1_MX4xMDB-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg")))
        }
        #expect(throws: TokenError.connectionDataTooLong) {
            try make(AccessRequest(sessionId: sessionId, connectionData: String(repeating: "a", count: 1001)))
        }
        #expect(throws: TokenError.lifetimeOutOfRange) {
            try make(AccessRequest(sessionId: sessionId, lifetime: .zero))
        }
    }

    @Test("TOK-7: a change of any character of a token in RS256 is detected")
    func tampering() throws {
        let token = try make(AccessRequest(sessionId: sessionId, role: .subscriber, connectionData: "Ada"))
        let grant = try verify(token)
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            // The last digit of base64 has unused bits. If only those change, the grant is the same.
            if let forged = try? verify(String(decoding: changed, as: UTF8.self)) { #expect(forged == grant) }
        }
        for length in 0..<bytes.count - 2 {
            #expect(throws: SignalingError.self) { try verify(String(decoding: bytes.prefix(length), as: UTF8.self)) }
        }
    }

    @Test("REST-1: an application's credentials are valid for three minutes and its own path, and open no session")
    func credentials() throws {
        var random = SeededGenerator(seed: 3)
        let credentials = try RequestCredentials.make(application: application, now: Self.now, using: &random)
        let headers = RequestCredentials.Headers(authorization: "Bearer \(credentials)")
        for apiKey in [APIKey(Self.id), nil] {
            #expect(
                try verifier.verifyRequest(headers, apiKey: apiKey, now: Self.now).apiKey.rawValue == Self.id)
        }
        for (apiKey, now) in [(Self.id, 1_700_000_210_000 as Int64), ("100", Self.now.milliseconds)] {
            #expect(throws: SignalingError(.permissionDenied, "")) {
                try verifier.verifyRequest(headers, apiKey: APIKey(apiKey), now: WallTime(milliseconds: now))
            }
        }
        #expect(throws: SignalingError(.authenticationError, "")) { try verify(credentials) }
    }

    @Test("REST-1: an application's client cannot act as its backend", arguments: Role.allCases)
    func clientAsBackend(_ role: Role) throws {
        let token = try make(AccessRequest(sessionId: sessionId, role: role))
        for headers in [
            RequestCredentials.Headers(authorization: "Bearer \(token)"),
            RequestCredentials.Headers(openTokAuth: token),
        ] {
            #expect(throws: SignalingError(.permissionDenied, "")) {
                try verifier.verifyRequest(headers, apiKey: APIKey(Self.id), now: Self.now)
            }
        }
    }

    @Test("TOK-8: a token signed with a secret opens no session of an application, and the reverse")
    func oneAlgorithmEach() throws {
        var random = SeededGenerator(seed: 4)
        // An attacker uses the public key as the secret of a project with the application's id.
        for secret in [Self.spki, Self.pkcs1] {
            let forger = try #require(Project(apiKey: APIKey(Self.id), secret: secret))
            let request = AccessRequest(sessionId: sessionId)
            for token in [
                try T1Token.make(request, project: forger, now: Self.now, using: &random),
                try ProjectJWT.make(request, project: forger, now: Self.now, using: &random),
            ] {
                #expect(throws: SignalingError(.authenticationError, "")) { try verify(token) }
            }
        }
        let token = try make(AccessRequest(sessionId: sessionId))
        let project = try #require(Project(apiKey: APIKey(Self.id), secret: "s"))
        #expect(throws: TokenError.wrongAlgorithm) {
            try ApplicationToken.verify(token, project: project, now: Self.now)
        }
        #expect(throws: TokenError.wrongAlgorithm) { try ProjectJWT.verify(token, project: project, now: Self.now) }
        #expect(throws: TokenError.wrongAlgorithm) {
            try ProjectJWT.verify(token, project: application.project, now: Self.now)
        }
        #expect(throws: TokenError.wrongAlgorithm) {
            try T1Token.verify("T1==AA==", project: application.project, now: Self.now)
        }
        #expect(throws: TokenError.wrongAlgorithm) {
            try T1Token.make(
                AccessRequest(sessionId: sessionId), project: application.project, now: Self.now, using: &random)
        }
        #expect(throws: TokenError.wrongAlgorithm) {
            try RequestCredentials.make(project: application.project, now: Self.now, using: &random)
        }
    }

    @Test("TOK-7: an application's keys are read in both forms of PEM")
    func keys() throws {
        let token = try make(AccessRequest(sessionId: sessionId))
        for pem in [
            Self.spki, Self.pkcs1, Self.spki + "\n",
            "\n" + Self.spki.split(separator: "\n").joined(separator: "\r\n") + "\r\n",
        ] {
            let key = try #require(RSAPublicKey(pem: pem), "\(pem)")
            let project = try #require(Project(applicationID: Self.id, publicKey: key))
            #expect(throws: Never.self) { try ApplicationToken.verify(token, project: project, now: Self.now) }
        }
        for pem in [Self.key.pem, try Self.key.form("pkey", "-traditional")] {
            #expect(RSAPrivateKey(pem: pem) != nil)
        }
    }

    @Test("TOK-7: a PEM without an RSA key of at least 2048 bits is refused")
    func noKeys() throws {
        let small = try OpenSSLKey.rsa(bitCount: 1024)
        let whole = Self.spki
        let broken = whole.replacing("A", with: "B")
        for pem in [
            "", "key", String(whole.prefix(200)), broken, try small.form("pkey", "-pubout"), Self.key.pem,
            try Self.key.form("pkey", "-traditional"),
            try Self.key.form("req", "-x509", "-new", "-key", "/dev/stdin", "-subj", "/CN=signalbox"),
            "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        ] {
            #expect(RSAPublicKey(pem: pem) == nil, "\(pem)")
        }
        for pem in ["", "key", small.pem, whole, String(Self.key.pem.prefix(300))] {
            #expect(RSAPrivateKey(pem: pem) == nil, "\(pem)")
        }
    }

    @Test("TOK-7: a public key's file has one block of PEM in lines of 64 characters, and any text around it")
    func onlyOneKey() {
        let lines = Self.spki.split(separator: "\n").map(String.init)
        let (first, last) = (lines[0], lines[lines.count - 1])
        let content = lines.dropFirst().dropLast().joined()
        func wrapped(at width: Int) -> String {
            let starts = stride(from: 0, to: content.count, by: width)
            return ([first] + starts.map { String(content.dropFirst($0).prefix(width)) } + [last]).joined(
                separator: "\n")
        }
        for pem in [wrapped(at: 64), "key:\n" + Self.spki, Self.spki + "key", " " + Self.spki + " "] {
            #expect(RSAPublicKey(pem: pem) != nil, "\(pem)")
        }
        for pem in [
            wrapped(at: 60), wrapped(at: 68), wrapped(at: 1000), Self.spki + Self.spki, Self.key.pem + Self.spki,
            Self.spki + Self.key.pem,
            Self.spki.replacing("END PUBLIC", with: "END RSA PUBLIC"), Self.spki.replacing("-----B", with: "----B"),
            first, first + "\n", "\(first)\n\(last)", "\(first)\n\n\(last)", "\(first)\n\(content)\n\(last)",
            first + Self.spki.dropFirst(first.count + 1), Self.spki.replacing("\n", with: " \n"),
            Self.spki.replacing("\n", with: "\r"), Self.spki.replacing("Q", with: "_"),
            String(Self.spki.dropLast(last.count + 1)), Self.spki.replacing(lines[2], with: lines[2].dropLast()),
        ] {
            #expect(RSAPublicKey(pem: pem) == nil, "\(pem)")
        }
    }

    @Test(
        "TOK-7: an application's id that is not a UUID is refused",
        arguments: [
            "", "100", "6f6c9c84-3b1e-4f70-9a0a-00000000000", "6f6c9c84-3b1e-4f70-9a0a-00000000000g",
            "6f6c9c843b1e4f709a0a000000000001", "6f6c9c84-3b1e-4f70-9a0a-000000000001-",
            "6f6c9c84-3b1e-4f7-09a0a-000000000001",
        ])
    func identifiers(_ id: String) throws {
        let key = try #require(RSAPublicKey(pem: Self.spki))
        #expect(Project(applicationID: id, publicKey: key) == nil)
    }

    @Test("REST-1: random text in any header is refused")
    func garbage() {
        let verifier = TokenVerifier(projects: [application.project], allowsPartnerAuth: true)
        var random = SeededGenerator(seed: 8)
        let pieces = [
            ".", "=", "-", "_", "eyJhbGciOiJSUzI1NiJ9", "e30", "bnVsbA", "W10", "Bearer", "bearer", " ", "\t", ":",
            "\0", "é",
            Self.id, "eyJhcHBsaWNhdGlvbl9pZCI6IjZmNmM5Yzg0LTNiMWUtNGY3MC05YTBhLTAwMDAwMDAwMDAwMSJ9",
        ]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<8, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            #expect(throws: SignalingError.self) { try verify(text) }
            for headers in [
                RequestCredentials.Headers(openTokAuth: text), .init(authorization: text),
                .init(authorization: "Bearer " + text), .init(partnerAuth: text),
                .init(partnerAuth: Self.id + ":" + text),
            ] {
                #expect(throws: SignalingError(.permissionDenied, "")) {
                    try verifier.verifyRequest(headers, apiKey: nil, now: Self.now)
                }
            }
        }
    }

    @Test("a private key appears in no description and no dump")
    func secrecy() throws {
        let key = try #require(RSAPrivateKey(pem: Self.key.pem))
        var dumped = ""
        dump(application, to: &dumped)
        dump(key, to: &dumped)
        #expect(!dumped.contains("RSASigningKey") && !dumped.contains("pointer"), "\(dumped)")
        #expect("\(key)" == "RSA private key")
        #expect(String(reflecting: key) == "RSA private key")
    }
}

@Suite("A project with two secrets")
struct RotationTests {
    static let now = ApplicationTests.now

    @Test("TOK-8: both secrets verify, the first one signs, and a removed one verifies nothing")
    func rotation() throws {
        let key = APIKey("100")
        let before = try #require(Project(apiKey: key, secret: "old"))
        let during = try #require(Project(apiKey: key, secrets: ["new", "old"]))
        let after = try #require(Project(apiKey: key, secret: "new"))
        var random = SeededGenerator(seed: 1)
        let session = SessionIDCodec.make(for: before, now: Self.now, using: &random)
        let request = AccessRequest(sessionId: session)
        // A signing project, the projects that accept its tokens, and those that refuse them.
        for (signer, accepting, refusing) in [
            (before, [before, during], [after]), (during, [during, after], [before]),
            (after, [during, after], [before]),
        ] {
            let tokens = [
                try T1Token.make(request, project: signer, now: Self.now, using: &random),
                try ProjectJWT.make(request, project: signer, now: Self.now, using: &random),
            ]
            let credentials = try RequestCredentials.make(project: signer, now: Self.now, using: &random)
            for (projects, isGood) in [(accepting, true), (refusing, false)] {
                for verifier in projects.map({ TokenVerifier(projects: [$0]) }) {
                    for token in tokens {
                        let grant = try? verifier.verify(token: token, sessionId: session, apiKey: key, now: Self.now)
                        #expect((grant != nil) == isGood)
                    }
                    let project = try? verifier.verifyRequest(credentials: credentials, apiKey: key, now: Self.now)
                    #expect((project != nil) == isGood)
                }
            }
        }
    }

    @Test("a project has one or two secrets, none of them empty")
    func count() {
        for secrets in [[], [""], ["a", ""], ["a", "b", "c"]] {
            #expect(Project(apiKey: APIKey("100"), secrets: secrets) == nil)
        }
    }
}
