import ArgumentParser
import SignalingServer

@main
struct Signalbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signalbox",
        abstract: "Host OpenTok-style signaling sessions, and take part in them.",
        discussion: """
            Start with `signalbox serve`. Without credentials it runs in development mode, on this machine only, and \
            prints the URL of a chat page. `signalbox chat lobby` joins the same room from a terminal.

            Most options have an environment variable: --api-key is SIGNALBOX_API_KEY, and so on.
            """,
        version: ServerVersion.text,
        subcommands: [
            ServeCommand.self, SessionCommands.self, TokenCommand.self, CredentialsCommand.self, SignalCommand.self,
            ListenCommand.self, ChatCommand.self, StateCommands.self, VerifyCommand.self, AdminCommands.self,
            ConfigCommands.self,
        ])
}
