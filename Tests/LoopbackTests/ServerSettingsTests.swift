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

@Suite("A server's settings", .timeLimit(.minutes(5)))
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

    /// The configuration from a file with this text and other settings.
    private func configuration(
        _ text: String, _ settings: ServerSettings = .init(), environment: [String: String] = [:]
    ) async throws -> ServerConfiguration {
        try write(text, to: "signalbox.json")
        var settings = settings
        settings.config = path("signalbox.json")
        return try await settings.configuration(environment: environment)
    }

    /// Values on the command line.
    private func given(_ give: (inout ServerSettings) -> Void) -> ServerSettings {
        var settings = ServerSettings()
        give(&settings)
        return settings
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

    @Test("RES-14: a log keeps events for as long as a client may ask for them", arguments: [60, 3_600])
    func logAge(seconds: Int) async throws {
        let settings = given {
            $0.resumeSeconds = 30
            $0.recoverySeconds = seconds
        }
        let bounds = try await settings.configuration(environment: [:]).sessionBounds
        #expect(bounds.log.age == .seconds(seconds) && bounds.recoveryWindow == .seconds(seconds))
        #expect(bounds.resumeWindow == .seconds(30))
    }

    @Test("without settings the server is in development mode on the loopback interface")
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

        configuration = try await self.configuration(file, given { $0.port = 4 }, environment: environment)
        #expect(configuration.host == "127.0.0.3")
        #expect(configuration.port == 4)
    }

    @Test("SIGNALBOX_CONFIG names the file, and --config another one")
    func files() async throws {
        try write(#"{"port": 1}"#, to: "one.json")
        try write(#"{"port": 2}"#, to: "two.json")
        let environment = ["SIGNALBOX_CONFIG": path("one.json")]
        #expect(try await ServerSettings().configuration(environment: environment).port == 1)
        #expect(try await given { $0.config = path("two.json") }.configuration(environment: environment).port == 2)
    }

    @Test("projects, applications and the pair from the command line are all served")
    func listed() async throws {
        let file = """
            {"projects": [{"apiKey": "100", "secrets": ["new", "old"]}, {"apiKey": "101", "secrets": ["s"]}],
             "applications": [{"applicationId": "\(Self.applicationID)", "publicKeyFile": "app.pem"}]}
            """
        #expect(try projects(try await configuration(file)) == ["100", "101", Self.applicationID])
        #expect(
            try projects(try await configuration(file, given { ($0.apiKey, $0.apiSecret) = ("102", "s") }))
                == ["100", "101", Self.applicationID, "102"])
        #expect(
            try projects(
                try await configuration(
                    #"{"apiKey": "7", "apiSecret": "s"}"#, environment: ["SIGNALBOX_API_SECRET": "t"])) == ["7"])
        let absolute = file.replacing("app.pem", with: path("app.pem"))
        #expect(try projects(try await configuration(absolute)).count == 3)
    }

    static let badFiles: [(String, String)] = [
        (#"{"projects": []}"#, #"signalbox.json: "projects" must be a list that is not empty"#),
        (#"{"projects": {}}"#, #"signalbox.json: "projects" must be a list that is not empty"#),
        (#"{"projects": [7]}"#, "signalbox.json: projects[0] is not a JSON object"),
        (#"{"projects": [{"secrets": ["hidden"]}]}"#, #"projects[0] needs "apiKey", a string that is not empty"#),
        (
            #"{"projects": [{"apiKey": "a b", "secrets": ["hidden"]}]}"#,
            "projects[0]: the API key is not valid. Use 1 to 64 letters, digits or characters - . _"
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
            #"projects[0] has an unknown setting "secret". Did you mean "secrets"?"#
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"]}, {"apiKey": "100", "secrets": ["hidden"]}]}"#,
            "the project 100 appears twice. Give each project its own API key."
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["hidden"]}], "apiKey": "100", "apiSecret": "hidden"}"#,
            "the project 100 appears twice. Give each project its own API key."
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["hidden"]}], "dev": true}"#,
            "development mode cannot be combined with an API key or projects. Remove --dev or the credentials."
        ),
        (
            #"{"applications": [{"applicationId": "100", "publicKeyFile": "app.pem"}]}"#,
            #""applicationId" is "100". Use a UUID."#
        ),
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
            """#,
            "applications[0]: the file signalbox.json has no usable key. Use an RSA public key of 2048 bits or more"
        ),
        (
            #"""
            {"applications": [{"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "app.pem"},
                              {"applicationId": "6f6c9c84-3b1e-4f70-9a0a-000000000001", "publicKeyFile": "app.pem"}]}
            """#, "the project 6f6c9c84-3b1e-4f70-9a0a-000000000001 appears twice"
        ),
        (
            #"{"applications": [{"publicKey": ""}]}"#,
            #"applications[0] has an unknown setting "publicKey". It can have: applicationId, publicKeyFile, history, changes, readMarkers, feed, userFrom, revoked, webhookUrl"#
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": "hidden"}]}"#,
            "projects[0]: the webhook URL is not valid. Use a URL that begins with http:// or https:// and names a host."
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookSecret": "hidden"}]}"#,
            "projects[0]: a webhook secret is given without its URL"
        ),
        (
            #"{"projects": [{"apiKey": "100", "secrets": ["a"], "webhookUrl": 7}]}"#,
            #"projects[0] needs "webhookUrl", a string that is not empty"#
        ),
        (#"{"webhookUrl": "https://me:hidden@example.org"}"#, "the webhook URL has a user name or a password"),
        (#"{"webhookSecret": "hidden"}"#, "a webhook secret is given without its URL. Add --webhook-url"),
        (#"{"feedEntries": 0}"#, "the setting feedEntries is 0 (\"feedEntries\" in "),
        (#"{"apikey": "100"}"#, #"signalbox.json has an unknown setting "apikey". Did you mean "apiKey"?"#),
        (#"{"port": "80"}"#, #"the setting port is "80" ("port" in "#),
        (#"{"port": "80"}"#, #"signalbox.json). Use a whole number from 0 to 65535."#),
        (#"{"port": true}"#, "the setting port is true "),
        (#"{"port": 1.5}"#, "the setting port is 1.5 "),
        (#"{"port": null}"#, "the setting port is null "),
        (#"{"apiSecret": ["hidden"]}"#, #"the setting apiSecret is not valid ("apiSecret" in "#),
        (#"{"allowPartnerAuth": "yes"}"#, #"the setting allowPartnerAuth is "yes" ("#),
        (#"{"apiSecret": "hidden"}"#, "an API secret is given without its key. Add --api-key or SIGNALBOX_API_KEY."),
        (#"{"apiKey": "100"}"#, "an API key is given without its secret. Add --api-secret or SIGNALBOX_API_SECRET."),
        (#"{"apiKey": "100", "apiSecret": ""}"#, "the setting apiSecret is empty ("),
        (#"{"apiKey": "a b", "apiSecret": "hidden"}"#, "The key has 1 to 64 letters"),
        (#"{"config": "other.json"}"#, #"cannot have the setting "config". Use --config or SIGNALBOX_CONFIG."#),
        (#"{"logLevel": "loud"}"#, #"the setting logLevel is "loud" ("logLevel" in "#),
        (#"{"tokenExpiry": "never"}"#, #"the setting tokenExpiry is "never" ("tokenExpiry" in "#),
        (#"{"nothingLikeIt": 1}"#, #"unknown setting "nothingLikeIt". It can have: host, port, apiKey"#),
        (#"{"apiKey": "a", "apiKey": "b"}"#, "signalbox.json is not JSON: "),
        ("[]", "signalbox.json is not a JSON object"),
        ("", "signalbox.json is not JSON: "),
    ]

    @Test("an error in the file is one line without secrets", arguments: badFiles)
    func wrong(_ text: String, _ expected: String) async throws {
        let message = try await message { try await configuration(text) }
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"))
        #expect(!message.contains("hidden"))
    }

    @Test("an error names a file that does not exist")
    func missing() async throws {
        let message = try await message {
            try await given { $0.config = path("none.json") }.configuration(environment: [:])
        }
        #expect(message.hasPrefix("the configuration file \(path("none.json")) cannot be read"))
    }

    @Test("a project's webhook beats the server's, and their descriptions show no secret")
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
        #expect(configuration.historyBounds.feedEntryCount == 50_000)
        configuration = try await self.configuration(
            file, given { $0.webhookUrl = "https://line.example.org" },
            environment: [
                "SIGNALBOX_WEBHOOK_URL": "https://environment.example.org", "SIGNALBOX_WEBHOOK_SECRET": "hidden",
                "SIGNALBOX_FEED_ENTRIES": "5",
            ])
        #expect(configuration.webhook?.description == "https://line.example.org")
        #expect(configuration.historyBounds.feedEntryCount == 5)
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hidden"))
    }

    @Test("SIG-11: the default rate is 200 a second with bursts of five seconds, and unlimited in development mode")
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
        #expect(try await rate("{}", given { $0.signalRate = 7 }) == RateLimit(perSecond: 7, burst: 35))
        #expect(try await rate(project, given { ($0.signalRate, $0.signalBurst) = (0, 9) }) == nil)
        #expect(try await rate(project, given { $0.signalBurst = 1 }) == RateLimit(perSecond: 200, burst: 1))
        let variables = ["SIGNALBOX_SIGNAL_RATE": "3", "SIGNALBOX_SIGNAL_BURST": "4"]
        #expect(try await rate(project, .init(), variables) == RateLimit(perSecond: 3, burst: 4))
        #expect(try await rate(project, given { $0.signalRate = 5 }, variables) == RateLimit(perSecond: 5, burst: 4))
        let file = #"{"apiKey": "100", "apiSecret": "s", "signalRate": 1, "signalBurst": 2}"#
        #expect(try await rate(file) == RateLimit(perSecond: 1, burst: 2))
    }

    @Test("SIG-12, LEAVE-5, RES-15: online-only limit, drain time and state folder, from each source")
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
            file,
            given { settings in
                settings.onlineOnlyLimit = 8
                settings.drainSeconds = 1
                settings.stateDir = "from the line"
            }, environment: environment)
        #expect(configuration.sessionBounds.onlineOnlyConnectionCount == 8)
        #expect(configuration.drainTime == .seconds(1))
        #expect(configuration.stateFolder == "from the line")
    }

    static let badNumbers: [(String, String)] = [
        (#""signalRate": -1"#, "signalRate is -1 | a whole number from 0 to 1000000"),
        (#""signalRate": 1000001"#, "signalRate is 1000001 | a whole number from 0 to 1000000"),
        (#""signalBurst": 0"#, "signalBurst is 0 | a whole number from 1 to 1000000"),
        (#""signalBurst": 1000001"#, "signalBurst is 1000001 | a whole number from 1 to 1000000"),
        (#""onlineOnlyLimit": -1"#, "onlineOnlyLimit is -1 | a whole number from 0 to 1000000"),
        (#""drainSeconds": 31"#, "drainSeconds is 31 | a whole number from 0 to 30"),
        (#""drainSeconds": -1"#, "drainSeconds is -1 | a whole number from 0 to 30"),
        (#""drainSeconds": "5""#, #"drainSeconds is "5" | a whole number from 0 to 30"#),
        (#""stateDir": 5"#, "stateDir is 5 | the path of a folder"),
        (#""stateDir": """#, "stateDir is empty | the path of a folder"),
    ]

    @Test("an error names the setting, the value, where it is, and what it has to be", arguments: badNumbers)
    func wrongNumbers(_ setting: String, _ expected: String) async throws {
        let name = try #require(expected.split(separator: " ").first)
        let location = "(\"\(name)\" in \(path("signalbox.json")))"
        let message = try await message { try await configuration("{\(setting)}") }
        #expect(message == "the setting " + expected.replacing("|", with: "\(location). Use") + ".")
    }

    @Test("an error names the option or the variable that is wrong, and no secret")
    func wrongSources() async throws {
        let option = try await message { try await configuration("{}", given { $0.port = 65_536 }) }
        #expect(option == "the setting port is 65536 (--port). Use a whole number from 0 to 65535.")
        func wrong(_ variable: String, _ value: String) async throws -> String {
            try await message { try await ServerSettings().configuration(environment: [variable: value]) }
        }
        #expect(
            try await wrong("SIGNALBOX_DEV", "maybe")
                == #"the setting dev is "maybe" (SIGNALBOX_DEV). Use true or false."#)
        #expect(try await wrong("SIGNALBOX_LOG_LEVEL", "loud").hasPrefix(#"the setting logLevel is "loud" (SIGNAL"#))
        #expect(try await wrong("SIGNALBOX_API_KEY", "").hasPrefix("the setting apiKey is empty (SIGNALBOX_API_K"))
        #expect(!(try await wrong("SIGNALBOX_WEBHOOK_URL", "hidden").contains("hidden")))
    }

    @Test("RES-15: concurrent stops wait for the same end, after which the command log is closed")
    func stoppedTwice() async throws {
        // SQLite removes this file when the last user of a database closes it.
        let file = path("state/sessions.sqlite-wal")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        for _ in 0..<5 {
            let server = try SignalingServer(
                configuration: ServerConfiguration(port: 0, access: .development, stateFolder: path("state")),
                logger: logger)
            let address = try await server.start()
            #expect(address.developmentSecret?.count == 32)
            #expect(FileManager.default.fileExists(atPath: file))
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        await server.stop()
                        #expect(!FileManager.default.fileExists(atPath: file))
                    }
                }
            }
            await server.stop()
        }
    }

    @Test("CON-3, TOK-8: a server accepts the clients of each of its projects")
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
            let id = SessionIDCodec.make(for: project, now: .current, using: &randomness)
            let token = try T1Token.make(
                AccessRequest(sessionId: id), project: project, now: .current, using: &randomness)
            let session = Session(apiKey: key, sessionId: id.rawValue, server: address.url)
            let error = await refusal { try await session.connect(token: token) }
            #expect((error == nil) == isGood, "\(key) \(secret)")
            if error == nil { await session.disconnect() }
        }
        await server.stop()
    }
}
