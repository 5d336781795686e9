import Foundation
import FoundationNetworking
import SignalingProtocol
import SignalingServer

/// The credentials for a room, from a server in development mode.
struct DevelopmentRoom: Decodable {
    let apiKey: String
    let sessionId: String
    let token: String

    /// Asks the server for the room with this name.
    static func find(_ name: String, on server: String, role: Role, data: String) async throws -> DevelopmentRoom {
        let url = try url(of: name, on: server, role: role, data: data)
        let (body, response): (Data, URLResponse)
        do { (body, response) = try await URLSession.shared.data(from: url) } catch {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "the server at \(server) cannot be reached. Check that it runs, and --server or SIGNALBOX_SERVER.")
        }
        switch (response as? HTTPURLResponse).flatMap({ HTTPStatus(rawValue: $0.statusCode) }) {
        case .ok:
            guard let room = try? JSONDecoder().decode(DevelopmentRoom.self, from: body) else { break }
            return room
        case .badRequest:
            throw ExitStatus.exit(
                ExitStatus.usage,
                "\"\(name)\" is neither a session id nor a room's name. A name has 1 to 64 letters, digits or "
                    + "characters - . _ ~")
        case .notFound:
            throw ExitStatus.exit(
                ExitStatus.notPermitted,
                "the server is not in development mode, so it has no room \"\(name)\". Give a session id, and a token "
                    + "or credentials.")
        default: break
        }
        throw ExitStatus.exit(
            ExitStatus.failed, "the server at \(server) does not answer like a Signalbox server. Check --server.")
    }

    private static func url(of name: String, on server: String, role: Role, data: String) throws -> URL {
        var components = URLComponents(string: server)
        components?.path = "/room/" + name
        components?.queryItems = [
            URLQueryItem(name: "role", value: role.rawValue), URLQueryItem(name: "data", value: data),
        ]
        guard let url = components?.url else {
            throw ExitStatus.exit(
                ExitStatus.usage, "the server's URL is \"\(server)\". Use a URL such as http://127.0.0.1:8080.")
        }
        return url
    }
}
