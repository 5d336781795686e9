import ArgumentParser
import Foundation
import FoundationNetworking
import SignalingClient
import SignalingProtocol
import SignalingTokens

/// Which session a command takes part in, and what lets it in.
struct SessionOptions: ParsableArguments {
    @Argument(
        help: """
            The session's id; or, with a server in development mode, the name of a room, such as lobby.
            """)
    var session: String

    @Option(help: "The server's URL; SIGNALBOX_SERVER. (default: http://127.0.0.1:8080)")
    var server: String?

    @Option(
        help: """
            A token for the session; SIGNALBOX_TOKEN. Without one it is made with the project's secret or the \
            application's key.
            """)
    var token: String?

    @Option(help: "A PEM file with certificates to trust beside the system's.")
    var caFile: String?

    @OptionGroup var signing: SigningOptions

    @Option(help: "The role to ask for: subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(
        name: [.customLong("name"), .customLong("connection-data")],
        help: "What everybody in the session is told about this client; at most 1000 characters.")
    var name: String = ""

    /// A session that is not connected yet, and the token to connect it with.
    func access() async throws -> (session: Session, token: String) {
        let environment = ProcessInfo.processInfo.environment
        let server = server ?? environment["SIGNALBOX_SERVER"] ?? "http://127.0.0.1:8080"
        let signer = try signing.signer()
        let content = try? SessionIDCodec.read(SessionID(session))
        if let token = token ?? environment["SIGNALBOX_TOKEN"] {
            guard let content else {
                throw ExitStatus.exit(ExitStatus.usage, "not a session id: \(session)")
            }
            return (makeSession(content.apiKey.rawValue, session, server), token)
        }
        guard content == nil else {
            guard let signer else {
                throw ExitStatus.exit(
                    ExitStatus.usage,
                    "to enter a session by its id, a token is needed, an API key and a secret, or an application's id "
                        + "and its private key file")
            }
            return (makeSession(signer.project.apiKey.rawValue, session, server), try makeToken(signer))
        }
        let room = try await DevelopmentRoom.find(session, on: server, role: role, data: name)
        return (makeSession(room.apiKey, room.sessionId, server), room.token)
    }

    private func makeSession(_ apiKey: String, _ id: String, _ server: String) -> Session {
        Session(
            apiKey: apiKey, sessionId: id, server: server, options: .init(trustedCertificatesFile: caFile))
    }

    private func makeToken(_ signer: SigningOptions.Signer) throws -> String {
        var randomness = SystemRandomNumberGenerator()
        let request = AccessRequest(
            sessionID: SessionID(session), role: role, connectionData: name)
        do {
            return switch signer {
            case .project(let project):
                try T1Token.make(request, project: project, now: .current, using: &randomness)
            case .application(let application):
                try ApplicationToken.make(request, application: application, now: .current, using: &randomness)
            }
        } catch {
            throw ExitStatus.exit(ExitStatus.usage, "no token: \(error)")
        }
    }

    /// Connects, or ends the program with the status that says why not.
    func connect(_ access: (session: Session, token: String)) async throws {
        do { try await access.session.connect(token: access.token) } catch { throw ExitStatus.exit(error) }
    }
}

/// What a server in development mode says of a room.
private struct DevelopmentRoom: Decodable {
    let apiKey: String
    let sessionId: String
    let token: String

    static func find(
        _ name: String, on server: String, role: Role, data: String
    ) async throws -> DevelopmentRoom {
        guard var components = URLComponents(string: server) else {
            throw ExitStatus.exit(ExitStatus.usage, "not a server's URL: \(server)")
        }
        components.path = "/room/" + name
        components.queryItems = [
            URLQueryItem(name: "role", value: role.rawValue), URLQueryItem(name: "data", value: data),
        ]
        guard let url = components.url else { throw ExitStatus.exit(ExitStatus.usage, "not a server's URL: \(server)") }
        let (body, response): (Data, URLResponse)
        do { (body, response) = try await URLSession.shared.data(from: url) } catch {
            throw ExitStatus.exit(ExitStatus.unreachable, "the server at \(server) cannot be reached")
        }
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200:
            guard let room = try? JSONDecoder().decode(DevelopmentRoom.self, from: body) else { break }
            return room
        case 400:
            throw ExitStatus.exit(ExitStatus.usage, "not a session id, and not a room's name: \(name)")
        case 404:
            throw ExitStatus.exit(
                ExitStatus.notPermitted,
                "the server is not in development mode, so a session id is needed, and a token or credentials")
        default: break
        }
        throw ExitStatus.exit(ExitStatus.failed, "the server at \(server) does not answer as a Signalbox")
    }
}
