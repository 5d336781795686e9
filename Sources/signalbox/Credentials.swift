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

/// Who signs: a project with its secret, or an application with its private key.
struct SigningOptions: ParsableArguments {
    enum Signer {
        case project(Project)
        case application(Application)

        var project: Project {
            switch self {
            case .project(let project): project
            case .application(let application): application.project
            }
        }
    }

    @OptionGroup var projectOptions: ProjectOptions

    @Option(help: "An application's id, a UUID, in place of an API key; SIGNALBOX_APPLICATION_ID.")
    var applicationId: String?

    @Option(
        help: """
            The PEM file with the application's private key, not encrypted, in place of a secret; \
            SIGNALBOX_PRIVATE_KEY_FILE.
            """)
    var privateKeyFile: String?

    /// Whether the command line itself says that an application signs.
    var namesApplication: Bool { applicationId != nil || privateKeyFile != nil }

    /// Who signs, or `nil` when nobody is named. What the command line names comes before what the environment has, and
    /// there a project before an application.
    func signer() throws -> Signer? {
        if namesApplication {
            guard projectOptions.apiKey == nil, projectOptions.apiSecret == nil else {
                throw ExitStatus.exit(
                    ExitStatus.usage, "either a project signs or an application: give --api-key or --application-id")
            }
            return .application(try requiredApplication())
        }
        if let project = try projectOptions.project() { return .project(project) }
        return try application().map(Signer.application)
    }

    func requiredSigner() throws -> Signer {
        guard let signer = try signer() else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "an API key and a secret are needed, or an application's id and its private key file, as options or "
                    + "variables")
        }
        return signer
    }

    func requiredApplication() throws -> Application {
        guard let application = try application() else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "an application's id and its private key are needed: --application-id and --private-key-file, or their "
                    + "variables")
        }
        return application
    }

    /// The application, or `nil` when neither half is given.
    private func application() throws -> Application? {
        let environment = ProcessInfo.processInfo.environment
        switch (
            applicationId ?? environment["SIGNALBOX_APPLICATION_ID"],
            privateKeyFile ?? environment["SIGNALBOX_PRIVATE_KEY_FILE"]
        ) {
        case (let id?, let file?):
            guard let bytes = try? Data(contentsOf: URL(filePath: file)) else {
                throw ExitStatus.exit(ExitStatus.usage, "the private key file \(file) cannot be read")
            }
            guard let key = RSAPrivateKey(pem: String(decoding: bytes, as: UTF8.self)) else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "the file \(file) is not an RSA private key of 2048 bits or more in PEM, not encrypted")
            }
            guard let application = Application(id: id, privateKey: key) else {
                throw ExitStatus.exit(ExitStatus.usage, "an application's id has to be a UUID")
            }
            return application
        case (nil, nil): return nil
        case (_?, nil):
            throw ExitStatus.exit(ExitStatus.usage, "an application's id without its key (--private-key-file)")
        case (nil, _?):
            throw ExitStatus.exit(ExitStatus.usage, "a private key without its application (--application-id)")
        }
    }
}

extension Role: ExpressibleByArgument {}

extension WallTime {
    static var current: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
