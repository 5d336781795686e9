import Configuration
import SignalingCore
import SignalingProtocol
import SignalingRedis
import SignalingSQLite
import SignalingTokens
import SignalingTransport

/// The values of settings. Each setting of ``SettingsTable`` is a member with its name, `nil` when no value is given.
///
/// The command line fills one of these. ``configuration(environment:)`` adds the values of the environment and the
/// file.
@dynamicMemberLookup
public struct ServerSettings: Sendable {
    var values: [String: ConfigContent] = [:]

    public init() {}

    public subscript<Value>(dynamicMember path: KeyPath<SettingsTable, Setting<Value>>) -> Value? {
        get {
            let setting = SettingsTable.shared[keyPath: path]
            return values[setting.declaration.name].flatMap(setting.unwrap)
        }
        set {
            let setting = SettingsTable.shared[keyPath: path]
            values[setting.declaration.name] = newValue.map(setting.wrap)
        }
    }

    /// Sets a setting by its name.
    ///
    /// - Parameter value: of the setting's type; another one counts as none.
    package mutating func set(_ name: String, to value: Any) {
        switch value {
        case let text as String: values[name] = .string(text)
        case let number as Int: values[name] = .int(number)
        case let isOn as Bool: values[name] = .bool(isOn)
        default: values[name] = nil
        }
    }

    /// Reads all settings: the command line overrides the environment, which overrides the file, which overrides the
    /// defaults.
    ///
    /// - Parameter environment: variables by name; only those that begin with `SIGNALBOX_` matter.
    /// - Throws: ``ConfigurationError`` for a file that cannot be read or has unknown or malformed settings, a value of
    ///   the wrong kind or outside its bounds, half a pair of credentials, a project that is malformed or appears
    ///   twice, a key file that cannot be read, or an invalid webhook.
    public func configuration(environment: [String: String]) async throws -> ServerConfiguration {
        try await resolved(environment: environment).configuration()
    }

    /// The effective values from all sources, and the lists of the file.
    ///
    /// - Throws: ``ConfigurationError`` with the faults of all values.
    package func resolved(environment: [String: String]) async throws -> ResolvedSettings {
        let (settings, faults) = await read(environment: environment)
        try faults.finish()
        return settings
    }

    /// The values that can be used, and the faults of the others.
    func read(environment: [String: String]) async -> (ResolvedSettings, FaultCollector) {
        var faults = FaultCollector()
        let (sources, file) = await sources(environment: environment, &faults)
        var settings = ServerSettings()
        var places: [String: String] = [:]
        for declaration in SettingsTable.declarations where !declaration.isList {
            do {
                guard let found = try await sources.found(declaration) else { continue }
                settings.values[declaration.name] = found.content
                places[declaration.name] = found.source
            } catch {
                faults.addUnusable(error, declaration.name)
                let config = SettingsTable.shared.config.declaration.name
                if declaration.name == config { faults.markUnusable(SettingsTable.declarations.map(\.name)) }
            }
        }
        for list in SettingsTable.declarations where list.isList && file?.count(of: list) ?? 0 > 0 {
            places[list.name] = file?.source.spelling(list)
        }
        let resolved = ResolvedSettings(
            values: settings, places: places,
            warnings: GivenVariables(environment).warnings + Self.blankWarnings(settings, places),
            projects: file?.projects ?? [], projectWebhooks: file?.webhooks ?? [:],
            projectHistory: file?.history ?? [:], projectChanges: file?.changes ?? [:],
            projectReadMarkers: file?.readMarkers ?? [:], projectFeeds: file?.feeds ?? [:],
            projectUserSources: file?.userSources ?? [:],
            sessionLabels: file?.labels ?? [:])
        return (resolved, faults)
    }

    /// What to say about secrets with blanks at their ends.
    private static func blankWarnings(_ settings: ServerSettings, _ places: [String: String]) -> [String] {
        SettingsTable.declarations.filter(\.isSecret).compactMap { declaration in
            guard case .string(let secret)? = settings.values[declaration.name] else { return nil }
            return SecretFiles.warning(about: secret, from: places[declaration.name] ?? declaration.name)
        }
    }

