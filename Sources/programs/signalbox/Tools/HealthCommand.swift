import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SignalingServer

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ask a server whether it takes new clients.",
        discussion: """
            For the health checks of containers and supervisors. Asks /readyz, or /livez with --live. Prints nothing and \
            exits with 0 if the server is healthy, with 1 if it is not, and with 69 if it cannot be reached.
            """)

    @OptionGroup var serverOptions: ServerOptions

    @Flag(help: "Ask only whether the server runs: it may stop, or wait for its disk or for Redis.")
    var live = false

    func run() async throws {
        let server = try serverOptions.url()
        guard let url = server.resource(live ? "/livez" : "/readyz") else {
            throw ExitStatus.exit(ExitStatus.usage, "the server's URL \(server.text) cannot be the start of a path.")
        }
        guard let (status, body) = try? await WebRequest.get(url) else {
            throw ExitStatus.exit(ExitStatus.unreachable, "cannot reach \(url). Is the server running?")
        }
        guard status == .ok else {
            let reason = (try? JSONDecoder().decode(Health.self, from: body))?.status ?? "no Signalbox answers there"
            throw ExitStatus.exit(ExitStatus.failed, "\(url) is not healthy: \(Printable.text(reason))")
        }
    }

    private struct Health: Decodable {
        let status: String
    }
}
