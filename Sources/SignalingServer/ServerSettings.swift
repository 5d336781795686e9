import Configuration
import FoundationEssentials
import JSONText
import SystemPackage

/// Where a server's settings come from: the command line beats the environment beats the file beats the default.
public struct ServerSettings: Sendable {
    /// A setting's one name, from which its others follow: `--api-key`, `SIGNALBOX_API_KEY`, `"apiKey"` in the file.
    public enum Name: String, CaseIterable, Sendable {
        case host, port, apiKey, apiSecret, dev, webRoot
    }

    /// What the command line says; `nil` for what it does not mention.
    public var host: String?
    public var port: Int?
    public var apiKey: String?
    public var apiSecret: String?
    public var dev: Bool?
    public var webRoot: String?
    /// The file, if one is named here or by `SIGNALBOX_CONFIG`.
    public var file: String?

    public init(
        host: String? = nil, port: Int? = nil, apiKey: String? = nil, apiSecret: String? = nil, dev: Bool? = nil,
        webRoot: String? = nil, file: String? = nil
    ) {
        self.host = host
        self.port = port
        self.apiKey = apiKey
        self.apiSecret = apiSecret
        self.dev = dev
        self.webRoot = webRoot
        self.file = file
    }

    /// Reads everything and says what is wrong with it, in one line.
    ///
    /// - Parameter environment: variables by name; those that begin with `SIGNALBOX_` are looked at.
    /// - Throws: ``ConfigurationError`` for a file that cannot be read or has unknown or malformed settings, a value of
    ///   the wrong kind, or half a pair of credentials.
    public func configuration(environment: [String: String]) async throws -> ServerConfiguration {
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: commandLineValues),
            EnvironmentVariablesProvider(
                environmentVariables: environment, secretsSpecifier: .specific(["SIGNALBOX_API_SECRET"])
            ).prefixKeys(with: "signalbox"),
        ]
        if let file = file ?? environment["SIGNALBOX_CONFIG"] { providers.append(try await Self.provider(file: file)) }
        let reader = ConfigReader(providers: providers)

        let apiKey = try await Self.read(.apiKey) { try await reader.fetchString(forKey: $0) }
        let apiSecret = try await Self.read(.apiSecret) { try await reader.fetchString(forKey: $0, isSecret: true) }
        let dev = try await Self.read(.dev) { try await reader.fetchBool(forKey: $0) }
        var configuration = ServerConfiguration(access: try Self.access(apiKey, apiSecret, dev: dev))
        if let host = try await Self.read(.host, { try await reader.fetchString(forKey: $0) }) {
            configuration.host = host
        }
        if let port = try await Self.read(.port, { try await reader.fetchInt(forKey: $0) }) {
            configuration.port = port
        }
        configuration.webRoot = try await Self.read(.webRoot) { try await reader.fetchString(forKey: $0) }
        return configuration
    }

    /// Credentials come in pairs, and development mode is never on beside them.
    private static func access(
        _ apiKey: String?, _ apiSecret: String?, dev: Bool?
    ) throws -> ServerConfiguration.Access {
        switch (apiKey, apiSecret, dev) {
        case (let key?, let secret?, nil), (let key?, let secret?, false?):
            return .project(apiKey: key, apiSecret: secret)
        case (_?, _?, true?):
            throw ConfigurationError(
                "development mode is not possible with an API key and a secret: leave out one or the other")
        case (_?, nil, _):
            throw ConfigurationError("an API key without its secret: give --api-secret or SIGNALBOX_API_SECRET, too")
        case (nil, _?, _):
            throw ConfigurationError("an API secret without its key: give --api-key or SIGNALBOX_API_KEY, too")
        case (nil, nil, false?):
            throw ConfigurationError("development mode is off, so an API key and a secret are needed")
        case (nil, nil, true?), (nil, nil, nil):
            return .development
        }
    }

    private var commandLineValues: [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        func set(_ name: Name, _ content: ConfigContent?, isSecret: Bool = false) {
            guard let content else { return }
            values[AbsoluteConfigKey([name.rawValue])] = ConfigValue(content, isSecret: isSecret)
        }
        set(.host, host.map { .string($0) })
        set(.port, port.map { .int($0) })
        set(.apiKey, apiKey.map { .string($0) })
        set(.apiSecret, apiSecret.map { .string($0) }, isSecret: true)
        set(.dev, dev.map { .bool($0) })
        set(.webRoot, webRoot.map { .string($0) })
        return values
    }

    private static func read<Value>(
        _ name: Name, _ fetch: (ConfigKey) async throws -> Value?
    ) async throws -> Value? {
        do { return try await fetch(ConfigKey([name.rawValue])) } catch {
            throw ConfigurationError("the setting \(name.rawValue) has a value of the wrong kind")
        }
    }

    /// A misspelt setting would be ignored in silence, so the file's names are looked at first.
    private static func provider(file: String) async throws -> FileProvider<JSONSnapshot> {
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(filePath: file)) } catch {
            throw ConfigurationError("the configuration file \(file) cannot be read")
        }
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw ConfigurationError("the configuration file \(file) is not JSON: \(error)")
        }
        guard let object = value.objectValue else {
            throw ConfigurationError("the configuration file \(file) is not a JSON object")
        }
        for member in object where Name(rawValue: member.name) == nil {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(
                "the configuration file \(file) has an unknown setting \"\(member.name)\" (known: \(known))")
        }
        do {
            return try await FileProvider<JSONSnapshot>(
                parsingOptions: .init(secretsSpecifier: .specific([Name.apiSecret.rawValue])), filePath: FilePath(file))
        } catch {
            throw ConfigurationError("the configuration file \(file) cannot be read")
        }
    }
}
