import ArgumentParser
import CommandSupport
import SignalingProtocol
import SignalingTokens

struct TokenCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case t1, jwt, app
    }

    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a token, which permits a client to connect to one session.",
        discussion: """
            The command makes the token without a server. Give each token to one client only.

            A project signs with its secret, an application with its private key:

              signalbox token SESSION --api-key KEY --api-secret SECRET
              signalbox token SESSION --application-id ID --private-key-file FILE
            """)

    @Argument(help: "The session's id.")
    var session: String

    @OptionGroup var signing: SigningOptions

    @Option(help: "The client's role: subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(help: "The connection data, which every client in the session sees; at most 1000 characters.")
    var data: String = ""

    @Option(
        help: """
            The id of the user whom the token names, the same on all devices and in all tokens of a person; at most 128 \
            characters. (default: none, a guest)
            """)
    var user: String?

    @Option(help: "How long the token is valid, in seconds; at most 2592000 (30 days).")
    var expiresIn: Int64 = 86_400

    @Option(
        help: """
            Whether the client may read what the session keeps of earlier messages: all or none. (default: as the server's \
            --history-access says)
            """)
    var history: HistoryClaim?

    @Option(
        help: """
            t1 (OpenTok's classic form), jwt (made by its present SDKs) or app (for an application, as Vonage's SDKs \
            make it). (default: t1 for a project, app for an application)
            """)
    var format: Format?

    func run() async throws {
        var randomness = SystemRandomNumberGenerator()
        let request = AccessRequest(
            sessionId: SessionID(session), role: role, connectionData: data, user: user.map { UserID($0) },
            lifetime: .seconds(expiresIn), history: history)
        let signer = try signer()
        guard format == .jwt, case .project(let project) = signer else {
            return StandardOutput.print(try signer.token(request))
        }
        do {
            StandardOutput.print(try ProjectJWT.make(request, project: project, now: .current, using: &randomness))
        } catch { throw AccessRequest.failure(error, session: session) }
    }

    /// The signer for the requested format.
    private func signer() throws -> SigningOptions.Signer {
        switch format {
        case nil: return try signing.requiredSigner()
        case .app: return .application(try signing.requiredApplication())
        case .t1, .jwt:
            guard !signing.namesApplication else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "an application signs only tokens with --format app. Remove --format, or give --api-key and --api-secret."
                )
            }
            return .project(try signing.requiredProject())
        }
    }
}

extension HistoryClaim: ExpressibleByArgument {}