    /// The sources in the order of their precedence, and the file if there is one.
    func sources(
        environment: [String: String], _ faults: inout FaultCollector
    ) async -> ([SettingsSource], SettingsFile?) {
        let commandLine = SettingsSource.commandLine(values)
        let (environment, names) = SecretFiles.resolve(GivenVariables(environment).values, &faults)
        let variables = SettingsSource.environment(environment, names: names)
        // Its own fault is one of the faults of the values.
        let path = try? await [commandLine, variables].value(of: SettingsTable.shared.config)
        guard let path else { return ([commandLine, variables], nil) }
        do {
            let file = try SettingsFile(path: path, &faults)
            return ([commandLine, variables, file.source], file)
        } catch {
            // Any setting may have its value there.
            faults.addUnusable(error, SettingsTable.declarations.map(\.name))
            return ([commandLine, variables], nil)
        }
    }
}

/// The values of all settings after the sources have been merged, and the lists of the file.
package struct ResolvedSettings: Sendable {
    package let values: ServerSettings
    /// Where each value comes from: `--port`, `SIGNALBOX_PORT`, `"port" in FILE`.
    let places: [String: String]
    /// Sentences for the operator about variables without effect, and about secrets with blanks at their ends.
    package let warnings: [String]
    let projects: [Project]
    package let projectWebhooks: [APIKey: WebhookReceiver]
    /// What projects of the file keep instead of what ``SettingsTable/history`` says; `nil` keeps nothing.
    let projectHistory: [APIKey: KeptTypes?]
    /// What authors may do in projects of the file, instead of what ``SettingsTable/changes`` says.
    let projectChanges: [APIKey: Set<ChangeKind>]
    /// What becomes of read markers there, instead of what ``SettingsTable/readMarkers`` says.
    let projectReadMarkers: [APIKey: ReadMarkers]
    /// Whether projects of the file have a feed, instead of what ``SettingsTable/feed`` says.
    let projectFeeds: [APIKey: Bool]
    /// Where the tokens of projects of the file have their user, instead of what ``SettingsTable/userFrom`` says.
    let projectUserSources: [APIKey: UserSource?]
    let sessionLabels: [SessionID: SessionLabel]

    /// - Throws: ``ConfigurationError`` for values that contradict each other.
    package func configuration() throws -> ServerConfiguration {
        var faults = FaultCollector()
        let configuration = configuration(&faults)
        do { try faults.finish() } catch { throw error.located(places) }
        return configuration
    }

    /// As far as the values permit one; the rest has its defaults.
    func configuration(_ faults: inout FaultCollector) -> ServerConfiguration {
        // No project is not development mode: what would be wrong there alone is no fault.
        var configuration = ServerConfiguration(
            access: faults.collect(Self.projectNames) { try access() } ?? .projects([]))
        configuration.userSource = userSource(&faults)
        configuration.projectUserSources = projectUserSources
        configuration.isShared = values.share ?? false
        if let host = values.host ?? (configuration.isShared ? "0.0.0.0" : nil) { configuration.host = host }
        configuration.tls = faults.collect(Self.tlsNames) { try tls() } ?? nil
        configuration.sessionBounds.signalRate = signalRate(configuration.access)
        configuration.requestRate = requestRate(configuration.access)
        configuration.admission = admission(&faults)
        if values.redis != nil {
            configuration.historyBounds = .inRedis
        } else if values.stateDir == nil {
            configuration.historyBounds = .inMemory
        }
        for declaration in SettingsTable.declarations {
            if let value = values.values[declaration.name] { declaration.apply?(&configuration, value) }
        }
        // A log keeps events for as long as a client may ask for them (RES-14).
        configuration.sessionBounds.log.age = max(
            configuration.sessionBounds.resumeWindow, configuration.sessionBounds.recoveryWindow)
        configuration.history =
            faults.collect(["history", "changes", "readMarkers"]) { try history(configuration.access) } ?? .none
        configuration.redis = redis(configuration, &faults)
        configuration.webhook =
            faults.collect(["webhookUrl", "webhookSecret", "webhookTypes"]) {
                try WebhookReceiver.read(
                    url: values.webhookUrl, secret: values.webhookSecret, types: values.webhookTypes)
            } ?? nil
        configuration.projectWebhooks = projectWebhooks
        // A receiver of batches needs the feed that they come from.
        if configuration.webhook?.types != nil { configuration.history.feed = true }
        for (project, receiver) in projectWebhooks where receiver.types != nil {
            configuration.history.projectFeeds[project] = true
        }
        configuration.sessionLabels = sessionLabels
        if let port = values.adminPort {
            configuration.admin = AdminListener(
                host: values.adminHost ?? "127.0.0.1", port: port, token: values.adminToken)
        } else if values.adminHost != nil || values.adminToken != nil {
            faults.collect(["adminHost", "adminToken", "adminPort"]) {
                throw ConfigurationError("adminHost or adminToken is given without adminPort. Add --admin-port.")
            }
        }
        return configuration
    }

    /// The API key and its secret add a project to those of the file. With any project, development mode is off.
    private func access() throws -> ServerConfiguration.Access {
        var projects = projects
        switch (values.apiKey, values.apiSecret) {
        case (let key?, let secret?): projects.append(try ServerConfiguration.project(apiKey: key, apiSecret: secret))
        case (_?, nil):
            throw ConfigurationError(
                "an API key is given without its secret. Add --api-secret or SIGNALBOX_API_SECRET.")
        case (nil, _?):
            throw ConfigurationError("an API secret is given without its key. Add --api-key or SIGNALBOX_API_KEY.")
        case (nil, nil): break
        }
        var known: Set<APIKey> = []
        for project in projects where !known.insert(project.apiKey).inserted {
            throw ConfigurationError("the project \(project.apiKey) appears twice. Give each project its own API key.")
        }
        switch (projects.isEmpty, values.dev) {
        case (false, nil), (false, false?): return .projects(projects)
        case (false, true?):
            throw ConfigurationError(
                "development mode cannot be combined with an API key or projects. Remove --dev or the credentials.")
        case (true, false?):
            throw ConfigurationError(
                "development mode is off and there is no project. Give an API key and a secret.")
        case (true, true?), (true, nil): return .development
        }
    }

    private func userSource(_ faults: inout FaultCollector) -> UserSource? {
        faults.collect(["userFrom"]) { try values.userFrom.flatMap { try UserSource.read(setting: $0) } } ?? nil
    }

    private func history(_ access: ServerConfiguration.Access) throws -> HistoryPolicy {
        let standard: (types: String, changes: String, markers: ReadMarkers) =
            switch access {
            case .development: (SettingsTable.chatTypes, SettingsTable.allChanges, .shared)
            case .project, .projects: ("none", "none", .off)
            }
        var policy = HistoryPolicy(
            standard: try KeptTypes(setting: values.history ?? standard.types), projects: projectHistory,
            changes: try Set(changes: values.changes ?? standard.changes), projectChanges: projectChanges)
        policy.readMarkers = try values.readMarkers.map { try ReadMarkers(setting: $0) } ?? standard.markers
        policy.projectReadMarkers = projectReadMarkers
        (policy.feed, policy.projectFeeds) = (values.feed ?? false, projectFeeds)
        if let seconds = values.unreadSeconds { policy.unreadDelay = .seconds(seconds) }
        return policy
    }

    private func redis(_ configuration: ServerConfiguration, _ faults: inout FaultCollector) -> [RedisAddress] {
        guard let list = values.redis else { return [] }
        faults.check(["redis", "stateDir"]) {
            guard configuration.stateFolder != nil else { return }
            throw ConfigurationError(
                "the sessions cannot be both in Redis and in a state folder. Remove --redis or --state-dir.")
        }
        faults.check(["redis"]) {
            guard case .development = configuration.access else { return }
            throw ConfigurationError(
                "servers that share sessions need the same project, and development mode creates one of its own. Give "
                    + "each server the same API key and secret.")
        }
        let access = redisAccess(list, &faults)
        return faults.collect(["redis"]) {
            try RedisAddress.split(list).mapCollectingFaults { text in
                do throws(CommandLogFault) {
                    return try RedisAddress(text, access)
                } catch {
                    throw ConfigurationError("redis: \(error.message)")
                }
            }
        } ?? []
    }

    /// What all connections to Redis have in common. Its files are read once, so that a wrong one is found before the start.
    private func redisAccess(_ list: String, _ faults: inout FaultCollector) -> RedisAccess {
        var access = RedisAccess()
        access.trustedFile = values.redisTlsCa
        access.certificateFile = values.redisTlsCert
        access.keyFile = values.redisTlsKey
        access.serverName = values.redisTlsServerName
        access.sentinelUser = values.redisSentinelUser
        access.sentinelPassword = values.redisSentinelPassword
        faults.check(["redisTlsCa", "redisTlsCert", "redisTlsKey", "redisTlsServerName", "redis"]) {
            if (access.certificateFile == nil) != (access.keyFile == nil) {
                throw ConfigurationError(
                    "the certificate for Redis needs its key, and the key its certificate. Give both --redis-tls-cert and "
                        + "--redis-tls-key.")
            }
            let files = [access.trustedFile, access.certificateFile, access.serverName]
            guard RedisAddress.split(list).contains(where: { $0.hasPrefix("rediss") }) else {
                if files.allSatisfy({ $0 == nil }) { return }
                throw ConfigurationError(
                    "TLS to Redis is configured, but its address has none. Begin the address with rediss://.")
            }
            do throws(CommandLogFault) { try access.check() } catch { throw ConfigurationError(error.message) }
        }
        faults.check(["redisSentinelUser", "redisSentinelPassword", "redis"]) {
            guard access.sentinelUser != nil || access.sentinelPassword != nil else { return }
            if !list.contains("+sentinel://") {
                throw ConfigurationError(
                    "a user or a password of Sentinels is given, but the address has none. Begin it with "
                        + "redis+sentinel://.")
            }
            if access.sentinelPassword == nil {
                throw ConfigurationError("a user of the Sentinels has no password. Give --redis-sentinel-password.")
            }
        }
        return access
    }

    private func admission(_ faults: inout FaultCollector) -> AdmissionSettings {
        var admission = AdmissionSettings()
        if let text = values.trustedProxy {
            admission.trustedProxies =
                faults.collect(["trustedProxy"]) { try AdmissionSettings.trustedProxies(text) } ?? []
        }
        if let naming = values.proxyHeader.flatMap({ ProxyNaming(rawValue: $0.lowercased()) }) {
            admission.proxyNaming = naming
            faults.check(["proxyHeader", "trustedProxy", "tlsCert"]) { try checkProxyNaming(naming) }
        }
        admission.allowedOrigins =
            faults.collect(["allowedOrigins"]) { try values.allowedOrigins.map(AdmissionSettings.allowedOrigins) }
            ?? nil
        return admission
    }

    private func checkProxyNaming(_ naming: ProxyNaming) throws {
        guard values.trustedProxy != nil else {
            throw ConfigurationError(
                "proxyHeader is \(naming.rawValue), but no proxy is trusted. Add --trusted-proxy with the addresses of "
                    + "your proxies.")
        }
        if naming == .forwarded, values.tlsCert != nil {
            throw ConfigurationError(
                "proxyHeader is forwarded, which the server cannot read with TLS. Use proxy-protocol or "
                    + "x-forwarded-for, or let the proxy connect without TLS.")
        }
    }

    private func tls() throws -> TransportServer.TLS? {
        switch (values.tlsCert, values.tlsKey) {
        case (let certificate?, let privateKey?):
            return .init(certificateFile: certificate, privateKeyFile: privateKey)
        case (_?, nil): throw ConfigurationError("a TLS certificate is given without its key. Add --tls-key.")
        case (nil, _?): throw ConfigurationError("a TLS key is given without its certificate. Add --tls-cert.")
        case (nil, nil): return nil
        }
    }

    private func signalRate(_ access: ServerConfiguration.Access) -> RateLimit? {
        let perSecond = values.signalRate ?? Self.rate(SettingsTable.signalRate, for: access)
        let burst = values.signalBurst ?? SettingsTable.burstSeconds * perSecond
        return perSecond == 0 ? nil : RateLimit(perSecond: perSecond, burst: burst)
    }

    private func requestRate(_ access: ServerConfiguration.Access) -> RateLimit? {
        let perSecond = values.requestRate ?? Self.rate(SettingsTable.requestRate, for: access)
        return perSecond == 0 ? nil : RateLimit(perSecond: perSecond, burst: SettingsTable.burstSeconds * perSecond)
    }

    /// The default of a rate. In development mode rates are unlimited unless they are given.
    private static func rate(_ standard: Int, for access: ServerConfiguration.Access) -> Int {
        switch access {
        case .development: 0
        case .project, .projects: standard
        }
    }
}
