import ArgumentParser
import SignalingProtocol
import SignalingTokens

struct SessionCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Make sessions.", subcommands: [Create.self], defaultSubcommand: Create.self)

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new session id.",
            discussion: """
                A session id carries its project and needs no database: it is made here, without asking a server, and any \
                server of the same project takes it. Sessions do not expire.
                """)

        @OptionGroup var signing: SigningOptions

        func run() async throws {
            var randomness = SystemRandomNumberGenerator()
            print(SessionIDCodec.make(for: try signing.requiredSigner().project, now: .current, using: &randomness))
        }
    }
}
