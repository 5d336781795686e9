import ArgumentParser
import FoundationEssentials
import SignalingClient
import SignalingProtocol
import SignalingTokens

/// The session that a command joins, and its credentials.
struct SessionOptions: ParsableArguments {
    @Argument(help: "The session's id. With a server in development mode: the name of a room, such as lobby.")
    var session: String

    @Option(help: "The server's URL (SIGNALBOX_SERVER). (default: \(Self.defaultServer))")
    var server: String?

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

    private static let defaultServer = "http://127.0.0.1:8080"

    /// A session that is not connected yet, and the token to connect it with.
    func access() async throws -> (session: Session, token: String) {
        let environment = ProcessInfo.processInfo.environment
        let server = server ?? environment["SIGNALBOX_SERVER"] ?? Self.defaultServer
        let signer = try signing.signer()
        let content = try? SessionIDCodec.read(SessionID(session))
        if let token = token ?? environment["SIGNALBOX_TOKEN"] {
            guard let content else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "\"\(session)\" is not a session id. A token is for one session: give the id that it was made for.")
            }
            return (makeSession(content.apiKey.rawValue, session, server), token)
        }
        guard content == nil else {
            guard let signer else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "a session id needs credentials. Give --token, or --api-key and --api-secret, or --application-id "
                        + "and --private-key-file, or their variables.")
            }
            return (makeSession(signer.project.apiKey.rawValue, session, server), try makeToken(signer))
        }
        let room = try await DevelopmentRoom.find(session, on: server, role: role, data: name)
        return (makeSession(room.apiKey, room.sessionId, server), room.token)
    }

    private func makeSession(_ apiKey: String, _ id: String, _ server: String) -> Session {
        Session(
            apiKey: apiKey, sessionId: id, server: server,
            options: .init(connectionAwayEvents: true, trustedCertificatesFile: caFile))
    }

    private func makeToken(_ signer: SigningOptions.Signer) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        let request = AccessRequest(sessionId: SessionID(session), role: role, connectionData: name)
        do {
            return switch signer {
            case .project(let project):
                try T1Token.make(request, project: project, now: .current, using: &randomness)
            case .application(let application):
                try ApplicationToken.make(request, application: application, now: .current, using: &randomness)
            }
        } catch {
            throw ExitStatus.exit(ExitStatus.usage, "cannot create a token for session \(session): \(error)")
        }
    }

    /// Connects, or ends the program with the status for the error.
    func connect(_ access: (session: Session, token: String)) async throws {
        do { try await access.session.connect(token: access.token) } catch { throw ExitStatus.exit(error) }
    }
}

extension Role: ExpressibleByArgument {}
