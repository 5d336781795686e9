import Configuration
import JSONText

/// The command line, the environment or the file: a provider of values, and the names of the settings in it.
struct SettingsSource {
    let provider: any ConfigProvider
    /// `--port`, `SIGNALBOX_PORT`, `"port" in FILE`.
    let spelling: @Sendable (SettingDeclaration) -> String?
    /// The value as it is written there.
    let written: @Sendable (SettingDeclaration) -> String?

    static func commandLine(_ values: [String: ConfigContent]) -> SettingsSource {
        SettingsSource(
            provider: InMemoryProvider(name: "command line", values: keyed(values)), spelling: { $0.option },
            written: { values[$0.name].map(text) })
    }

    private static func text(_ content: ConfigContent) -> String {
        switch content {
        case .int(let number): "\(number)"
        case .bool(let isOn): "\(isOn)"
        case .string(let text): "\"\(text)\""
        // No setting has a value of another kind.
        default: ""
        }
    }

    /// - Parameter names: where values of the environment come from if not from their own variables.
    static func environment(_ environment: [String: String], names: [String: String] = [:]) -> SettingsSource {
        let secrets = SettingsTable.declarations.filter(\.isSecret).compactMap(\.variable)
        return SettingsSource(
            provider: EnvironmentVariablesProvider(
                environmentVariables: environment, secretsSpecifier: .specific(Set(secrets))
            ).prefixKeys(with: "signalbox"),
            spelling: { names[$0.name] ?? $0.variable },
            written: { $0.variable.flatMap { environment[$0] }.map { "\"\($0)\"" } })
    }

    static func file(_ path: String, _ object: JSONObject) -> SettingsSource {
        var values: [String: ConfigContent] = [:]
        for member in object {
            switch member.value {
            case .string(let text): values[member.name] = .string(text)
            case .integer(let number): values[member.name] = .int(Int(number))
            case .bool(let isOn): values[member.name] = .bool(isOn)
            // No setting has a value of these kinds, so they fail like any other wrong kind.
            case .double(let number): values[member.name] = .double(number)
            case .null, .array, .object: values[member.name] = .bytes([])
            }
        }
        return SettingsSource(
            provider: InMemoryProvider(name: "configuration file", values: keyed(values)),
            spelling: { $0.fileKey.map { "\"\($0)\" in \(path)" } }, written: { object[$0.name]?.encodedText() })
    }

    private static func keyed(_ values: [String: ConfigContent]) -> [AbsoluteConfigKey: ConfigValue] {
        let secrets = Set(SettingsTable.declarations.filter(\.isSecret).map(\.name))
        let pairs = values.map { name, content in
            (AbsoluteConfigKey([name]), ConfigValue(content, isSecret: secrets.contains(name)))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// The value in this source, if it has one.
    ///
    /// - Throws: ``ConfigurationError`` for a value of the wrong kind or outside the bounds.
    fileprivate func content(of declaration: SettingDeclaration) async throws -> ConfigContent? {
        let content: ConfigContent
        do {
            let key = AbsoluteConfigKey([declaration.name])
            let found = try await provider.fetchValue(forKey: key, type: declaration.kind.configType)
            guard let value = found.value else { return nil }
            content = value.content
        } catch {
            throw refusal(of: declaration)
        }
        guard declaration.kind.permits(content) else { throw refusal(of: declaration) }
        return content
    }

    /// Describes an invalid value: the setting, the value unless it is a secret, its source, and the expected form.
    private func refusal(of declaration: SettingDeclaration) -> ConfigurationError {
        let written = written(declaration)
        let value =
            switch written {
            case "\"\""?: "is empty"
            case let text? where text.allSatisfy({ $0 == "\"" || $0.isWhitespace }): "is blank"
            case let text? where !declaration.isSecret: "is \(text.prefix(60))"
            case _?, nil: "is not valid"
            }
        return ConfigurationError(
            "the setting \(declaration.name) \(value) (\(spelling(declaration) ?? "")). Use \(declaration.kind.form).")
    }
}

extension [SettingsSource] {
    /// The value from the first source that has one.
    func content(of declaration: SettingDeclaration) async throws -> ConfigContent? {
        for source in self where source.spelling(declaration) != nil {
            if let content = try await source.content(of: declaration) { return content }
        }
        return nil
    }

    /// The same with the name of the source.
    func found(_ declaration: SettingDeclaration) async throws -> (content: ConfigContent, source: String)? {
        for source in self {
            guard let name = source.spelling(declaration), let content = try await source.content(of: declaration)
            else {
                continue
            }
            return (content, name)
        }
        return nil
    }

    func value<Value>(of setting: Setting<Value>) async throws -> Value? {
        try await content(of: setting.declaration).flatMap(setting.unwrap)
    }
}

extension SettingDeclaration.Kind {
    fileprivate var configType: ConfigType {
        switch self {
        case .text, .choice: .string
        case .number: .int
        case .flag: .bool
        case .list: .stringArray
        }
    }

    fileprivate func permits(_ content: ConfigContent) -> Bool {
        switch (self, content) {
        // A secret of one blank would be as good as none.
        case (.text, .string(let text)): text.contains { !$0.isWhitespace }
        case (.choice(let names), .string(let text)): names.contains(text.lowercased())
        case (.number(let bounds), .int(let number)): bounds.contains(number)
        case (.flag, .bool): true
        default: false
        }
    }

    /// The expected form of a value.
    fileprivate var form: String {
        switch self {
        case .text(let form): form
        case .choice(let names): names.alternatives
        case .number(let bounds): "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        case .flag: "true or false"
        case .list: "a list"
        }
    }
}

extension [String] {
    /// "a", "a or b", "a, b or c".
    fileprivate var alternatives: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or " + last
    }
}
