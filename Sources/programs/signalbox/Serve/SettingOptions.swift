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
    @Option(help: .setting(\.redisTlsCa)) var redisTlsCa: String?
    @Option(help: .setting(\.redisTlsCert)) var redisTlsCert: String?
    @Option(help: .setting(\.redisTlsKey)) var redisTlsKey: String?
    @Option(help: .setting(\.redisTlsServerName)) var redisTlsServerName: String?
    @Option(help: .setting(\.redisSentinelUser)) var redisSentinelUser: String?
    @Option(help: .setting(\.redisSentinelPassword)) var redisSentinelPassword: String?
    @Option(help: .setting(\.durability)) var durability: String?
    @Option(help: .setting(\.history)) var history: String?
    @Option(help: .setting(\.historyAccess)) var historyAccess: String?
    @Option(help: .setting(\.changes)) var changes: String?
    @Option(help: .setting(\.readMarkers)) var readMarkers: String?
    @Flag(help: .setting(\.feed)) var feed = false
    @Option(help: .setting(\.unreadSeconds)) var unreadSeconds: Int?
    @Option(help: .setting(\.historyDays)) var historyDays: Int?
    @Option(help: .setting(\.historyMessages)) var historyMessages: Int?
    @Option(help: .setting(\.historyBytes)) var historyBytes: Int?
    @Option(help: .setting(\.historyTotalBytes)) var historyTotalBytes: Int?
    @Option(help: .setting(\.webhookUrl)) var webhookUrl: String?
    @Option(help: .setting(\.webhookTypes)) var webhookTypes: String?
    @Option(help: .setting(\.webhookSecret)) var webhookSecret: String?
    @Option(help: .setting(\.adminPort)) var adminPort: Int?
    @Option(help: .setting(\.adminHost)) var adminHost: String?
    @Option(help: .setting(\.adminToken)) var adminToken: String?
    @Flag(help: .setting(\.publicMetrics)) var publicMetrics = false
    @Option(help: .setting(\.config)) var config: String?
    @Option(help: .setting(\.logLevel)) var logLevel: Logger.Level?
    @Option(help: .setting(\.logFormat)) var logFormat: String?
    @Flag(help: .setting(\.accessLog)) var accessLog = false

    /// The values on the command line. The options have the names of the settings.
    var settings: ServerSettings {
        var settings = ServerSettings()
        for (label, value) in Mirror(reflecting: self).children {
            guard let name = label?.dropFirst(), let given = (value as? any GivenSetting)?.given else { continue }
            settings.set(String(name), to: given)
        }
        return settings
    }
}

private protocol GivenSetting {
    /// `nil` if the command line does not give it.
    var given: Any? { get }
}

extension Option: GivenSetting {
    fileprivate var given: Any? {
        if let level = wrappedValue as? Logger.Level { level.rawValue } else { wrappedValue }
    }
}

extension Flag: GivenSetting {
    fileprivate var given: Any? { wrappedValue as? Bool == true ? true : nil }
}

extension ArgumentHelp {
    fileprivate static func setting<Value>(_ path: KeyPath<SettingsTable, Setting<Value>>) -> ArgumentHelp {
        ArgumentHelp(SettingsTable.shared[keyPath: path].declaration.help)
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
