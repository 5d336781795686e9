import SignalingProtocol
import SignalingTokens

/// What a running server does with settings that it has read again: the names of the settings that differ.
package struct SettingsChange: Equatable, Sendable {
    /// They take effect now.
    package var applied: [String] = []
    /// The server keeps its old values of these.
    package var needRestart: [String] = []
}

extension ResolvedSettings {
    /// The settings that define the projects. They change together, and not between development mode and projects.
    static let projectNames: Set<String> = {
        let table = SettingsTable.shared
        let declarations = [
            table.apiKey.declaration, table.apiSecret.declaration, table.dev.declaration, table.projects.declaration,
            table.applications.declaration,
        ]
        return Set(declarations.map(\.name))
    }()

    /// TLS cannot be switched on or off, but its files may be others.
    static let tlsNames: Set<String> = [
        SettingsTable.shared.tlsCert.declaration.name, SettingsTable.shared.tlsKey.declaration.name,
    ]

    /// The webhook receivers of single projects, in messages.
    private static let projectWebhooksName = "the webhooks of projects"

    /// These settings, with the values of `new` where a running server can change them.
    ///
    /// - Throws: ``ConfigurationError`` for values that contradict each other.
    package func reloaded(as new: ResolvedSettings) throws -> (settings: ResolvedSettings, change: SettingsChange) {
        var fixed: Set<String> = []
        if try isDevelopment != new.isDevelopment { fixed.formUnion(Self.projectNames) }
        if hasTLS != new.hasTLS { fixed.formUnion(Self.tlsNames) }
        var change = SettingsChange()
        var merged = values
        for declaration in SettingsTable.declarations where differs(from: new, in: declaration.name) {
            let name = declaration.name
            guard declaration.isReloadable, !fixed.contains(name) else {
                change.needRestart.append(name)
                continue
            }
            change.applied.append(name)
            merged.values[name] = new.values.values[name]
        }
        if projectWebhooks != new.projectWebhooks { change.needRestart.append(Self.projectWebhooksName) }
        let settings = ResolvedSettings(
            values: merged, places: new.places, warnings: new.warnings,
            projects: fixed.isDisjoint(with: Self.projectNames) ? new.projects : projects,
            projectWebhooks: projectWebhooks,
            projectHistory: fixed.isDisjoint(with: Self.projectNames) ? new.projectHistory : projectHistory,
            projectChanges: fixed.isDisjoint(with: Self.projectNames) ? new.projectChanges : projectChanges,
            projectReadMarkers: fixed.isDisjoint(with: Self.projectNames)
                ? new.projectReadMarkers : projectReadMarkers,
            projectFeeds: fixed.isDisjoint(with: Self.projectNames) ? new.projectFeeds : projectFeeds,
            projectUserSources: fixed.isDisjoint(with: Self.projectNames)
                ? new.projectUserSources : projectUserSources,
            sessionLabels: new.sessionLabels)
        // Two of the new values may contradict one that stays.
        _ = try settings.configuration()
        return (settings, change)
    }

    private var isDevelopment: Bool {
        get throws {
            switch try configuration().access {
            case .development: true
            case .project, .projects: false
            }
        }
    }

    private var hasTLS: Bool { values.tlsCert != nil }

    private func differs(from new: ResolvedSettings, in name: String) -> Bool {
        let table = SettingsTable.shared
        switch name {
        case table.projects.declaration.name:
            return projects.filter { !$0.isApplication } != new.projects.filter { !$0.isApplication }
                || projectHistory != new.projectHistory || projectChanges != new.projectChanges
                || projectUserSources != new.projectUserSources
        case table.applications.declaration.name:
            return projects.filter(\.isApplication) != new.projects.filter(\.isApplication)
        case table.sessions.declaration.name: return sessionLabels != new.sessionLabels
        default: return values.values[name] != new.values.values[name]
        }
    }
}
