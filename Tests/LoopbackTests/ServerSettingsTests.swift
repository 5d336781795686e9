import Foundation
import JSONText
import Logging
import SignalingClient
import SignalingCore
import SignalingProtocol
import SignalingServer
import SignalingTokens
import TestSupport
import Testing

@Suite("A server's settings", .timeLimit(.minutes(1)))
final class ServerSettingsTests {
    static let applicationID = "6f6c9c84-3b1e-4f70-9a0a-000000000001"
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pem = try #require(try Vectors.load("tokens/application.json")["publicKey"]?.stringValue)
        try write(pem, to: "app.pem")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The configuration that a file with this text gives, with other settings beside it.
    private func configuration(
        _ text: String, _ settings: ServerSettings = .init(), environment: [String: String] = [:]
    ) async throws -> ServerConfiguration {
        try write(text, to: "signalbox.json")
        var settings = settings
        settings.file = path("signalbox.json")
        return try await settings.configuration(environment: environment)
    }

    private func projects(_ configuration: ServerConfiguration) throws -> [String] {
        guard case .projects(let projects) = configuration.access else {
            Issue.record("no projects")
            return []
        }
        return projects.map(\.apiKey.rawValue)
    }

    private func message(_ call: () async throws -> ServerConfiguration) async throws -> String {
        let error = await #expect(throws: ConfigurationError.self) { try await call() }
        return try #require(error).description
    }

