import JSONText
import SignalingProtocol
import SignalingTokens
import TestSupport
import Testing

@Suite("Tokens made elsewhere")
struct VectorTests {
    static let verifier: TokenVerifier = {
        guard let project = Project(apiKey: APIKey("100"), secret: "test-secret") else { preconditionFailure() }
        return TokenVerifier(projects: [project])
    }()

    @Test("TOK-2, TOK-4, TOK-5, CON-3: T1 tokens", arguments: try Vectors.cases("tokens/t1.json"))
    func t1(_ vector: VectorCase) throws { try check(vector) }

    @Test("TOK-3, TOK-4, TOK-5, CON-3: JWTs", arguments: try Vectors.cases("tokens/jwt.json"))
    func jwt(_ vector: VectorCase) throws { try check(vector) }

    @Test("tokens of OpenTok's Python SDK", arguments: try Vectors.cases("tokens/opentok-sdk.json"))
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

    private func check(_ vector: VectorCase) throws {
        let token = try #require(vector["token"]?.stringValue)
        let sessionID = SessionID(try #require(vector["sessionId"]?.stringValue))
        let now = WallTime(milliseconds: try #require(vector["now"]?.integerValue))
        let apiKey = APIKey(vector["apiKey"]?.stringValue ?? "100")
        let result = Result { () throws(SignalingError) in
            try Self.verifier.verify(token: token, sessionID: sessionID, apiKey: apiKey, now: now)
        }
        switch result {
        case .success(let grant):
            let expected = try #require(vector["grant"])
            #expect(grant.sessionID == sessionID)
            #expect(grant.apiKey == apiKey)
            #expect(grant.role.rawValue == expected["role"]?.stringValue)
            #expect(grant.connectionData == expected["connectionData"]?.stringValue)
            #expect(grant.expiresAt.milliseconds == expected["expiresAt"]?.integerValue)
        case .failure(let error):
            #expect(Int64(error.code.number) == vector["refused"]?.integerValue, "\(error)")
            if let reason = vector["reason"]?.stringValue, reason.hasPrefix("it") || reason.hasPrefix("only") {
                #expect(error.message.hasSuffix("\(reason)"), "\(error)")
            }
            #expect(token.isEmpty || !error.description.contains(token))
        }
    }
}
