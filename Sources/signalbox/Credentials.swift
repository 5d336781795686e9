import ArgumentParser
import FoundationEssentials
import SignalingProtocol
import SignalingTokens

/// An API key and its secret, from the command line or the environment.
struct ProjectOptions: ParsableArguments {
    @Option(help: "The project's API key; SIGNALBOX_API_KEY.")
    var apiKey: String?

    @Option(
        help: "The project's secret; better in SIGNALBOX_API_SECRET, where other users of the machine do not see it.")
    var apiSecret: String?

    /// The project, or `nil` when neither half is given.
    func project() throws -> Project? {
        let environment = ProcessInfo.processInfo.environment
        let key = apiKey ?? environment["SIGNALBOX_API_KEY"]
        let secret = apiSecret ?? environment["SIGNALBOX_API_SECRET"]
        switch (key, secret) {
        case (let key?, let secret?):
            guard let project = Project(apiKey: APIKey(key), secret: secret) else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "the API key has to have 1 to 64 letters, digits or characters - . _, and the secret must not be "
                        + "empty")
            }
            return project
        case (nil, nil): return nil
        case (_?, nil): throw ExitStatus.exit(ExitStatus.usage, "an API key without its secret (--api-secret)")
        case (nil, _?): throw ExitStatus.exit(ExitStatus.usage, "an API secret without its key (--api-key)")
        }
    }

    func requiredProject() throws -> Project {
        guard let project = try project() else {
            throw ExitStatus.exit(
                ExitStatus.usage, "an API key and a secret are needed: --api-key and --api-secret, or their variables")
        }
        return project
    }
}

extension Role: ExpressibleByArgument {}

extension WallTime {
    static var current: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
