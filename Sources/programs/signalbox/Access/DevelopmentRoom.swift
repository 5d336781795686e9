import CommandSupport
import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingServer

/// The credentials for a room, from a server in development mode.
struct DevelopmentRoom: Decodable {
    let apiKey: String
    let sessionId: String
    let token: String

    /// Asks the server for the room with this name.
    ///
    /// - Parameters:
    ///   - user: the user ID, or `nil` for a guest.
    ///   - signer: credentials that the user has given. The server refuses wrong ones.
    static func find(
        _ name: String, on server: ServerURL, role: Role, data: String, user: String? = nil,
        signer: SigningOptions.Signer?
    ) async throws -> DevelopmentRoom {
        let query = [("role", role.rawValue), ("data", data)] + (user.map { [("user", $0)] } ?? [])
        guard isName(name), let url = server.resource("/room/" + name, query: query)
        else { throw notARoom(name) }
        let (status, body): (HTTPStatus?, Data)
        do { (status, body) = try await WebRequest.get(url, header: signer?.requestHeader()) } catch {
            throw ExitStatus.exit(
                ExitStatus.unreachable,
                "the server at \(server.text) cannot be reached. Check that it runs, and --server or SIGNALBOX_SERVER.")
        }
        if status == .ok, let room = try? JSONDecoder().decode(DevelopmentRoom.self, from: body) { return room }
        guard let refusal = WebRequest.refusal(body) else {
            throw ExitStatus.exit(
                ExitStatus.failed,
                "the server at \(server.text) does not answer like a Signalbox server. Check --server or "
                    + "SIGNALBOX_SERVER.")
        }
        switch status {
        case .badRequest: throw ExitStatus.exit(ExitStatus.usage, "room \"\(name)\": \(refusal)")
        case .notFound:
            throw ExitStatus.exit(
                ExitStatus.notPermitted,
                "the server is not in development mode, so it has no room \"\(name)\". Give a session id, and a token "
                    + "or credentials. `signalbox session create` creates a session id.")
        case .forbidden where signer != nil:
            throw ExitStatus.exit(
                ExitStatus.notPermitted,
                "room \"\(name)\" with these credentials: \(refusal). A room needs no credentials: leave out the key and "
                    + "the secret, also in the SIGNALBOX_ variables.")
        default: throw ExitStatus.exit(ExitStatus.notPermitted, "room \"\(name)\": \(refusal)")
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && (try? SignalRequest(type: name).validate()) != nil
    }

    private static func notARoom(_ name: String) -> any Error {
        ExitStatus.exit(
            ExitStatus.usage,
            "\"\(name)\" is neither a session id nor a room's name. A name has 1 to 64 letters, digits or "
                + "characters - . _ ~")
    }
}
