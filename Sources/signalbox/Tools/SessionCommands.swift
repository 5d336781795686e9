import ArgumentParser
import SignalingProtocol
import SignalingTokens

struct SessionCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Create sessions.", subcommands: [Create.self], defaultSubcommand: Create.self
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new session id.",
            discussion: """
                A session id contains its project's key. The command makes it without a server, and every server of \
                the same project accepts it. Sessions do not expire.
                """)

        @OptionGroup var signing: SigningOptions

        func run() async throws {
            var randomness = SystemRandomNumberGenerator()
            let id = SessionIDCodec.make(for: try signing.requiredSigner().project, now: .current, using: &randomness)
            StandardOutput.print(id.rawValue)
        }
    }
}
