import ArgumentParser
import SignalingTokens

struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Print what a backend shows with a REST request, as the header X-OPENTOK-AUTH.",
        discussion: """
            It is good for three minutes, and made here, without asking a server:

              curl -H "X-OPENTOK-AUTH: $(signalbox credentials)" …
            """)

    @OptionGroup var project: ProjectOptions

    func run() async throws {
        let project = try project.requiredProject()
        var randomness = SystemRandomNumberGenerator()
        do {
            print(try RequestCredentials.make(project: project, now: .current, using: &randomness))
        } catch {
            throw ExitStatus.exit(ExitStatus.failed, "\(error)")
        }
    }
}
