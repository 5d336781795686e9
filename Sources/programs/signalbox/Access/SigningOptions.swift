import ArgumentParser
import CommandSupport
import FoundationEssentials
import SignalingProtocol
import SignalingTokens

/// Credentials that sign tokens: a project's secret, or an application's private key.
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

        /// The header with which a backend's request names its project (REST-1).
        func requestHeader() throws -> (name: String, value: String) {
            var randomness = SystemRandomNumberGenerator()
            switch self {
            case .project(let project):
                let text = try RequestCredentials.make(project: project, now: .current, using: &randomness)
                return ("X-OPENTOK-AUTH", text)
            case .application(let application):
                let text = try RequestCredentials.make(application: application, now: .current, using: &randomness)
                return ("Authorization", "Bearer \(text)")
            }
        }
    }

    @OptionGroup var projectOptions: ProjectOptions

    /// A server in development mode on this machine has left credentials.
    @OptionGroup var serverOptions: ServerOptions

    @Option(help: "An application's id, a UUID, instead of an API key (SIGNALBOX_APPLICATION_ID).")
    var applicationId: String?

    @Option(
        help: """
            The PEM file with the application's private key, not encrypted, instead of a secret \
            (SIGNALBOX_PRIVATE_KEY_FILE).
            """)
    var privateKeyFile: String?

    /// Whether the command line names an application.
    var namesApplication: Bool { applicationId != nil || privateKeyFile != nil }

    /// The signer that the command line or the environment gives, or `nil`. The command line overrides the environment.
    /// In the environment, a project overrides an application.
    func givenSigner() throws -> Signer? {
        if namesApplication {
            guard projectOptions.apiKey == nil, projectOptions.apiSecret == nil else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "credentials of a project and of an application are given. Use either --api-key or --application-id."
                )
            }
            return .application(try requiredApplication())
        }
        if let project = try projectOptions.project() { return .project(project) }
        return try application().map(Signer.application)
    }

    /// The given signer, or the project of a server in development mode on this machine.
    func signer() throws -> Signer? {
        if let signer = try givenSigner() { return signer }
        return try LocalCredentials.project(of: serverOptions.url()).map(Signer.project)
    }

    /// The project of a server in development mode on this machine, if it has this key.
    func localSigner(of apiKey: APIKey) throws -> Signer? {
        let project = try LocalCredentials.project(of: serverOptions.url())
        return project?.apiKey == apiKey ? project.map(Signer.project) : nil
    }

    func requiredSigner() throws -> Signer {
        guard let signer = try signer() else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "credentials are missing. Give --api-key and --api-secret, or --application-id and --private-key-file, "
                    + "or their variables, or start a server in development mode.")
        }
        return signer
    }

    /// The project for a form of token that only a project signs.
    func requiredProject() throws -> Project {
        if let project = try projectOptions.project() { return project }
        if let project = try LocalCredentials.project(of: serverOptions.url()) { return project }
        throw ExitStatus.exit(
            ExitStatus.usage,
            "credentials are missing. Give --api-key and --api-secret, or SIGNALBOX_API_KEY and SIGNALBOX_API_SECRET, "
                + "or start a server in development mode.")
    }

    func requiredApplication() throws -> Application {
        guard let application = try application() else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "an application's credentials are missing. Give --application-id and --private-key-file, or their "
                    + "variables.")
        }
        return application
    }

    /// The application, or `nil` when neither its ID nor its key is given.
    private func application() throws -> Application? {
        let environment = ProcessInfo.processInfo.environment
        switch (
            applicationId ?? environment["SIGNALBOX_APPLICATION_ID"],
            privateKeyFile ?? environment["SIGNALBOX_PRIVATE_KEY_FILE"]
        ) {
        case (let id?, let file?):
            guard let bytes = try? Data(contentsOf: URL(filePath: file)) else {
                throw ExitStatus.exit(
                    ExitStatus.usage, "the private key file \(file) cannot be read. Check its path and permissions.")
            }
            guard let key = RSAPrivateKey(pem: String(decoding: bytes, as: UTF8.self)) else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "the file \(file) has no usable private key. Use an RSA private key of 2048 bits or more in PEM, "
                        + "not encrypted.")
            }
            guard let application = Application(id: id, privateKey: key) else {
                throw ExitStatus.exit(ExitStatus.usage, "the application's id is \"\(id)\". Use a UUID.")
            }
            return application
        case (nil, nil): return nil
        case (_?, nil):
            throw ExitStatus.exit(
                ExitStatus.usage, "an application's id is given without its private key. Add --private-key-file.")
        case (nil, _?):
            throw ExitStatus.exit(
                ExitStatus.usage, "a private key is given without its application. Add --application-id.")
        }
    }
}
