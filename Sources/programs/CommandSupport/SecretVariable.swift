import FoundationEssentials
import SignalingServer

/// A secret in the environment, or in a file that the environment names, as the server accepts it.
package enum SecretVariable {
    /// - Parameter name: for example `SIGNALBOX_API_SECRET`; with `_FILE` at its end, it names the file.
    /// - Throws: the exit code 64 when the file cannot be read, and when both variables are given.
    package static func value(_ name: String) throws -> String? {
        do {
            let secret = try SecretFiles.value(of: name, in: ProcessInfo.processInfo.environment)
            if let warning = secret.flatMap({ SecretFiles.warning(about: $0, from: name) }) {
                StandardError.print("signalbox: warning: \(warning)")
            }
            return secret
        } catch let error as ConfigurationError {
            throw ExitStatus.exit(ExitStatus.usage, error.description)
        }
    }
}
