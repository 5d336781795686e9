import ArgumentParser
import SignalingProtocol
import SignalingTokens

struct TokenCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case t1, jwt
    }

    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a token: signed permission to connect to one session.",
        discussion: "It is made here, without asking a server. Give it to one client, and to nobody else.")

    @Argument(help: "The session's id.")
    var session: String

    @OptionGroup var project: ProjectOptions

    @Option(help: "subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(help: "Connection data: what everybody in the session is told about this client; at most 1000 characters.")
    var data: String = ""

    @Option(help: "How long it is good for, in seconds; at most 2592000, which is 30 days.")
    var expiresIn: Int64 = 86_400

    @Option(help: "t1 (OpenTok's classic form) or jwt (what its SDKs make today).")
    var format: Format = .t1

    func run() async throws {
        let project = try project.requiredProject()
        var randomness = SystemRandomNumberGenerator()
        let request = AccessRequest(
            sessionID: SessionID(session), role: role, connectionData: data, lifetime: .seconds(expiresIn))
        do {
            switch format {
            case .t1: print(try T1Token.make(request, project: project, now: .current, using: &randomness))
            case .jwt: print(try ProjectJWT.make(request, project: project, now: .current, using: &randomness))
            }
        } catch {
            throw ExitStatus.exit(ExitStatus.usage, "no token: \(error)")
        }
    }
}
