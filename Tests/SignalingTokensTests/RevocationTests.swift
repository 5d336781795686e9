import JSONText
import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@Suite("Revocations")
struct RevocationTests {
    private static func origin(
        _ seconds: Int64?, user: String? = nil, jti: String? = nil
    ) -> TokenOrigin {
        TokenOrigin(
            issuedAt: seconds.map { WallTime(milliseconds: $0 * 1000) }, user: user.map { UserID($0) }, tokenID: jti)
    }

    @Test("TOK-10: a revocation refuses the tokens that were issued before it, of everybody, of a user, or one")
    func matching() {
        let revoked = Revocations([.user(UserID("u-17"), before: 200), .token("t-1"), .everything(before: 100)])
        #expect(revoked.revokes(Self.origin(99)))
        #expect(!revoked.revokes(Self.origin(100)))
        #expect(revoked.revokes(Self.origin(199, user: "u-17")))
        #expect(!revoked.revokes(Self.origin(200, user: "u-17")))
        #expect(!revoked.revokes(Self.origin(199, user: "u-18")))
        #expect(revoked.revokes(Self.origin(300, user: "u-18", jti: "t-1")))
        #expect(!revoked.revokes(Self.origin(300, jti: "t-2")))
        #expect(!Revocations().revokes(Self.origin(nil)))
    }

    @Test("TOK-10: a token without a time of issue counts as issued in 1970")
    func undated() {
        #expect(Revocations([.everything(before: 1)]).revokes(Self.origin(nil)))
        #expect(!Revocations([.everything(before: 0)]).revokes(Self.origin(nil)))
    }

    @Test("TOK-10: the time of issue counts in whole seconds")
    func wholeSeconds() {
        let token = TokenOrigin(issuedAt: WallTime(milliseconds: 99_999), user: nil, tokenID: nil)
        #expect(Revocations([.everything(before: 100)]).revokes(token))
        #expect(!Revocations([.everything(before: 99)]).revokes(token))
    }

    @Test("REST-8: a later moment replaces an earlier one, and not the other way")
    func later() {
        var revoked = Revocations()
        #expect(revoked.add(.user(UserID("u"), before: 100)) == .user(UserID("u"), before: 100))
        #expect(revoked.add(.user(UserID("u"), before: 50)) == .user(UserID("u"), before: 100))
        #expect(revoked.add(.user(UserID("u"), before: 150)) == .user(UserID("u"), before: 150))
        #expect(revoked.add(.everything(before: 7)) == .everything(before: 7))
        #expect(revoked.add(.everything(before: 6)) == .everything(before: 7))
        #expect(revoked.list == [.everything(before: 7), .user(UserID("u"), before: 150)])
    }

    @Test("REST-8: a revocation is taken back once")
    func removal() {
        var revoked = Revocations([.user(UserID("u"), before: 100), .token("t"), .everything(before: 5)])
        for subject in [Revocation.Subject.user(UserID("u")), .token("t"), .everything] {
            let isRemoved = [revoked.remove(subject), revoked.remove(subject)]
            #expect(isRemoved == [true, false])
        }
        #expect(revoked.isEmpty)
        #expect(!revoked.revokes(Self.origin(1, user: "u", jti: "t")))
    }

    @Test("REST-8: a project has at most 10,000 revocations, and those it has can still be renewed")
    func bound() {
        var revoked = Revocations((0..<10_000).map { .user(UserID("u-\($0)"), before: 1) })
        #expect(revoked.count == 10_000)
        #expect(revoked.add(.user(UserID("one more"), before: 1)) == nil)
        #expect(revoked.add(.token("one more")) == nil)
        #expect(revoked.add(.everything(before: 1)) == nil)
        #expect(revoked.add(.user(UserID("u-17"), before: 2)) == .user(UserID("u-17"), before: 2))
        #expect(revoked.count == 10_000)
        let isRemoved = revoked.remove(.user(UserID("u-1")))
        #expect(isRemoved)
        #expect(revoked.add(.token("one more")) == .token("one more"))
    }

