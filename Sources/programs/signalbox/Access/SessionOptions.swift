import ArgumentParser
import CommandSupport
import FoundationEssentials
import SignalingClient
import SignalingProtocol
import SignalingTokens
import Synchronization

/// The session that a command joins, and its credentials.
struct SessionOptions: ParsableArguments {
    @Argument(help: "The session's id. With a server in development mode: the name of a room, such as lobby.")
    var session: String

    @Option(
        help: """
            A token for the session (SIGNALBOX_TOKEN). Without one, the command makes a token with the project's \
            secret or the application's key.
            """)
    var token: String?

    @Option(help: "A PEM file with certificates to trust in addition to the system's.")
    var caFile: String?

    @OptionGroup var signing: SigningOptions

    @Option(help: "The role to ask for: subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(
        name: [.customLong("name"), .customLong("connection-data")],
        help: "The connection data, which every client in the session sees; at most 1000 characters.")
    var name: String = ""

    @Option(help: "The user's id, the same on all devices of a person. (default: none, a guest)")
    var user: String?

    /// A session that is not connected yet, and the token to connect it with.
    func access() async throws -> (session: Session, token: String) {
        let environment = ProcessInfo.processInfo.environment
        let server = try signing.serverOptions.url()
        let given = try signing.givenSigner()
        let content = try? SessionIDCodec.read(SessionID(session))
        if let token = token ?? environment["SIGNALBOX_TOKEN"] {
            guard let content else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "\"\(session)\" is not a session id. A token is for one session: give the id that it was made for.")
            }
            return (makeSession(content.apiKey.rawValue, session, server), token)
        }
        if let content {
            guard let signer = try given ?? signing.localSigner(of: content.apiKey) else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "a session id needs credentials. Give --token, or --api-key and --api-secret, or --application-id "
                        + "and --private-key-file, or their variables.")
            }
            let token = try signer.token(
                AccessRequest(
                    sessionId: SessionID(session), role: role, connectionData: name, user: user.map { UserID($0) }))
            return (makeSession(signer.project.apiKey.rawValue, session, server), token)
        }
        let room = try await DevelopmentRoom.find(
            session, on: server, role: role, data: name, user: user, signer: given)
        return (makeSession(room.apiKey, room.sessionId, server), room.token)
    }

    private func makeSession(_ apiKey: String, _ id: String, _ server: ServerURL) -> Session {
        Session(
            apiKey: apiKey, sessionId: id, server: server.text,
            options: .init(connectionAwayEvents: true, trustedCertificatesFile: caFile))
    }

    /// A server that has not answered by then counts as absent.
    private static let connectDeadline = Duration.seconds(10)

    /// Connects, or ends the program with the status for the error.
    func connect(_ access: (session: Session, token: String)) async throws {
        let hasExpired = Mutex(false)
        let timer = Task {
            try await Task.sleep(for: Self.connectDeadline)
            hasExpired.withLock { $0 = true }
            await access.session.disconnect()
        }
        defer { timer.cancel() }
        do { try await access.session.connect(token: access.token) } catch {
            if hasExpired.withLock({ $0 }) {
                throw ExitStatus.exit(
                    ExitStatus.unreachable,
                    "the server has not answered for 10 seconds. Check that it runs, and try again.")
            }
            throw ExitStatus.exit(hint(error))
        }
    }

    /// The error, with the variable to check when this terminal may have the secret of another server.
    private func hint(_ error: SignalingError) -> SignalingError {
        let isFromEnvironment =
            token == nil && signing.projectOptions.apiSecret == nil
            && (try? SecretVariable.value("SIGNALBOX_API_SECRET")) != nil
        guard error.code == .authenticationError, isFromEnvironment else { return error }
        return SignalingError(error.code, error.message + ". Check SIGNALBOX_API_SECRET in this terminal")
    }
}

extension Role: ExpressibleByArgument {}
