import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc

/// The server that a command talks to.
struct ServerOptions: ParsableArguments {
    @Option(help: "The server's URL (SIGNALBOX_SERVER). (default: \(Self.defaultServer))")
    var server: String?

    private static let defaultServer = "http://127.0.0.1:8080"

    /// - Throws: the exit code 64 for a text that is not the URL of a server.
    func url() throws -> ServerURL {
        let text = server ?? ProcessInfo.processInfo.environment.given("SIGNALBOX_SERVER") ?? Self.defaultServer
        guard let url = ServerURL(text) else {
            throw ExitStatus.exit(
                ExitStatus.usage,
                "the server's URL is \"\(text)\". Use a URL that begins with http:// or https://, such as "
                    + "\(Self.defaultServer) (--server, SIGNALBOX_SERVER).")
        }
        return url
    }
}
