import ArgumentParser
import Foundation
import SignalingProtocol
import SignalingServer
import SignalingTokens

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print a link with which one user joins a session in a browser.",
        discussion: """
            The link opens the server's page. Session, API key and token are in its fragment (after #), which browsers \
            do not send to servers. Anyone who has the link can join as this user. Give each user a link of their own, \
            over a channel that you trust.

              signalbox link SESSION --name Bob --server http://192.168.1.20:8080
              signalbox link lobby --name Bob
            """)

    @Argument(help: "The session's id. With a server in development mode: the name of a room, such as lobby.")
    var session: String

    @Option(help: "The user's name, which every client in the session sees; at most 1000 characters.")
    var name: String

    @Option(help: "The user's role: subscriber, publisher, moderator or publisheronly.")
    var role: Role = .publisher

    @Option(help: "How long the link is valid, in seconds; at most 2592000 (30 days). (default: 86400)")
    var expiresIn: Int64?

    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let server = try signing.serverOptions.url()
        let link = try await link(on: server)
        guard let page = server.resource("/")?.absoluteString else {
            throw ExitStatus.exit(ExitStatus.usage, "the server's URL \(server.text) cannot be the start of a link.")
        }
        print("\(page)#\(link.fragment)")
    }

    private func link(on server: ServerURL) async throws -> PageLink {
        guard let content = try? SessionIDCodec.read(SessionID(session)) else { return try await roomLink(on: server) }
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
        return PageLink(session: session, key: signer.project.apiKey.rawValue, token: token)
    }

    /// A room's session and token come from the server. With credentials for it, the tool signs a token of its own, so
    /// that the lifetime can be chosen.
    private func roomLink(on server: ServerURL) async throws -> PageLink {
        let room = try await DevelopmentRoom.find(session, on: server, role: role, data: name)
        let signer = try signing.localSigner(of: APIKey(room.apiKey))
        if expiresIn != nil, signer == nil {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "--expires-in needs the secret of the server in development mode, which another user has started. "
                    + "Leave the option out.")
        }
        let token = try signer?.token(request(SessionID(room.sessionId))) ?? room.token
        return PageLink(session: room.sessionId, key: room.apiKey, token: token)
    }

    private func request(_ id: SessionID) -> AccessRequest {
        var request = AccessRequest(sessionId: id, role: role, connectionData: name)
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

/// What a link to the page carries in its fragment. `web-test-client/page/page-link.js` reads it.
struct PageLink {
    let session: String
    let key: String
    let token: String

    var fragment: String {
        [("session", session), ("key", key), ("token", token)].map { "\($0)=\(Self.escaped($1))" }
            .joined(separator: "&")
    }

    /// Escapes everything but the unreserved characters of RFC 3986, so that no program that passes a link on changes
    /// it.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved =
                character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isUnreserved
                ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
