import ArgumentParser
import CommandSupport
import SignalingCryptography
import SignalingServer

@main
struct Signalbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signalbox",
        abstract: "Host OpenTok-style signaling sessions, and take part in them.",
        discussion: """
            Start with `signalbox serve`. Without credentials it runs in development mode, on this machine only, and \
            prints the URL of a chat page. `signalbox chat lobby` joins the same room from a terminal.

            Each option of `serve` has an environment variable: --api-key is SIGNALBOX_API_KEY, and so on. The help \
            of the other commands names their variables. A server in development mode leaves its credentials for \
            the other commands of the same user, so they need no options.
            """,
        version: EmbeddedFiles.version,
        subcommands: [
            ServeCommand.self, RoomCommand.self, SessionCommands.self, TokenCommand.self, LinkCommand.self,
            CredentialsCommand.self, RevokeCommand.self, SignalCommand.self, ListenCommand.self, ChatCommand.self,
            HistoryCommand.self, StateCommands.self, AdminCommands.self, ConfigCommands.self, HealthCommand.self,
            MovedVerifyCommand.self, MovedBenchCommand.self,
        ])

    static func main() async {
        StandardStreams.prepare()
        CertificateAuthorities.find()
        OpenSSLCleanup.turnOff()
        await main(nil)
    }
}
