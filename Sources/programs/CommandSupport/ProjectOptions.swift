import ArgumentParser
import FoundationEssentials
import SignalingProtocol
import SignalingTokens

/// An API key and its secret, from the command line or the environment.
package struct ProjectOptions: ParsableArguments {
    @Option(help: "The project's API key (SIGNALBOX_API_KEY).")
    package var apiKey: String?

    @Option(
        help: """
            The project's secret (SIGNALBOX_API_SECRET, or the file that SIGNALBOX_API_SECRET_FILE names). Prefer \
            these: other users of the machine can see the options.
            """)
    package var apiSecret: String?

    package init() {}

    /// The project, or `nil` when neither the key nor the secret is given.
    package func project() throws -> Project? {
        let environment = ProcessInfo.processInfo.environment
        let key = apiKey ?? environment["SIGNALBOX_API_KEY"]
        let secret = try apiSecret ?? SecretVariable.value("SIGNALBOX_API_SECRET")
        switch (key, secret) {
        case (let key?, let secret?):
            guard let project = Project(apiKey: APIKey(key), secret: secret) else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "the API key or its secret is not valid. The key has 1 to 64 letters, digits or characters - . _, "
                        + "and the secret is not empty.")
            }
            return project
        case (nil, nil): return nil
        case (_?, nil):
            throw ExitStatus.exit(
                ExitStatus.usage,
                "an API key is given without its secret. Add --api-secret or SIGNALBOX_API_SECRET.")
        case (nil, _?):
            throw ExitStatus.exit(
                ExitStatus.usage, "an API secret is given without its key. Add --api-key or SIGNALBOX_API_KEY.")
        }
    }
}
