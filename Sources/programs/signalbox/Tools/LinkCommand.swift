import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingServer
import SignalingTokens

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print a link with which one user joins a session in a browser.",
        discussion: """
            The link opens the server's page. It carries a code, which the page exchanges for session, API key and \
            token. The code works once, and for five minutes more, until the token expires or the server restarts. \
            Anyone who opens the link first can join as this user. Give each user a link of their own, over a channel \
            that you trust.

            With --with-token, and where the server gives no code, the link carries the token itself. It then works as \
            often as you like until the token expires, for everyone who has it. Browsers keep it in their history.

            Code and token are in the link's fragment (after #), which browsers do not send to servers.

              signalbox link SESSION --name Bob --server http://192.168.1.20:8080
              signalbox link lobby --name Bob
            """)

    @Argument(help: "The session's id. With a server in development mode: the name of a room, such as lobby.")
    var session: String

    @Option(help: "The user's name, which every client in the session sees; at most 1000 characters.")
    var name: String

    @Option(
        help: """
            The user's id, the same in all links of a person; at most 128 characters. (default: none, a guest)
            """)
    var user: String?

    @Option(help: "The user's role: subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(help: "How long the link is valid, in seconds; at most 2592000 (30 days). (default: 86400)")
    var expiresIn: Int64?

    @Flag(help: "Put the token into the link, not a code.")
    var withToken = false

    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let server = try signing.serverOptions.url()
        let (token, signer) = try await token(on: server)
        let link = try await withCode(token, signer, on: server)
        guard let page = server.resource("/")?.absoluteString else {
            throw ExitStatus.exit(ExitStatus.usage, "the server's URL \(server.text) cannot be the start of a link.")
        }
        StandardOutput.print("\(page)#\(link.fragment)")
    }

    /// - Returns: the link with the token, and the signer whose credentials the server knows.
    private func token(on server: ServerURL) async throws -> (PageLink, SigningOptions.Signer?) {
        guard let content = try? SessionIDCodec.read(SessionID(session)) else { return try await roomToken(on: server) }
        guard let signer = try signing.givenSigner() ?? signing.localSigner(of: content.apiKey) else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "a session id needs credentials. Give --api-key and --api-secret, or --application-id and "
                    + "--private-key-file, or their variables.")
        }
        let token = try signer.token(request(SessionID(session)))
        try await check(server)
        if ServerConfiguration.isLoopback(server.host) {
            StandardError.print(
                "signalbox: this link works on this machine only. For another machine, give --server with an address "
                    + "at which that machine reaches the server.")
        }
        return (.token(token, session: session, key: signer.project.apiKey.rawValue), signer)
    }

    /// A room's session and token come from the server. With credentials for it, the tool signs a token of its own, so
    /// that the lifetime can be chosen.
    private func roomToken(on server: ServerURL) async throws -> (PageLink, SigningOptions.Signer?) {
        let room = try await DevelopmentRoom.find(
            session, on: server, role: role, data: name, user: user, signer: signing.givenSigner())
        let signer = try signing.localSigner(of: APIKey(room.apiKey))
        if expiresIn != nil, signer == nil {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "--expires-in needs the secret of the server in development mode, which another user has started. "
                    + "Leave the option out.")
        }
        let token = try signer?.token(request(SessionID(room.sessionId))) ?? room.token
        return (.token(token, session: room.sessionId, key: room.apiKey), signer)
    }

    /// - Returns: a link with a code (REST-7). If there is none, tells the user why, and returns the link with the token.
    private func withCode(
        _ link: PageLink, _ signer: SigningOptions.Signer?, on server: ServerURL
    ) async throws -> PageLink {
        guard !withToken, case .token(let token, let session, let key) = link,
            let url = server.resource("/v2/project/\(key)/link")
        else { return link }
        var reason = "this terminal has no credentials for it"
        if let signer {
            let body = try JSONEncoder().encode(["sessionId": session, "token": token])
            let answer = try? await WebRequest.send(.post, url, body, signer.requestHeader())
            struct Code: Decodable { let code: String }
            if let answer, answer.status == .ok, let code = try? JSONDecoder().decode(Code.self, from: answer.body) {
                return .code(code.code)
            }
            if let answer, answer.status == .forbidden, let refusal = WebRequest.refusal(answer.body) {
                throw ExitStatus.exit(
                    ExitStatus.notPermitted,
                    "the server at \(server.text) refuses the credentials: \(refusal). A link with them would not work."
                )
            }
            reason = answer.flatMap { WebRequest.refusal($0.body) } ?? "it does not answer"
        }
        StandardError.print(
            "signalbox: the server gives no code for this link: \(reason). The link carries the token, which browsers "
                + "keep in their history.")
        return link
    }

    private func request(_ id: SessionID) -> AccessRequest {
        var request = AccessRequest(
            sessionId: id, role: role, connectionData: name, user: user.map { UserID($0) })
        if let expiresIn { request.lifetime = .seconds(expiresIn) }
        return request
    }

    /// A link to another kind of server would be of no use. A server that cannot be reached from here may be reachable
    /// for the user of the link.
    private func check(_ server: ServerURL) async throws {
        struct Health: Decodable { let status: String }
        guard let url = server.resource("/livez") else { return }
        guard let (_, body) = try? await WebRequest.get(url) else {
            StandardError.print(
                "signalbox: the server at \(server.text) cannot be reached from here. The link works when the server "
                    + "runs.")
            return
        }
        guard (try? JSONDecoder().decode(Health.self, from: body)) != nil else {
            throw ExitStatus.exit(
                ExitStatus.failed,
                "the server at \(server.text) does not answer like a Signalbox server. Check --server or "
                    + "SIGNALBOX_SERVER.")
        }
    }
}
