import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport
import TestSupport
import Testing

@testable import SignalingServer

@Suite("The limits of projects and tokens, and the settings of admission")
struct AdmissionTests {
    private func key(_ project: String, _ token: String) -> JoinControl.Key {
        JoinControl.Key(project: APIKey(project), token: .init(of: token))
    }

    @Test("a project and a token have a limit each; leaving makes room, and other projects are not affected")
    func limits() {
        var control = JoinControl(limits: JoinLimits(perProject: 3, perToken: 2))
        let (ada, bob, cyd) = (key("100", "ada"), key("100", "bob"), key("200", "ada"))
        control.join(ada)
        #expect(control.refusal(of: ada) == nil)
        control.join(ada)
        #expect(control.refusal(of: ada) == .token)
        #expect(control.refusal(of: bob) == nil)
        control.join(bob)
        #expect(control.refusal(of: bob) == .project)
        #expect(control.refusal(of: key("200", "bob")) == nil)
        #expect(control.refusal(of: cyd) == .token, "the same token text")
        control.leave(ada)
        #expect(control.refusal(of: bob) == nil && control.refusal(of: ada) == nil)
        control.leave(ada)
        control.leave(bob)
        control.leave(bob)
        for _ in 0..<2 {
            #expect(control.refusal(of: ada) == nil)
            control.join(ada)
        }
        #expect(control.refusal(of: ada) == .token)
    }

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
            return JoinControl.Key(project: project.apiKey, token: .init(of: token))
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

    @Test("WIRE-15: a connection begins with the least allowance that another one with its token has left")
    func lineRates() {
        var ledger = LineRateLedger()
        let (ada, bob) = (key("100", "ada").token, key("100", "bob").token)
        func at(_ milliseconds: Int) -> MonotonicInstant {
            MonotonicInstant(nanoseconds: 0).advanced(by: .milliseconds(milliseconds))
        }
        #expect(ledger.fullAt(ada, now: at(0)) == nil)
        for moment in [500, 900, 700] { ledger.note(ada, fullAt: at(moment), now: at(0)) }
        ledger.note(bob, fullAt: at(0), now: at(0))
        #expect(ledger.count == 1, "a whole allowance is not kept")
        #expect(ledger.fullAt(bob, now: at(0)) == nil)
        for now in [0, 899] { #expect(ledger.fullAt(ada, now: at(now)) == at(900)) }
        #expect(ledger.fullAt(ada, now: at(900)) == nil && ledger.count == 0)
    }

    @Test("the ledger forgets tokens whose allowances are whole")
    func lineRatesOfManyTokens() {
        var ledger = LineRateLedger()
        for number in 0..<5_000 {
            let now = MonotonicInstant(nanoseconds: 0).advanced(by: .seconds(number))
            ledger.note(key("100", "\(number)").token, fullAt: now.advanced(by: .milliseconds(500)), now: now)
        }
        #expect(ledger.count <= 1_024)
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

    @Test(
        "a malformed proxy or origin is an error that names it",
        arguments: [
            ("SIGNALBOX_TRUSTED_PROXY", "10.0.0.0/99"), ("SIGNALBOX_TRUSTED_PROXY", "10.0.0.1,"),
            ("SIGNALBOX_TRUSTED_PROXY", "proxy.example"), ("SIGNALBOX_ALLOWED_ORIGINS", "chat.example.org"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://chat.example.org/"), ("SIGNALBOX_ALLOWED_ORIGINS", "*"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "https://Chat.example.org"), ("SIGNALBOX_ALLOWED_ORIGINS", "https://"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "NULL"), ("SIGNALBOX_ALLOWED_ORIGINS", "file:///"),
            ("SIGNALBOX_ALLOWED_ORIGINS", "file://host/"),
        ])
    func malformed(variable: String, value: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) { _ = try await admission([variable: value]) }
        let last = value.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        #expect(try #require(error).description.contains("\"\(last)\" is not valid"))
    }
}