    @Test(
        "REST-8: a revocation is read as it is written",
        arguments: [Revocation.everything(before: 5), .user(UserID("Zoë 😀"), before: 7), .token("a\u{0}b")])
    func coding(_ revocation: Revocation) throws {
        #expect(try Revocation(try JSONValue(parsing: revocation.json.encoded())) == revocation)
    }

    @Test(
        "REST-8: a malformed revocation is refused",
        arguments: [
            "[]", "{}", #"{"user":"u"}"#, #"{"user":"","before":1}"#, #"{"user":"u","before":-1}"#,
            #"{"user":"u","before":1.5}"#, #"{"user":7,"before":1}"#, #"{"user":"u","jti":"t","before":1}"#,
            #"{"jti":"t","before":1}"#, #"{"jti":""}"#, #"{"before":1,"until":2}"#, #"{"user":"a\nb","before":1}"#,
        ])
    func malformed(_ text: String) {
        #expect(throws: SignalingError.self) { try Revocation(try JSONValue(parsing: text)) }
    }

    @Test("TOK-10: a revoked token is refused with 1004, by the settings as by REST, and another project's is not")
    func verifying() throws {
        var project = VectorTests.project
        let other = try #require(Project(apiKey: APIKey("101"), secret: "other"))
        let now = WallTime(milliseconds: 1_700_000_000_000)
        var random = SeededGenerator(seed: 1)
        let (session, otherSession) = (
            SessionIDCodec.make(for: project, now: now, using: &random),
            SessionIDCodec.make(for: other, now: now, using: &random)
        )
        let token = try ProjectJWT.make(
            AccessRequest(sessionId: session, user: UserID("u-17")), project: project, now: now, using: &random)
        let otherToken = try T1Token.make(
            AccessRequest(sessionId: otherSession, user: UserID("u-17")), project: other, now: now, using: &random)
        func verify(_ verifier: TokenVerifier) throws -> AccessGrant {
            _ = try verifier.verify(token: otherToken, sessionId: otherSession, apiKey: other.apiKey, now: now)
            return try verifier.verify(token: token, sessionId: session, apiKey: project.apiKey, now: now)
        }
        let revoked = Revocations([.user(UserID("u-17"), before: 1_700_000_001)])
        var verifier = TokenVerifier(projects: [project, other])
        #expect(try verify(verifier).user == UserID("u-17"))
        verifier.revocations[project.apiKey] = revoked
        let refusal = #expect(throws: SignalingError.self) { try verify(verifier) }
        #expect(refusal?.code == .authenticationError)
        #expect(refusal?.message.contains("revoked") == true)
        project.revoked = revoked
        #expect(throws: SignalingError.self) { try verify(TokenVerifier(projects: [project, other])) }
    }

    @Test("TOK-10: the jti of a JWT revokes it, and one that is no text does not matter")
    func tokenIDs() throws {
        let vectors = try Vectors.cases("tokens/jwt.json")
        let vector = try #require(vectors.first { $0.name.contains("a jti of any type") })
        let grant = try VectorTests.verifier.verify(
            token: try #require(vector["token"]?.stringValue),
            sessionId: SessionID(try #require(vector["sessionId"]?.stringValue)), apiKey: APIKey("100"),
            now: WallTime(milliseconds: 1_700_000_000_000))
        #expect(grant.origin == Self.origin(1_700_000_000, user: "u-17"))
        #expect(Self.origin(1, jti: String(repeating: "j", count: 257)).tokenID == nil)
    }

    @Test("USR-1: the setting userFrom names the connection data, or a member of it")
    func userSource() {
        #expect(UserSource(setting: "connectionData") == .connectionData)
        #expect(UserSource(setting: "connectionData.id") == .member("id"))
        #expect(UserSource(setting: "connectionData.a.b") == .member("a.b"))
        for text in ["", "data", "connectionData.", "ConnectionData", "connectionDataX", " connectionData"] {
            #expect(UserSource(setting: text) == nil)
        }
    }
}
