import Configuration
import JSONText

/// The effective settings and their sources, for `signalbox config print`.
public struct SettingsReport: Sendable {
    public struct Row: Sendable {
        public let name: String
        /// The value, a row of dots for a secret, or the default in words.
        public let value: String
        /// `--port`, `SIGNALBOX_PORT`, `"port" in FILE`, or `default`.
        public let source: String
    }

    /// In the order of ``SettingsTable``.
    public let rows: [Row]
    /// What ``ResolvedSettings/warnings`` says.
    public let warnings: [String]

    /// What stands for a secret.
    static let mask = "••••••••"

    /// `{"port":{"value":"9000","source":"SIGNALBOX_PORT"},…}`
    public var json: String {
        var object: JSONObject = [:]
        for row in rows { object[row.name] = ["value": .string(row.value), "source": .string(row.source)] }
        return JSONValue.object(object).encodedText()
    }
}

extension ServerSettings {
    /// Reads all settings as ``configuration(environment:)`` does, and says where each comes from.
    ///
    /// - Throws: ``ConfigurationError``.
    public func report(environment: [String: String]) async throws -> SettingsReport {
        var (settings, faults) = await read(environment: environment)
        try faults.finish()
        let (sources, file) = await sources(environment: environment, &faults)
        var rows: [SettingsReport.Row] = []
        for declaration in SettingsTable.declarations {
            if declaration.isList {
                let count = file?.count(of: declaration) ?? 0
                rows.append(
                    .init(
                        name: declaration.name, value: count == 0 ? declaration.defaultText : "\(count) in the file",
                        source: count == 0 ? "default" : "\"\(declaration.name)\" in \(file?.path ?? "")"))
                continue
            }
            guard let found = try await sources.found(declaration) else {
                rows.append(.init(name: declaration.name, value: declaration.defaultText, source: "default"))
                continue
            }
            rows.append(
                .init(
                    name: declaration.name,
                    value: declaration.isSecret ? SettingsReport.mask : found.content.settingText,
                    source: found.source))
        }
        return SettingsReport(rows: rows, warnings: settings.warnings)
    }
}

extension ConfigContent {
    /// A value as `config print` shows it.
    fileprivate var settingText: String {
        switch self {
        case .int(let number): "\(number)"
        case .bool(let isOn): "\(isOn)"
        case .string(let text): text
        // No setting has a value of another kind.
        default: ""
        }
    }
}
