import Configuration
import FoundationEssentials
import JSONText
import SignalingCore
import SignalingProtocol
import SignalingTokens
import SignalingTransport

/// Where a server's settings come from: the command line beats the environment beats the file beats the default.
public struct ServerSettings: Sendable {
    /// A setting's one name, from which its others follow: `--api-key`, `SIGNALBOX_API_KEY`, `"apiKey"` in the file.
    public enum Name: String, CaseIterable, Sendable {
        case host, port, apiKey, apiSecret, dev, webRoot, allowPartnerAuth, tlsCert, tlsKey
        case resumeSeconds, recoverySeconds, logEvents, logBytes, sessionConnections
        case signalRate, signalBurst, onlineOnlyLimit, drainSeconds, stateDir
        case webhookUrl, webhookSecret
        /// Not on the command line.
        case webhookRetryMilliseconds, webhookQueueCount

        var isSecret: Bool {
            switch self {
            case .apiSecret, .webhookUrl, .webhookSecret: true
            case .host, .port, .apiKey, .dev, .webRoot, .allowPartnerAuth, .tlsCert, .tlsKey,
                .resumeSeconds, .recoverySeconds, .logEvents, .logBytes, .sessionConnections, .signalRate, .signalBurst,
                .onlineOnlyLimit, .drainSeconds, .stateDir,
                .webhookRetryMilliseconds, .webhookQueueCount:
                false
            }
        }
    }

    /// Settings that only the file has: lists.
    public enum ListName: String, CaseIterable, Sendable {
        case projects, applications
    }

    /// What the command line says; `nil` for what it does not mention.
    public var host: String?
    public var port: Int?
    public var apiKey: String?
    public var apiSecret: String?
    public var dev: Bool?
    public var webRoot: String?
    public var allowPartnerAuth: Bool?
    public var tlsCert: String?
    public var tlsKey: String?
    public var resumeSeconds: Int?
    public var recoverySeconds: Int?
    public var logEvents: Int?
    public var logBytes: Int?
    public var sessionConnections: Int?
    public var signalRate: Int?
    public var signalBurst: Int?
    public var onlineOnlyLimit: Int?
    public var drainSeconds: Int?
    public var stateDir: String?
    public var webhookUrl: String?
    public var webhookSecret: String?
    /// The file, if one is named here or by `SIGNALBOX_CONFIG`.
    public var file: String?

    public init(
        host: String? = nil, port: Int? = nil, apiKey: String? = nil, apiSecret: String? = nil, dev: Bool? = nil,
        webRoot: String? = nil, allowPartnerAuth: Bool? = nil, tlsCert: String? = nil, tlsKey: String? = nil,
        resumeSeconds: Int? = nil, recoverySeconds: Int? = nil, logEvents: Int? = nil, logBytes: Int? = nil,
        sessionConnections: Int? = nil, signalRate: Int? = nil, signalBurst: Int? = nil, onlineOnlyLimit: Int? = nil,
        drainSeconds: Int? = nil, stateDir: String? = nil,
        webhookUrl: String? = nil, webhookSecret: String? = nil, file: String? = nil
    ) {
        self.host = host
        self.port = port
        self.apiKey = apiKey
        self.apiSecret = apiSecret
        self.dev = dev
        self.webRoot = webRoot
        self.allowPartnerAuth = allowPartnerAuth
        self.tlsCert = tlsCert
        self.tlsKey = tlsKey
        self.resumeSeconds = resumeSeconds
        self.recoverySeconds = recoverySeconds
        self.logEvents = logEvents
        self.logBytes = logBytes
        self.sessionConnections = sessionConnections
        self.signalRate = signalRate
        self.signalBurst = signalBurst
        self.onlineOnlyLimit = onlineOnlyLimit
        self.drainSeconds = drainSeconds
        self.stateDir = stateDir
        self.webhookUrl = webhookUrl
        self.webhookSecret = webhookSecret
        self.file = file
    }

