import EventLoop
import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingServer
import SignalingTokens

/// The credentials that a server in development mode leaves for the tools of the same user, one file for each port.
///
/// Only the owner can read the file. It holds as much as the server's environment would, and a server with a project of
/// its own leaves none.
package struct LocalCredentials: Codable, Equatable {
    package let apiKey: String
    package let apiSecret: String

    package init(apiKey: String, apiSecret: String) { (self.apiKey, self.apiSecret) = (apiKey, apiSecret) }

    private static let permissions = 0o600

    private static func path(port: Int) -> String? {
        UserState.folder().map { "\($0)/\(port).credentials" }
    }

    /// Leaves the credentials, in place of those of an earlier server on this port.
    ///
    /// - Returns: why they cannot be left; `nil` when they are.
    package func leave(port: Int) -> String? {
        guard let folder = UserState.folder(), let path = Self.path(port: port) else { return "HOME is not set" }
        UserState.create(folder)
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(Self.permissions))
        guard descriptor >= 0 else { return "\(path): \(String(cString: strerror(errno)))" }
        defer { close(descriptor) }
        do {
            if let code = WholeWrite.write(try JSONEncoder().encode(self), to: descriptor) {
                return "\(path): \(String(cString: strerror(code)))"
            }
        } catch { return "\(path): \(error)" }
        guard rename(draft, path) == 0 else { return "\(path): \(String(cString: strerror(errno)))" }
        return nil
    }

    /// Removes the credentials, unless another server has left its own since.
    package func remove(port: Int) {
        if let path = Self.path(port: port), (try? Self.read(path)) == self { unlink(path) }
    }

    /// The project of the server in development mode at this URL; `nil` if no such server has left credentials.
    ///
    /// Only a server on this machine can have left them.
    package static func project(of server: ServerURL) throws -> Project? {
        guard ServerConfiguration.isLoopback(server.host), let path = path(port: server.port),
            let credentials = try read(path)
        else { return nil }
        return Project(apiKey: .init(credentials.apiKey), secret: credentials.apiSecret)
    }

    private static func read(_ path: String) throws -> LocalCredentials? {
        guard let file = FileStatus(path) else { return nil }
        guard file.isRegular, file.owner == geteuid(), file.permissions & 0o077 == 0 else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "cannot use \(path): it is not a private file of this user. Delete it, and restart the server.")
        }
        guard let data = FileManager.default.contents(atPath: path),
            let credentials = try? JSONDecoder().decode(LocalCredentials.self, from: data)
        else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "cannot use \(path): it has no credentials that a server wrote. Delete it, and restart the server.")
        }
        return credentials
    }
}