    @Test("nothing at all is development mode on the loopback")
    func nothing() async throws {
        let configuration = try await ServerSettings().configuration(environment: [:])
        guard case .development = configuration.access else {
            Issue.record("not development mode")
            return
        }
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8080)
        #expect(configuration.webRoot == nil)
        #expect(!configuration.allowsPartnerAuth)
    }

    @Test("the command line beats the environment, which beats the file, which beats the default")
    func precedence() async throws {
        let file = #"{"host": "127.0.0.2", "port": 2, "webRoot": "file", "allowPartnerAuth": false}"#
        var configuration = try await configuration(file)
        #expect(configuration.host == "127.0.0.2")
        #expect(configuration.port == 2)
        #expect(configuration.webRoot == "file")

        let environment = [
            "SIGNALBOX_HOST": "127.0.0.3", "SIGNALBOX_PORT": "3", "SIGNALBOX_ALLOW_PARTNER_AUTH": "true", "PORT": "9",
        ]
        configuration = try await self.configuration(file, environment: environment)
        #expect(configuration.host == "127.0.0.3")
        #expect(configuration.port == 3)
        #expect(configuration.webRoot == "file")
        #expect(configuration.allowsPartnerAuth)

        configuration = try await self.configuration(file, .init(port: 4), environment: environment)
        #expect(configuration.host == "127.0.0.3")
        #expect(configuration.port == 4)
    }

    @Test("SIGNALBOX_CONFIG names the file, and --config another one")
    func files() async throws {
        try write(#"{"port": 1}"#, to: "one.json")
        try write(#"{"port": 2}"#, to: "two.json")
        let environment = ["SIGNALBOX_CONFIG": path("one.json")]
        #expect(try await ServerSettings().configuration(environment: environment).port == 1)
        #expect(try await ServerSettings(file: path("two.json")).configuration(environment: environment).port == 2)
    }

    @Test("projects, applications and the pair from the command line are all served")
    func listed() async throws {
        let file = """
            {"projects": [{"apiKey": "100", "secrets": ["new", "old"]}, {"apiKey": "101", "secrets": ["s"]}],
             "applications": [{"applicationId": "\(Self.applicationID)", "publicKeyFile": "app.pem"}]}
            """
        #expect(try projects(try await configuration(file)) == ["100", "101", Self.applicationID])
        #expect(
            try projects(try await configuration(file, .init(apiKey: "102", apiSecret: "s")))
                == ["100", "101", Self.applicationID, "102"])
        #expect(
            try projects(
                try await configuration(
                    #"{"apiKey": "7", "apiSecret": "s"}"#, environment: ["SIGNALBOX_API_SECRET": "t"])) == ["7"])
        let absolute = file.replacing("app.pem", with: path("app.pem"))
        #expect(try projects(try await configuration(absolute)).count == 3)
    }

    static let badFiles: [(String, String)] = [
        (#"{"projects": []}"#, #"signalbox.json: "projects" has to be a list that is not empty"#),
        (#"{"projects": {}}"#, #"signalbox.json: "projects" has to be a list that is not empty"#),
        (#"{"projects": [7]}"#, "signalbox.json: projects[0] is not a JSON object"),
        (#"{"projects": [{"secrets": ["hidden"]}]}"#, #"projects[0] needs "apiKey", a string that is not empty"#),
        (
            #"{"projects": [{"apiKey": "a b", "secrets": ["hidden"]}]}"#,
            "projects[0]: the API key has to have 1 to 64 letters, digits or characters - . _"
        ),
        (#"{"projects": [{"apiKey": "100"}]}"#, #"projects[0] needs "secrets", a list of strings"#),
        (#"{"projects": [{"apiKey": "100", "secrets": "hidden"}]}"#, #"needs "secrets", a list of strings"#),
        (#"{"projects": [{"apiKey": "100", "secrets": ["hidden", 1]}]}"#, #"needs "secrets", a list of strings"#),
        (#"{"projects": [{"apiKey": "100", "secrets": []}]}"#, "projects[0] has 0 secrets"),
        (#"{"projects": [{"apiKey": "100", "secrets": ["hidden", "b", "c"]}]}"#, "projects[0] has 3 secrets"),
        (#"{"projects": [{"apiKey": "100", "secrets": [""]}]}"#, "projects[0] has an empty secret"),
        (#"{"projects": [{"apiKey": "100", "secrets": ["hidden", ""]}]}"#, "projects[0] has an empty secret"),
        (#"{"projects": [{"apiKey": "100", "secrets": ["hidden", "hidden"]}]}"#, "has the same secret twice"),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["hidden"], "secret": "hidden"}]}"#,
            #"projects[0] has an unknown setting "secret" (known: apiKey, secrets, webhookUrl, webhookSecret)"#
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"]}, {"apiKey": "100", "secrets": ["hidden"]}]}"#,
            "the project 100 is there twice: each API key has to be another one"
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["hidden"]}], "apiKey": "100", "apiSecret": "hidden"}"#,
            "the project 100 is there twice: each API key has to be another one"
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["hidden"]}], "dev": true}"#,
            "development mode is not possible with an API key and a secret: leave out one or the other"
        ),
        (#"{"applications": [{"applicationId": "100", "publicKeyFile": "app.pem"}]}"#, "has to be a UUID"),
        (
            #"{"applications": [{"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001"}]}"#,
            #"applications[0] needs "publicKeyFile", a string that is not empty"#
        ),
        (
            #"{"applications": [{"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "no.pem"}]}"#,
            "applications[0]: the public key file no.pem cannot be read"
        ),
        (
            #"""
            {"applications":
             [{"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "signalbox.json"}]}
            """#, "applications[0]: the file signalbox.json is not an RSA public key of 2048 bits or more in PEM"
        ),
        (
            #"""
            {"applications": [{"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "app.pem"},
                              {"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "app.pem"}]}
            """#, "the project 6f6c9c84-3b1e-4f70-9a0a-000000000001 is there twice"
        ),
        (
            #"{"applications": [{"publicKey": ""}]}"#,
            #"applications[0] has an unknown setting "publicKey" (known: applicationId, publicKeyFile, webhookUrl, webhookSecret)"#
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": "hidden"}]}"#,
            "projects[0]: the webhook URL has to begin with http:// or https:// and name a host"
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookSecret": "hidden"}]}"#,
            "projects[0]: a webhook secret without its URL"
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": 7}]}"#,
            #"projects[0] needs "webhookUrl", a string that is not empty"#
        ),
        (#"{"webhookUrl": "https://me:hidden@example.org"}"#, "must not have a name and a password in it"),
        (#"{"webhookSecret": "hidden"}"#, "a webhook secret without its URL: give --webhook-url, too"),
        (#"{"webhookQueueCount": 0}"#, "the setting webhookQueueCount has to be between 1 and 1000000"),
        (#"{"apikey": "100"}"#, #"signalbox.json has an unknown setting "apikey" (known: host, port, apiKey"#),
        (#"{"port": "80"}"#, "the setting port has a value of the wrong kind"),
        (#"{"port": true}"#, "the setting port has a value of the wrong kind"),
        (#"{"port": 1.5}"#, "the setting port has a value of the wrong kind"),
        (#"{"port": null}"#, "the setting port has a value of the wrong kind"),
        (#"{"apiSecret": ["hidden"]}"#, "the setting apiSecret has a value of the wrong kind"),
        (#"{"allowPartnerAuth": "yes"}"#, "the setting allowPartnerAuth has a value of the wrong kind"),
        (#"{"apiSecret": "hidden"}"#, "an API secret without its key: give --api-key or SIGNALBOX_API_KEY, too"),
        (#"{"apiKey": "100"}"#, "an API key without its secret: give --api-secret or SIGNALBOX_API_SECRET, too"),
        (#"{"apiKey": "100", "apiSecret": ""}"#, "the API key has to have 1 to 64 letters"),
        (#"{"apiKey": "a", "apiKey": "b"}"#, "signalbox.json is not JSON: "),
        ("[]", "signalbox.json is not a JSON object"),
        ("", "signalbox.json is not JSON: "),
    ]

    @Test("what is wrong in the file is said in one line, and no secret with it", arguments: badFiles)
    func wrong(_ text: String, _ expected: String) async throws {
        let message = try await message { try await configuration(text) }
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"))
        #expect(!message.contains("hidden"))
    }

    @Test("a file that is not there is said")
    func missing() async throws {
        let message = try await message {
            try await ServerSettings(file: path("none.json")).configuration(environment: [:])
        }
        #expect(message == "the configuration file \(path("none.json")) cannot be read")
    }

    @Test("webhooks are those of the project, or else those of the server, and what they are described by is no secret")
    func webhooks() async throws {
        let file = """
            {"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": "https://own.example.org:444/hidden"},
                          {"apiKey": "101", "secrets": ["b"]}],
             "webhookUrl": "http://file.example.org/hidden", "webhookRetryMilliseconds": 250}
            """
        var configuration = try await configuration(file)
        #expect(
            configuration.projectWebhooks.mapValues(\.description) == [APIKey("100"): "https://own.example.org:444"])
        #expect(configuration.webhook?.description == "http://file.example.org")
        #expect(configuration.webhookBounds.firstPause == .milliseconds(250))
        #expect(configuration.webhookBounds.count == 10_000)
        configuration = try await self.configuration(
            file, .init(webhookUrl: "https://line.example.org"),
            environment: [
                "SIGNALBOX_WEBHOOK_URL": "https://environment.example.org", "SIGNALBOX_WEBHOOK_SECRET": "hidden",
                "SIGNALBOX_WEBHOOK_QUEUE_COUNT": "5",
            ])
        #expect(configuration.webhook?.description == "https://line.example.org")
        #expect(configuration.webhookBounds.count == 5)
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hidden"))
    }

    @Test("SIG-11: the rate is 200 a second and five seconds' worth at once, and none in development mode")
    func signalRate() async throws {
        let project = #"{"apiKey": "100", "apiSecret": "s"}"#
        func rate(_ text: String, _ settings: ServerSettings = .init(), _ variables: [String: String] = [:])
            async throws
            -> RateLimit?
        {
            try await configuration(text, settings, environment: variables).sessionBounds.signalRate
        }
        #expect(try await rate(project) == RateLimit(perSecond: 200, burst: 1_000))
        #expect(try await rate("{}") == nil)
        #expect(try await rate("{}", .init(signalRate: 7)) == RateLimit(perSecond: 7, burst: 35))
        #expect(try await rate(project, .init(signalRate: 0, signalBurst: 9)) == nil)
        #expect(try await rate(project, .init(signalBurst: 1)) == RateLimit(perSecond: 200, burst: 1))
        let variables = ["SIGNALBOX_SIGNAL_RATE": "3", "SIGNALBOX_SIGNAL_BURST": "4"]
        #expect(try await rate(project, .init(), variables) == RateLimit(perSecond: 3, burst: 4))
        #expect(try await rate(project, .init(signalRate: 5), variables) == RateLimit(perSecond: 5, burst: 4))
        let file = #"{"apiKey": "100", "apiSecret": "s", "signalRate": 1, "signalBurst": 2}"#
        #expect(try await rate(file) == RateLimit(perSecond: 1, burst: 2))
    }

    @Test("SIG-12, LEAVE-5, RES-15: online-only limit, drain time and state folder, from each of their places")
    func onlineOnlyDrainAndState() async throws {
        var configuration = try await configuration("{}")
        #expect(configuration.sessionBounds.onlineOnlyConnectionCount == 100)
        #expect(configuration.drainTime == .seconds(5))
        #expect(configuration.stateFolder == nil)
        let file = #"{"onlineOnlyLimit": 0, "drainSeconds": 30, "stateDir": "from the file"}"#
        configuration = try await self.configuration(file)
        #expect(configuration.sessionBounds.onlineOnlyConnectionCount == 0)
        #expect(configuration.drainTime == .seconds(30))
        #expect(configuration.stateFolder == "from the file")
        let environment = [
            "SIGNALBOX_ONLINE_ONLY_LIMIT": "7", "SIGNALBOX_DRAIN_SECONDS": "0", "SIGNALBOX_STATE_DIR": "from outside",
        ]
        configuration = try await self.configuration(file, environment: environment)
        #expect(configuration.sessionBounds.onlineOnlyConnectionCount == 7)
        #expect(configuration.drainTime == .zero)
        #expect(configuration.stateFolder == "from outside")
        configuration = try await self.configuration(
            file, .init(onlineOnlyLimit: 8, drainSeconds: 1, stateDir: "from the line"), environment: environment)
        #expect(configuration.sessionBounds.onlineOnlyConnectionCount == 8)
        #expect(configuration.drainTime == .seconds(1))
        #expect(configuration.stateFolder == "from the line")
    }

    static let badNumbers: [(String, String)] = [
        (#""signalRate": -1"#, "the setting signalRate has to be between 0 and 1000000"),
        (#""signalRate": 1000001"#, "the setting signalRate has to be between 0 and 1000000"),
        (#""signalBurst": 0"#, "the setting signalBurst has to be between 1 and 1000000"),
        (#""signalBurst": 1000001"#, "the setting signalBurst has to be between 1 and 1000000"),
        (#""onlineOnlyLimit": -1"#, "the setting onlineOnlyLimit has to be between 0 and 1000000"),
        (#""drainSeconds": 31"#, "the setting drainSeconds has to be between 0 and 30"),
        (#""drainSeconds": -1"#, "the setting drainSeconds has to be between 0 and 30"),
        (#""drainSeconds": "5""#, "the setting drainSeconds has a value of the wrong kind"),
        (#""stateDir": 5"#, "the setting stateDir has a value of the wrong kind"),
        (#""stateDir": """#, "the setting stateDir must not be empty"),
    ]

    @Test("what they cannot be is said in one line", arguments: badNumbers)
    func wrongNumbers(_ setting: String, _ expected: String) async throws {
        #expect(try await message { try await configuration("{\(setting)}") } == expected)
    }

    @Test("RES-15: whoever stops a server that is stopping waits for the same end, after which the state is there")
    func stoppedTwice() async throws {
        let file = path("state/sessions.state")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        for _ in 0..<5 {
            let server = try SignalingServer(
                configuration: ServerConfiguration(port: 0, access: .development, stateFolder: path("state")),
                logger: logger)
            let address = try await server.start()
            #expect(address.developmentSecret?.count == 32)
            #expect(!FileManager.default.fileExists(atPath: file))
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        await server.stop()
                        #expect(FileManager.default.fileExists(atPath: file))
                    }
                }
            }
            await server.stop()
        }
    }

    @Test("CON-3, TOK-8: a server lets in the clients of each of its projects")
    func served() async throws {
        let file = #"{"projects": [{"apiKey": "100", "secrets": ["new", "old"]}, {"apiKey": "101", "secrets": ["s"]}]}"#
        var configuration = try await configuration(file)
        configuration.port = 0
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try SignalingServer(configuration: configuration, logger: logger)
        let address = try await server.start()
        var randomness = SystemRandomNumberGenerator()
        for (key, secret, isGood) in [
            ("100", "new", true), ("100", "old", true), ("101", "s", true), ("101", "new", false),
        ] {
            let project = try #require(Project(apiKey: APIKey(key), secret: secret))
            let id = SessionIDCodec.make(for: project, now: .now, using: &randomness)
            let token = try T1Token.make(
                AccessRequest(sessionID: id), project: project, now: .now, using: &randomness)
            let session = Session(apiKey: key, sessionId: id.rawValue, server: address.url)
            let error = await refusal { try await session.connect(token: token) }
            #expect((error == nil) == isGood, "\(key) \(secret)")
            if error == nil { await session.disconnect() }
        }
        await server.stop()
    }
}