    /// Reads everything and says what is wrong with it, in one line.
    ///
    /// - Parameter environment: variables by name; those that begin with `SIGNALBOX_` are looked at.
    /// - Throws: ``ConfigurationError`` for a file that cannot be read or has unknown or malformed settings, a value of
    ///   the wrong kind, half a pair of credentials, a project that is malformed or there twice, a key file that cannot
    ///   be read, or a webhook that cannot be one.
    public func configuration(environment: [String: String]) async throws -> ServerConfiguration {
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: commandLineValues),
            EnvironmentVariablesProvider(
                environmentVariables: environment,
                secretsSpecifier: .specific([
                    "SIGNALBOX_API_SECRET", "SIGNALBOX_WEBHOOK_URL", "SIGNALBOX_WEBHOOK_SECRET",
                ])
            ).prefixKeys(with: "signalbox"),
        ]
        var listed: [Project] = []
        var projectWebhooks: [APIKey: WebhookReceiver] = [:]
        if let path = file ?? environment["SIGNALBOX_CONFIG"] {
            let file = try SettingsFile(path: path)
            providers.append(InMemoryProvider(name: "configuration file", values: file.values))
            listed = file.projects
            projectWebhooks = file.webhooks
        }
        let reader = ConfigReader(providers: providers)

        let apiKey = try await Self.read(.apiKey) { try await reader.fetchString(forKey: $0) }
        let apiSecret = try await Self.read(.apiSecret) { try await reader.fetchString(forKey: $0, isSecret: true) }
        let dev = try await Self.read(.dev) { try await reader.fetchBool(forKey: $0) }
        var configuration = ServerConfiguration(access: try Self.access(apiKey, apiSecret, listed, dev: dev))
        if let host = try await Self.read(.host, { try await reader.fetchString(forKey: $0) }) {
            configuration.host = host
        }
        if let port = try await Self.read(.port, { try await reader.fetchInt(forKey: $0) }) {
            configuration.port = port
        }
        configuration.webRoot = try await Self.read(.webRoot) { try await reader.fetchString(forKey: $0) }
        if let isAllowed = try await Self.read(.allowPartnerAuth, { try await reader.fetchBool(forKey: $0) }) {
            configuration.allowsPartnerAuth = isAllowed
        }
        let certificate = try await Self.read(.tlsCert) { try await reader.fetchString(forKey: $0) }
        let privateKey = try await Self.read(.tlsKey) { try await reader.fetchString(forKey: $0) }
        switch (certificate, privateKey) {
        case (let certificate?, let privateKey?):
            configuration.tls = .init(certificateFile: certificate, privateKeyFile: privateKey)
        case (_?, nil): throw ConfigurationError("a TLS certificate without its key: give --tls-key, too")
        case (nil, _?): throw ConfigurationError("a TLS key without its certificate: give --tls-cert, too")
        case (nil, nil): break
        }
        configuration.sessionBounds = try await Self.sessionBounds(reader, configuration.access)
        if let seconds = try await Self.number(.drainSeconds, in: 0...30, reader) {
            configuration.drainTime = .seconds(seconds)
        }
        configuration.stateFolder = try await Self.read(.stateDir) { try await reader.fetchString(forKey: $0) }
        if configuration.stateFolder == "" { throw ConfigurationError("the setting stateDir must not be empty") }
        configuration.webhook = try WebhookReceiver.read(
            url: try await Self.read(.webhookUrl) { try await reader.fetchString(forKey: $0, isSecret: true) },
            secret: try await Self.read(.webhookSecret) { try await reader.fetchString(forKey: $0, isSecret: true) })
        configuration.projectWebhooks = projectWebhooks
        if let pause = try await Self.number(.webhookRetryMilliseconds, in: 1...3_600_000, reader) {
            configuration.webhookBounds.firstPause = .milliseconds(pause)
        }
        if let count = try await Self.number(.webhookQueueCount, in: 1...1_000_000, reader) {
            configuration.webhookBounds.count = count
        }
        return configuration
    }

    private static func sessionBounds(
        _ reader: ConfigReader, _ access: ServerConfiguration.Access
    ) async throws -> SessionState.Bounds {
        let standard = SessionState.Bounds()
        return SessionState.Bounds(
            connectionCount: try await number(.sessionConnections, in: 1...1_000_000, reader)
                ?? standard.connectionCount,
            logEventCount: try await number(.logEvents, in: 1...1_000_000, reader) ?? standard.log.eventCount,
            logByteCount: try await number(.logBytes, in: 65_536...1_073_741_824, reader) ?? standard.log.byteCount,
            resumeWindow: try await number(.resumeSeconds, in: day, reader).map { .seconds($0) }
                ?? standard.resumeWindow,
            recoveryWindow: try await number(.recoverySeconds, in: day, reader).map { .seconds($0) }
                ?? standard.recoveryWindow,
            signalRate: try await signalRate(reader, access),
            onlineOnlyConnectionCount: try await number(.onlineOnlyLimit, in: 0...1_000_000, reader)
                ?? standard.onlineOnlyConnectionCount)
    }

    /// Who develops alone has nobody to be protected from, and may want to see what the server can do.
    private static func signalRate(
        _ reader: ConfigReader, _ access: ServerConfiguration.Access
    ) async throws -> RateLimit? {
        let standard: Int
        switch access {
        case .development: standard = 0
        case .project, .projects: standard = 200
        }
        let perSecond = try await number(.signalRate, in: 0...1_000_000, reader) ?? standard
        let burst = try await number(.signalBurst, in: 1...1_000_000, reader)
        return perSecond == 0 ? nil : RateLimit(perSecond: perSecond, burst: burst ?? 5 * perSecond)
    }

    private static let day = 0...86_400

    private static func number(_ name: Name, in range: ClosedRange<Int>, _ reader: ConfigReader) async throws -> Int? {
        guard let number = try await read(name, { try await reader.fetchInt(forKey: $0) }) else { return nil }
        guard range.contains(number) else {
            throw ConfigurationError(
                "the setting \(name.rawValue) has to be between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    /// Credentials come in pairs and join the file's projects, and development mode is never on beside them.
    private static func access(
        _ apiKey: String?, _ apiSecret: String?, _ listed: [Project], dev: Bool?
    ) throws -> ServerConfiguration.Access {
        var projects = listed
        switch (apiKey, apiSecret) {
        case (let key?, let secret?): projects.append(try ServerConfiguration.project(apiKey: key, apiSecret: secret))
        case (_?, nil):
            throw ConfigurationError("an API key without its secret: give --api-secret or SIGNALBOX_API_SECRET, too")
        case (nil, _?):
            throw ConfigurationError("an API secret without its key: give --api-key or SIGNALBOX_API_KEY, too")
        case (nil, nil): break
        }
        var known: Set<APIKey> = []
        for project in projects where !known.insert(project.apiKey).inserted {
            throw ConfigurationError("the project \(project.apiKey) is there twice: each API key has to be another one")
        }
        switch (projects.isEmpty, dev) {
        case (false, nil), (false, false?): return .projects(projects)
        case (false, true?):
            throw ConfigurationError(
                "development mode is not possible with an API key and a secret: leave out one or the other")
        case (true, false?): throw ConfigurationError("development mode is off, so an API key and a secret are needed")
        case (true, true?), (true, nil): return .development
        }
    }

    private var commandLineValues: [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        func set(_ name: Name, _ content: ConfigContent?) {
            guard let content else { return }
            values[AbsoluteConfigKey([name.rawValue])] = ConfigValue(content, isSecret: name.isSecret)
        }
        set(.host, host.map { .string($0) })
        set(.port, port.map { .int($0) })
        set(.apiKey, apiKey.map { .string($0) })
        set(.apiSecret, apiSecret.map { .string($0) })
        set(.dev, dev.map { .bool($0) })
        set(.webRoot, webRoot.map { .string($0) })
        set(.allowPartnerAuth, allowPartnerAuth.map { .bool($0) })
        set(.tlsCert, tlsCert.map { .string($0) })
        set(.tlsKey, tlsKey.map { .string($0) })
        set(.resumeSeconds, resumeSeconds.map { .int($0) })
        set(.recoverySeconds, recoverySeconds.map { .int($0) })
        set(.logEvents, logEvents.map { .int($0) })
        set(.logBytes, logBytes.map { .int($0) })
        set(.sessionConnections, sessionConnections.map { .int($0) })
        set(.signalRate, signalRate.map { .int($0) })
        set(.signalBurst, signalBurst.map { .int($0) })
        set(.onlineOnlyLimit, onlineOnlyLimit.map { .int($0) })
        set(.drainSeconds, drainSeconds.map { .int($0) })
        set(.stateDir, stateDir.map { .string($0) })
        set(.webhookUrl, webhookUrl.map { .string($0) })
        set(.webhookSecret, webhookSecret.map { .string($0) })
        return values
    }

    private static func read<Value>(
        _ name: Name, _ fetch: (ConfigKey) async throws -> Value?
    ) async throws -> Value? {
        do { return try await fetch(ConfigKey([name.rawValue])) } catch {
            throw ConfigurationError("the setting \(name.rawValue) has a value of the wrong kind")
        }
    }
}
