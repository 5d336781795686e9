import ArgumentParser
import SignalingTokens

struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Print what a backend shows with a REST request.",
        discussion: """
            It is good for three minutes, and made here, without asking a server. A project's goes into the header \
            X-OPENTOK-AUTH, an application's behind Bearer:

              curl -H "X-OPENTOK-AUTH: $(signalbox credentials)" …
              curl -H "Authorization: Bearer $(signalbox credentials --application-id ID --private-key-file FILE)" …
            """)

    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let signer = try signing.requiredSigner()
        var randomness = SystemRandomNumberGenerator()
        do {
            switch signer {
            case .project(let project):
                print(try RequestCredentials.make(project: project, now: .current, using: &randomness))
            case .application(let application):
                print(try RequestCredentials.make(application: application, now: .current, using: &randomness))
            }
        } catch {
            throw ExitStatus.exit(ExitStatus.failed, "\(error)")
        }
    }
}
