import JSONText
import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@Suite("Tokens and credentials from elsewhere")
struct VectorTests {
    static let project: Project = {
        guard let project = Project(apiKey: APIKey("100"), secret: "test-secret") else { preconditionFailure() }
        return project
    }()
    static let verifier = TokenVerifier(projects: [project])

    @Test("TOK-2, TOK-4, TOK-5, TOK-6, CON-3, USR-1: T1 tokens", arguments: try Vectors.cases("tokens/t1.json"))
    func t1(_ vector: VectorCase) throws { try check(vector, by: Self.verifier(for: vector)) }

    @Test(
        "TOK-3, TOK-4, TOK-5, TOK-6, CON-3, HIS-8, USR-1: JWTs in HS256",
        arguments: try Vectors.cases("tokens/jwt.json"))
    func jwt(_ vector: VectorCase) throws { try check(vector, by: Self.verifier(for: vector)) }

    /// The project of the file, with the settings of the case.
    private static func verifier(for vector: VectorCase) throws -> TokenVerifier {
        guard let setting = vector["userFrom"]?.stringValue else { return verifier }
        var project = project
        let source: UserSource = try #require(UserSource(setting: setting))
        project.userSource = source
        return TokenVerifier(projects: [project])
    }

    @Test("TOK-2, TOK-3: tokens of OpenTok's Python SDK", arguments: try Vectors.cases("tokens/opentok-sdk.json"))
    func sdk(_ vector: VectorCase) throws { try check(vector) }

    @Test("REST-1: a backend's credentials", arguments: try Vectors.cases("tokens/request.json"))
    func request(_ vector: VectorCase) throws {
        let now = WallTime(milliseconds: try #require(vector["now"]?.integerValue))
        let apiKey = vector["apiKey"]?.stringValue.map { APIKey($0) }
        let result = Result { () throws(SignalingError) in
            try Self.verifier.verifyRequest(
                credentials: vector["credentials"]?.stringValue, apiKey: apiKey, now: now)
        }
        switch result {
        case .success(let project):
            #expect(vector["refused"] == nil)
            #expect(project.apiKey.rawValue == "100")
        case .failure(let error): #expect(Int64(error.code.number) == vector["refused"]?.integerValue)
        }
    }

    @Test("TOK-3, TOK-7, TOK-8: tokens in RS256", arguments: try Vectors.cases("tokens/application.json"))
    func application(_ vector: VectorCase) throws {
        let application = try Self.application("tokens/application.json")
        try check(vector, by: TokenVerifier(projects: [application]), apiKey: application.apiKey)
    }

    @Test(
        "TOK-7: tokens in RS256 without an expiry, and with the claims of Vonage's Ruby SDK",
        arguments: try Vectors.cases("tokens/application-defaults.json"))
    func applicationDefaults(_ vector: VectorCase) throws {
        let application = try Self.application("tokens/application-defaults.json")
        try check(vector, by: TokenVerifier(projects: [application]), apiKey: application.apiKey)
    }

    @Test(
        "TOK-7: tokens of OpenTok's and Vonage's Python SDKs",
        arguments: try Vectors.cases("tokens/application-sdk.json"))
    func applicationSDK(_ vector: VectorCase) throws {
        let application = try Self.application("tokens/application-sdk.json")
        try check(vector, by: TokenVerifier(projects: [application]), apiKey: application.apiKey)
    }

    @Test(
        "REST-1: a backend's credentials in any header",
        arguments: try Vectors.cases("tokens/request-application.json"))
    func requestHeaders(_ vector: VectorCase) throws {
        try checkRequest(vector.value, application: try Self.application("tokens/request-application.json"))
    }

    @Test("REST-1: credentials of OpenTok's and Vonage's Python SDKs")
    func requestSDK() throws {
        let path = "tokens/application-sdk.json"
        let requests = try #require(try Vectors.load(path)["requests"]?.arrayValue)
        #expect(requests.count == 2)
        for value in requests {
            try checkRequest(value, application: try Self.application(path))
        }
    }

    static func application(_ path: String) throws -> Project {
        let file = try Vectors.load(path)
        let pem = try #require(file["publicKey"]?.stringValue)
        let id = try #require(file["applicationId"]?.stringValue)
        let key = try #require(RSAPublicKey(pem: pem))
        return try #require(Project(applicationID: id, publicKey: key))
    }

    private func checkRequest(_ vector: JSONValue, application: Project) throws {
        let project = try #require(Project(apiKey: APIKey("100"), secrets: ["test-secret", "older:secret"]))
        let verifier = TokenVerifier(
            projects: [project, application], allowsPartnerAuth: vector["allowPartnerAuth"] == true)
        let fields = try #require(vector["headers"])
        let headers = RequestCredentials.Headers(
            openTokAuth: fields["openTokAuth"]?.stringValue, authorization: fields["authorization"]?.stringValue,
            partnerAuth: fields["partnerAuth"]?.stringValue)
        let now = WallTime(milliseconds: try #require(vector["now"]?.integerValue))
        let apiKey = vector["apiKey"]?.stringValue.map { APIKey($0) }
        let result = Result { () throws(SignalingError) in
            try verifier.verifyRequest(headers, apiKey: apiKey, now: now)
        }
        switch result {
        case .success(let project): #expect(project.apiKey.rawValue == vector["project"]?.stringValue)
        case .failure(let error): #expect(Int64(error.code.number) == vector["refused"]?.integerValue, "\(error)")
        }
    }

    private func check(
        _ vector: VectorCase, by verifier: TokenVerifier = verifier, apiKey: APIKey = APIKey("100")
    ) throws {
        let token = try #require(vector["token"]?.stringValue)
        let sessionId = SessionID(try #require(vector["sessionId"]?.stringValue))
        let now = WallTime(milliseconds: try #require(vector["now"]?.integerValue))
        let apiKey = vector["apiKey"]?.stringValue.map { APIKey($0) } ?? apiKey
        let result = Result { () throws(SignalingError) in
            try verifier.verify(token: token, sessionId: sessionId, apiKey: apiKey, now: now)
        }
        switch result {
        case .success(let grant):
            let expected = try #require(vector["grant"])
            #expect(grant.sessionId == sessionId)
            #expect(grant.apiKey == apiKey)
            #expect(grant.role.rawValue == expected["role"]?.stringValue)
            #expect(grant.connectionData == expected["connectionData"]?.stringValue)
            #expect(grant.user?.rawValue == expected["user"]?.stringValue)
            #expect(grant.history?.rawValue == expected["history"]?.stringValue)
            #expect(grant.expiresAt.milliseconds == expected["expiresAt"]?.integerValue)
        case .failure(let error):
            #expect(Int64(error.code.number) == vector["refused"]?.integerValue, "\(error)")
            if let reason = vector["reason"]?.stringValue { #expect(error.message.contains(reason), "\(error)") }
            #expect(token.isEmpty || !error.description.contains(token))
        }
    }
}
