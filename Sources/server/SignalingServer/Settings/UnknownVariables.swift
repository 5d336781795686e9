/// Finds variables that look like settings and are none. A warning, not an error: the command-line tools have variables
/// of their own, and other programs of the same unit may too.
package enum UnknownVariables {
    /// Variables of the other commands.
    private static let ofTools = [
        "SIGNALBOX_SERVER", "SIGNALBOX_TOKEN", "SIGNALBOX_APPLICATION_ID", "SIGNALBOX_PRIVATE_KEY_FILE",
        "SIGNALBOX_ADMIN_URL",
    ]

    /// A sentence for each, in the order of their names.
    package static func warnings(in environment: [String: String]) -> [String] {
        let known = SettingsTable.declarations.flatMap { [$0.variable, $0.fileVariable].compactMap(\.self) } + ofTools
        return environment.keys.filter { $0.hasPrefix("SIGNALBOX_") && !known.contains($0) }.sorted().map { name in
            let advice =
                NearestName.of(name, among: known).map { "Did you mean \($0)?" }
                ?? "docs/CONFIGURATION.md lists the variables."
            return "the variable \(name) is no setting and has no effect. \(advice)"
        }
    }
}
