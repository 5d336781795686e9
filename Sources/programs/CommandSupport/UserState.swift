import FoundationEssentials

/// The folder for state that belongs to the user and outlives a process (XDG Base Directory Specification).
package enum UserState {
    /// `$XDG_STATE_HOME/signalbox`, by default `~/.local/state/signalbox`. `nil` for a user without a home folder.
    package static func folder(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        // The specification ignores relative paths.
        if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return base + "/signalbox" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state/signalbox"
    }

    /// Creates the folder if it does not exist, for its owner only. A failure shows when a file in it is used.
    package static func create(_ folder: String) {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}
