import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@Suite("Making session IDs and tokens")
struct MakingTests {
    static let now = WallTime(milliseconds: 1_700_000_000_123)
    let project: Project
    let verifier: TokenVerifier
    let sessionId: SessionID

    init() throws {
        project = try #require(Project(apiKey: APIKey("100"), secret: "test-secret"))
        verifier = TokenVerifier(projects: [project])
        var random = SeededGenerator(seed: 1)
        sessionId = SessionIDCodec.make(for: project, now: Self.now, using: &random)
    }

    enum Form: CaseIterable { case t1, jwt }

    func make(_ form: Form, _ request: AccessRequest) throws(TokenError) -> String {
        var random = SeededGenerator(seed: 2)
        return switch form {
        case .t1: try T1Token.make(request, project: project, now: Self.now, using: &random)
        case .jwt: try ProjectJWT.make(request, project: project, now: Self.now, using: &random)
        }
    }

    func verify(_ token: String, now: WallTime = now) throws(SignalingError) -> AccessGrant {
        try verifier.verify(token: token, sessionId: sessionId, apiKey: APIKey("100"), now: now)
    }

    @Test("TOK-1: a new session ID has its project and time, and is the same for the same randomness")
    func sessionIDs() throws {
        #expect(
            sessionId.rawValue
                == "1_MX4xMDB-fjE3MDAwMDAwMDAxMjN-OTEwYTJkZWM4OTAyNWNjMWJlZWI4ZGExNjU4ZWVjNjd-UH5-")
        let content = try SessionIDCodec.read(sessionId)
        #expect(content.apiKey.rawValue == "100")
        #expect(content.createdAt == Self.now)
        var random = SeededGenerator(seed: 3)
        #expect(SessionIDCodec.make(for: project, now: Self.now, using: &random) != sessionId)
    }

    @Test("TOK-1: session IDs of the longest API key fit the limit")
    func longKey() throws {
        let key = APIKey(String(repeating: "k", count: 64))
        let project = try #require(Project(apiKey: key, secret: "s"))
        var random = SystemRandomNumberGenerator()
        let id = SessionIDCodec.make(for: project, now: WallTime(milliseconds: .min), using: &random)
        #expect(id.rawValue.utf8.count <= Limits.sessionIDByteCount)
        #expect(try SessionIDCodec.read(id).apiKey == key)
    }

    @Test(
        "TOK-1, TOK-6: session IDs from elsewhere are read: both alphabets, padding, dates in words, application ids",
        arguments: [
            ("1_MX4xMDB-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg", "100", 1_739_538_894_959 as Int64?),
            ("2_MX4xMDB+fjE3Mzk1Mzg4OTQ5NTl+QWIzeFl6flB+fg==", "100", 1_739_538_894_959),
            ("1_MX4xMjM0NTZ-fk1vbiBNYXIgMTcgMDA6NDE6MzEgUERUIDIwMTR-MC42ODM3ODk1MzQ0OTQyODA4fg", "123456", nil),
            (
                "1_MX42ZjZjOWM4NC0zYjFlLTRmNzAtOWEwYS0wMDAwMDAwMDAwMDF-fjE3MjY0NjI1ODg2NDd-WHl6fn5-",
                "6f6c9c84-3b1e-4f70-9a0a-000000000001", 1_726_462_588_647
            ),
        ])
    func foreignIDs(_ text: String, _ apiKey: String, _ milliseconds: Int64?) throws {
        let content = try SessionIDCodec.read(SessionID(text))
        #expect(content.apiKey.rawValue == apiKey)
        #expect(content.createdAt?.milliseconds == milliseconds)
    }

    @Test(
        "TOK-1: a malformed session ID is refused",
        arguments: [
            "", "1_", "lobby", "3_MX4xMDB-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg", "1_MX4xMDA", "1_!",
            "1_MX4xMDB-fjE3Mzk1Mzg4OTQ5NTl-\nQWIzeFl6flB-fg",
            "1_Mn4xMDB-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg", "1_MX5-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg",
            "1_\u{212A}X4xMDB-fjE3Mzk1Mzg4OTQ5NTl-QWIzeFl6flB-fg", "1_gICAgH5-fn5-fg",
        ])
    func noIDs(_ text: String) {
        #expect(throws: TokenError.malformed) { try SessionIDCodec.read(SessionID(text)) }
    }

    @Test("TOK-1: a session ID of 255 bytes is read, and one of 256 bytes is refused")
    func longID() throws {
        let start = "1_MX4xMDB-fjE3Mzk1Mzg4OTQ5NTl-"
        let longest = start + String(repeating: "A", count: 253 - start.utf8.count) + "=="
        #expect(try SessionIDCodec.read(SessionID(longest)).apiKey.rawValue == "100")
        #expect(throws: TokenError.tooLong) { try SessionIDCodec.read(SessionID(longest + "=")) }
    }

    @Test(
        "TOK-2, TOK-3: a made token is verified, and has the requested contents", arguments: Form.allCases,
        Role.allCases)
    func accepted(_ form: Form, _ role: Role) throws {
        let data = "name=Zoë & co ~1\0\u{2028}😀+%"
        let request = AccessRequest(
            sessionId: sessionId, role: role, connectionData: data, lifetime: .seconds(60) + .milliseconds(900))
        let grant = try verify(try make(form, request))
        #expect(grant.sessionId == sessionId)
        #expect(grant.role == role)
        #expect(grant.connectionData == data)
        #expect(grant.expiresAt.milliseconds == 1_700_000_060_000)
    }

    @Test(
        "USR-1: a made token names its user, and no token is made for a text that is no user ID",
        arguments: Form.allCases)
    func user(_ form: Form) throws {
        for user in ["u-17", "Zoë & co ~1\u{2028}😀+%", String(repeating: "a", count: 128)] {
            let grant = try verify(try make(form, AccessRequest(sessionId: sessionId, user: UserID(user))))
            #expect(grant.user?.rawValue == user)
        }
        for user in ["", String(repeating: "a", count: 129), "a\u{7}"] {
            #expect(throws: TokenError.userNotValid) {
                try make(form, AccessRequest(sessionId: sessionId, user: UserID(user)))
            }
        }
    }

    @Test("a token lives one day by default and 30 days at most", arguments: Form.allCases)
    func lifetime(_ form: Form) throws {
        var request = AccessRequest(sessionId: sessionId)
        #expect(try verify(try make(form, request)).expiresAt.milliseconds == 1_700_086_400_000)
        request.lifetime = .seconds(30 * 86_400)
        #expect(try verify(try make(form, request)).expiresAt.milliseconds == 1_702_592_000_000)
        for lifetime in [Duration.seconds(30 * 86_400 + 1), .zero, .seconds(-5), .milliseconds(999)] {
            request.lifetime = lifetime
            #expect(throws: TokenError.lifetimeOutOfRange) { try make(form, request) }
        }
    }

    @Test("connection data of 1000 UTF-16 units is issued, and of 1001 units refused", arguments: Form.allCases)
    func connectionData(_ form: Form) throws {
        var request = AccessRequest(sessionId: sessionId)
        for character in ["a", "語", "\u{1}", "😀"] {
            let count = 1000 / character.utf16.count
            request.connectionData = String(repeating: character, count: count)
            #expect(try verify(try make(form, request)).connectionData == request.connectionData)
        }
        request.connectionData += "a"
        #expect(throws: TokenError.connectionDataTooLong) { try make(form, request) }
    }

    @Test("TOK-5: no token is made for another project's session or a malformed session ID", arguments: Form.allCases)
    func foreignSession(_ form: Form) throws {
        var random = SeededGenerator(seed: 4)
        let other = try #require(Project(apiKey: APIKey("101"), secret: "other"))
        let foreign = SessionIDCodec.make(for: other, now: Self.now, using: &random)
        #expect(throws: TokenError.otherProject) { try make(form, AccessRequest(sessionId: foreign)) }
        #expect(throws: TokenError.malformed) { try make(form, AccessRequest(sessionId: SessionID("lobby"))) }
    }

    @Test("TOK-5, TOK-6: a token opens no other session of its project", arguments: Form.allCases)
    func otherSession(_ form: Form) throws {
        var random = SeededGenerator(seed: 5)
        let second = SessionIDCodec.make(for: project, now: Self.now, using: &random)
        let token = try make(form, AccessRequest(sessionId: second))
        #expect(throws: SignalingError(.authenticationError, "")) { try verify(token) }
    }

    @Test("TOK-2, TOK-3: a change of any byte of a token is detected", arguments: Form.allCases)
    func tampering(_ form: Form) throws {
        let token = try make(form, AccessRequest(sessionId: sessionId, role: .subscriber, connectionData: "Ada"))
        let grant = try verify(token)
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            for flip in [1, 2, 32] as [UInt8] {
                var changed = bytes
                changed[index] ^= flip
                // The last digit of base64 has unused bits. If only those change, the grant is the same.
                if let forged = try? verify(String(decoding: changed, as: UTF8.self)) { #expect(forged == grant) }
            }
        }
        for length in 0..<bytes.count - 2 {
            #expect(throws: SignalingError.self) { try verify(String(decoding: bytes.prefix(length), as: UTF8.self)) }
        }
    }

    @Test("CON-3, TOK-6: each project's tokens are verified with its own secret only", arguments: Form.allCases)
    func projects(_ form: Form) throws {
        let other = try #require(Project(apiKey: APIKey("101"), secret: "other"))
        let both = TokenVerifier(projects: [other, project])
        let token = try make(form, AccessRequest(sessionId: sessionId))
        #expect(
            try both.verify(token: token, sessionId: sessionId, apiKey: APIKey("100"), now: Self.now).apiKey.rawValue
                == "100")
        #expect(throws: SignalingError(.invalidSession, "")) {
            try both.verify(token: token, sessionId: sessionId, apiKey: APIKey("101"), now: Self.now)
        }
        #expect(throws: SignalingError(.authenticationError, "")) {
            try both.verify(token: token, sessionId: sessionId, apiKey: APIKey("102"), now: Self.now)
        }
    }

    @Test("REST-1: a project's credentials are valid for three minutes, and open no session")
    func credentials() throws {
        var random = SeededGenerator(seed: 6)
        let credentials = try RequestCredentials.make(project: project, now: Self.now, using: &random)
        #expect(
            try verifier.verifyRequest(credentials: credentials, apiKey: APIKey("100"), now: Self.now).apiKey.rawValue
                == "100")
        #expect(throws: SignalingError(.permissionDenied, "")) {
            try verifier.verifyRequest(
                credentials: credentials, apiKey: APIKey("100"), now: WallTime(milliseconds: 1_700_000_210_000))
        }
        #expect(throws: SignalingError(.authenticationError, "")) { try verify(credentials) }
    }

    @Test("REST-1: a client's token is refused as a backend's credentials", arguments: Form.allCases)
    func clientAsBackend(_ form: Form) throws {
        let token = try make(form, AccessRequest(sessionId: sessionId, role: .moderator))
        #expect(throws: SignalingError(.permissionDenied, "")) {
            try verifier.verifyRequest(credentials: token, apiKey: APIKey("100"), now: Self.now)
        }
    }

    @Test("a project with an empty or blank secret, or with an API key that session IDs cannot hold, is refused")
    func badProjects() {
        for secret in ["", " ", "\t\n "] { #expect(Project(apiKey: APIKey("100"), secret: secret) == nil) }
        #expect(Project(apiKey: APIKey("100"), secrets: ["s", " "]) == nil)
        for key in ["", "a~b", "a b", "é", String(repeating: "k", count: 65)] {
            #expect(Project(apiKey: APIKey(key), secret: "s") == nil)
        }
    }

    @Test("a project's secret appears in no description and no dump")
    func secrecy() {
        var dumped = ""
        dump(project, to: &dumped)
        for text in ["\(project)", String(reflecting: project), dumped, "\(verifier)", String(reflecting: verifier)] {
            #expect(!text.contains("secret"), "\(text)")
        }
    }

    @Test("CON-3, REST-1: random text is refused as a token and as credentials")
    func garbage() {
        var random = SeededGenerator(seed: 7)
        let letters = Array("T1=.-_~eyJ0&:%{}\" \nAQ")
        for _ in 0..<3_000 {
            let length = Int.random(in: 0..<60, using: &random)
            let text = String((0..<length).map { _ in letters.randomElement(using: &random) ?? "=" })
            #expect(throws: SignalingError.self) { try verify(text) }
            #expect(throws: SignalingError.self) { try verify("T1==" + text) }
            #expect(throws: SignalingError.self) {
                try verifier.verifyRequest(credentials: text, apiKey: nil, now: Self.now)
            }
        }
    }
}
