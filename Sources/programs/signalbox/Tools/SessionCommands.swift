import ArgumentParser
import CommandSupport
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

        @Option(
            help: """
                What operators see as the session's name; at most \(SessionLabel.byteLimit) bytes. Everyone who has the id \
                can read it.
                """)
        var label: String?

        func run() async throws {
            let given = label.map { SessionLabel($0) }
            if case .some(nil) = given {
                throw ExitStatus.exit(ExitStatus.usage, "--label is not valid: \(SessionLabel.rule).")
            }
            var randomness = SystemRandomNumberGenerator()
            let id = SessionIDCodec.make(
                for: try signing.requiredSigner().project, now: .current, label: given ?? nil, using: &randomness)
            StandardOutput.print(id.rawValue)
        }
    }
}
