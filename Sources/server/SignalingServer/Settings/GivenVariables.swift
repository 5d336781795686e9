/// The variables of the environment that give settings a value, and what to tell the operator about the others.
///
/// A container platform sets variables that collide with settings: for a Service with the name `signalbox`, Kubernetes
/// sets `SIGNALBOX_PORT=tcp://10.0.0.1:8080`.
package struct GivenVariables {
    /// Without the variables of the platform, and without empty ones that count as not given.
    let values: [String: String]
    /// A sentence for each unknown variable, one for the platform's and one for the empty ones. Warnings, not errors:
    /// the command-line tools have variables of their own, and other programs of the same unit may too.
    package let warnings: [String]

    /// Variables of the other commands.
    private static let ofTools = [
        "SIGNALBOX_SERVER", "SIGNALBOX_TOKEN", "SIGNALBOX_APPLICATION_ID", "SIGNALBOX_PRIVATE_KEY_FILE",
        "SIGNALBOX_ADMIN_URL",
    ]

    /// Settings without which the server is open to more clients, or has other projects. An empty variable of theirs is
    /// an error, since it comes from a secret or a template that is missing.
    private static let needed = {
        let table = SettingsTable.shared
        return [
            table.apiKey.declaration, table.apiSecret.declaration, table.adminToken.declaration,
            table.webhookSecret.declaration, table.allowedOrigins.declaration, table.config.declaration,
        ].map(\.name)
    }()

    package init(_ environment: [String: String]) {
        let platform = environment.filter { Self.isOfPlatform($0.key, $0.value) }.keys
        let optional = SettingsTable.declarations.filter { !Self.needed.contains($0.name) }
            .flatMap { [$0.variable, $0.fileVariable].compactMap(\.self) }
        let empty = optional.filter { environment[$0] == "" }.sorted()
        values = environment.filter { !platform.contains($0.key) && !empty.contains($0.key) }

        let known = SettingsTable.declarations.flatMap { [$0.variable, $0.fileVariable].compactMap(\.self) }
        let unknown = environment.keys.filter {
            $0.hasPrefix("SIGNALBOX_") && !platform.contains($0) && !(known + Self.ofTools).contains($0)
        }
        var warnings = unknown.sorted().map { name in
            let advice =
                NearestName.of(name, among: known + Self.ofTools).map { "Did you mean \($0)?" }
                ?? "docs/CONFIGURATION.md lists the variables."
            return "the variable \(name) is no setting and has no effect. \(advice)"
        }
        // Those that look like settings first.
        let shown = platform.sorted { (known.contains($0) ? 0 : 1, $0) < (known.contains($1) ? 0 : 1, $1) }
        if let first = shown.first {
            warnings.append(
                "\(first)\(shown.count > 1 ? " and \(shown.count - 1) more variables describe" : " describes") a service "
                    + "of the container platform. They are no settings and have no effect. In Kubernetes, "
                    + "enableServiceLinks: false removes them.")
        }
        if !empty.isEmpty {
            warnings.append("empty variables count as not given: \(empty.joined(separator: ", "))")
        }
        self.warnings = warnings
    }

    /// Whether Kubernetes has set the variable for a Service, or Docker for a link, whose name begins with `signalbox`.
    private static func isOfPlatform(_ name: String, _ value: String) -> Bool {
        guard name.hasPrefix("SIGNALBOX_") else { return false }
        return name.hasSuffix("_PORT") && value.contains(#/^(tcp|udp|sctp):///#)
            || name.contains(#/_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT_[0-9]+_(TCP|UDP|SCTP)(_|$)/#)
    }
}
