import ArgumentParser
import Logging
import SignalingServer

/// The server's settings as options. ``SettingsTable`` declares their names, help and checks.
struct SettingOptions: ParsableArguments {
    @Option(help: .setting(\.host)) var host: String?
    @Option(help: .setting(\.port)) var port: Int?
    @Option(help: .setting(\.apiKey)) var apiKey: String?
    @Option(help: .setting(\.apiSecret)) var apiSecret: String?
    @Flag(help: .setting(\.dev)) var dev = false
    @Flag(help: .setting(\.ephemeral)) var ephemeral = false
    @Flag(help: .setting(\.share)) var share = false
    @Option(help: .setting(\.webRoot)) var webRoot: String?
    @Flag(help: .setting(\.allowPartnerAuth)) var allowPartnerAuth = false
    @Option(help: .setting(\.userFrom)) var userFrom: String?
    @Option(help: .setting(\.tlsCert)) var tlsCert: String?
    @Option(help: .setting(\.tlsKey)) var tlsKey: String?
    @Option(help: .setting(\.tokenExpiry)) var tokenExpiry: String?
    @Option(help: .setting(\.resumeSeconds)) var resumeSeconds: Int?
    @Option(help: .setting(\.recoverySeconds)) var recoverySeconds: Int?
    @Option(help: .setting(\.logEvents)) var logEvents: Int?
    @Option(help: .setting(\.logBytes)) var logBytes: Int?
    @Option(help: .setting(\.sessionConnections)) var sessionConnections: Int?
    @Option(help: .setting(\.maxConnections)) var maxConnections: Int?
    @Option(help: .setting(\.maxConnectionsPerAddress)) var maxConnectionsPerAddress: Int?
    @Option(help: .setting(\.maxConnectionsPerProject)) var maxConnectionsPerProject: Int?
    @Option(help: .setting(\.maxConnectionsPerToken)) var maxConnectionsPerToken: Int?
    @Option(help: .setting(\.trustedProxy)) var trustedProxy: String?
    @Option(help: .setting(\.proxyHeader)) var proxyHeader: String?
    @Option(help: .setting(\.allowedOrigins)) var allowedOrigins: String?
    @Option(help: .setting(\.signalRate)) var signalRate: Int?
    @Option(help: .setting(\.signalBurst)) var signalBurst: Int?
    @Option(help: .setting(\.requestRate)) var requestRate: Int?
    @Option(help: .setting(\.onlineOnlyLimit)) var onlineOnlyLimit: Int?
    @Option(help: .setting(\.mergeMilliseconds)) var mergeMilliseconds: Int?
    @Option(help: .setting(\.drainSeconds)) var drainSeconds: Int?
    @Option(help: .setting(\.stateDir)) var stateDir: String?
    @Option(help: .setting(\.redis)) var redis: String?
    @Option(help: .setting(\.durability)) var durability: String?
    @Option(help: .setting(\.history)) var history: String?
    @Option(help: .setting(\.historyAccess)) var historyAccess: String?
    @Option(help: .setting(\.historyDays)) var historyDays: Int?
    @Option(help: .setting(\.historyMessages)) var historyMessages: Int?
    @Option(help: .setting(\.historyBytes)) var historyBytes: Int?
    @Option(help: .setting(\.historyTotalBytes)) var historyTotalBytes: Int?
    @Option(help: .setting(\.webhookUrl)) var webhookUrl: String?
    @Option(help: .setting(\.webhookSecret)) var webhookSecret: String?
    @Option(help: .setting(\.adminPort)) var adminPort: Int?
    @Option(help: .setting(\.adminHost)) var adminHost: String?
    @Option(help: .setting(\.adminToken)) var adminToken: String?
    @Flag(help: .setting(\.publicMetrics)) var publicMetrics = false
    @Option(help: .setting(\.config)) var config: String?
    @Option(help: .setting(\.logLevel)) var logLevel: Logger.Level?
    @Option(help: .setting(\.logFormat)) var logFormat: String?
    @Flag(help: .setting(\.accessLog)) var accessLog = false

    /// The values on the command line.
    var settings: ServerSettings {
        var settings = ServerSettings()
        settings.host = host
        settings.port = port
        settings.apiKey = apiKey
        settings.apiSecret = apiSecret
        settings.dev = dev ? true : nil
        settings.ephemeral = ephemeral ? true : nil
        settings.share = share ? true : nil
        settings.webRoot = webRoot
        settings.allowPartnerAuth = allowPartnerAuth ? true : nil
        settings.userFrom = userFrom
        settings.tlsCert = tlsCert
        settings.tlsKey = tlsKey
        settings.tokenExpiry = tokenExpiry
        settings.resumeSeconds = resumeSeconds
        settings.recoverySeconds = recoverySeconds
        settings.logEvents = logEvents
        settings.logBytes = logBytes
        settings.sessionConnections = sessionConnections
        settings.maxConnections = maxConnections
        settings.maxConnectionsPerAddress = maxConnectionsPerAddress
        settings.maxConnectionsPerProject = maxConnectionsPerProject
        settings.maxConnectionsPerToken = maxConnectionsPerToken
        settings.trustedProxy = trustedProxy
        settings.proxyHeader = proxyHeader
        settings.allowedOrigins = allowedOrigins
        settings.signalRate = signalRate
        settings.signalBurst = signalBurst
        settings.requestRate = requestRate
        settings.onlineOnlyLimit = onlineOnlyLimit
        settings.mergeMilliseconds = mergeMilliseconds
        settings.drainSeconds = drainSeconds
        settings.stateDir = stateDir
        settings.redis = redis
        settings.durability = durability
        settings.history = history
        settings.historyAccess = historyAccess
        settings.historyDays = historyDays
        settings.historyMessages = historyMessages
        settings.historyBytes = historyBytes
        settings.historyTotalBytes = historyTotalBytes
        settings.webhookUrl = webhookUrl
        settings.webhookSecret = webhookSecret
        settings.adminPort = adminPort
        settings.adminHost = adminHost
        settings.adminToken = adminToken
        settings.publicMetrics = publicMetrics ? true : nil
        settings.config = config
        settings.logLevel = logLevel?.rawValue
        settings.logFormat = logFormat
        settings.accessLog = accessLog ? true : nil
        return settings
    }
}

extension ArgumentHelp {
    fileprivate static func setting<Value>(_ path: KeyPath<SettingsTable, Setting<Value>>) -> ArgumentHelp {
        ArgumentHelp(SettingsTable.shared[keyPath: path].declaration.help)
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
