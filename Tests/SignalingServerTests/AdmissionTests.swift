import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import TestSupport
import Testing

@testable import SignalingServer

@Suite("The digests of tokens, and the settings of admission")
struct AdmissionTests {
    @Test("a token counts as one in every spelling that the server accepts")
    func spellings() throws {
        let project = try #require(Project(apiKey: APIKey("100"), secret: "a secret of the tests"))
        var generator = SeededGenerator(seed: 1)
        let now = WallTime(milliseconds: 1_000_000_000_000)
        let session = SessionIDCodec.make(for: project, now: now, using: &generator)
        let request = AccessRequest(sessionId: session, role: .publisher, connectionData: "a")
        let token = try T1Token.make(request, project: project, now: now, using: &generator)
        let other = try T1Token.make(request, project: project, now: now, using: &generator)
        let jwt = try ProjectJWT.make(request, project: project, now: now, using: &generator)
        func key(_ token: String) throws -> JoinControl.Key {
            let verifier = TokenVerifier(projects: [project])
            _ = try verifier.verify(token: token, sessionId: session, apiKey: project.apiKey, now: now)
            return JoinControl.Key(project: project.apiKey, token: TokenDigest(of: token))
        }
        let index = token.index(token.startIndex, offsetBy: 40)
        let spellings = ["\(token)\n", "\(token[..<index]) \n \(token[index...])"]
        let expected = try key(token)
        for spelling in spellings {
            let found = try key(spelling)
            #expect(found == expected, "\(spelling)")
            #expect(TokenFingerprint(found.token) == TokenFingerprint(expected.token), "\(spelling)")
        }
        let others = [try key(other), try key(jwt)]
        #expect(!others.contains(expected) && others[0] != others[1])
    }

    @Test("a way in which proxies name clients needs a trusted proxy, and `Forwarded` a server without TLS")
    func proxyNaming() async throws {
        let proxy = ["SIGNALBOX_TRUSTED_PROXY": "10.0.0.1"]
        for naming in ProxyNaming.allCases {
            let naming = (naming, ["SIGNALBOX_PROXY_HEADER": naming.rawValue])
            var options = TransportServer.Options()
            try await admission(proxy.merging(naming.1) { $1 }).apply(to: &options)
            #expect(options.proxyNaming == naming.0)
            await #expect(throws: ConfigurationError.self) { _ = try await admission(naming.1) }
        }
        let secure = ["SIGNALBOX_TLS_CERT": "c.pem", "SIGNALBOX_TLS_KEY": "k.pem"].merging(proxy) { $1 }
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await admission(secure.merging(["SIGNALBOX_PROXY_HEADER": "forwarded"]) { $1 })
        }
        #expect(try #require(error).description.contains("with TLS"))
    }

    private func admission(_ environment: [String: String]) async throws -> AdmissionSettings {
        try await ServerSettings().configuration(environment: environment).admission
    }

    @Test("without settings, one project may use the whole server, one of several half of it, and one token half")
    func defaults() async throws {
        let settings = try await admission([:])
        for (count, perProject) in [(1, 1_000), (2, 500)] {
            let limits = settings.joinLimits(total: 1_000, projectCount: count)
            #expect(limits.perProject == perProject && limits.perToken == 500)
        }
        var options = TransportServer.Options()
        settings.apply(to: &options)
        #expect(options.addressLimit == .standard(ofTotal: options.connectionCount))
        #expect(options.allowedOrigins == nil && options.trustedProxies.isEmpty && options.maxConnectionCount == nil)
    }

    @Test("the settings reach the transport; a limit of addresses that is given includes loopback")
    func given() async throws {
        let settings = try await admission([
            "SIGNALBOX_MAX_CONNECTIONS": "90", "SIGNALBOX_MAX_CONNECTIONS_PER_ADDRESS": "20",
            "SIGNALBOX_MAX_CONNECTIONS_PER_PROJECT": "30", "SIGNALBOX_MAX_CONNECTIONS_PER_TOKEN": "4",
            "SIGNALBOX_TRUSTED_PROXY": "10.0.0.0/8, ::1",
            "SIGNALBOX_ALLOWED_ORIGINS": "https://a.example, http://b:80, null,file://",
        ])
        var options = TransportServer.Options()
        settings.apply(to: &options)
        #expect(options.maxConnectionCount == 90)
        #expect(options.addressLimit == AddressLimit(connectionCount: 20, exemptsLoopback: false))
        #expect(options.trustedProxies == ["10.0.0.0/8", "::1"].compactMap { AddressBlock($0) })
        #expect(options.allowedOrigins == ["https://a.example", "http://b:80", "null", "file://"])
        let limits = settings.joinLimits(total: 90, projectCount: 2)
        #expect(limits.perProject == 30 && limits.perToken == 4)
    }

    @Test("WIRE-12: pages of every origin are accepted, unless the operator names some origins")
    func origins() async throws {
        for (environment, expected) in [
            ([:], nil),
            (["SIGNALBOX_ALLOWED_ORIGINS": "https://a.example"], ["https://a.example"]),
        ] as [([String: String], Set<String>?)] {
            var options = TransportServer.Options()
            try await admission(environment).apply(to: &options)
            #expect(options.allowedOrigins == expected, "\(environment)")
        }
    }

    @Test(
        "a malformed proxy or origin is an error that names it",
        arguments: [
            ("SIGNALBOX_TRUSTED_PROXY", "10.0.0.0/99"), ("SIGNALBOX_TRUSTED_PROXY", "10.0.0.1,"),
            ("SIGNALBOX_TRUSTED_PROXY", "proxy.example"), ("SIGNALBOX_ALLOWED_ORIGINS", "chat.example.org"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://chat.example.org/"), ("SIGNALBOX_ALLOWED_ORIGINS", "*"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://Chat.example.org"), ("SIGNALBOX_ALLOWED_ORIGINS", "https://"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "NULL"), ("SIGNALBOX_ALLOWED_ORIGINS", "file:///"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "file://host/"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://user@chat.example.org"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://chat.example.org:x"), ("SIGNALBOX_ALLOWED_ORIGINS", "1s://host"),
        ])
    func malformed(variable: String, value: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { _ = try await admission([variable: value]) }
        let last = value.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        #expect(try #require(error).description.contains("\"\(last)\" is not valid"))
    }
}
