import ArgumentParser
import CommandSupport
import SignalingTokens

struct CredentialsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Print the credentials for a REST request.",
        discussion: """
            They are valid for three minutes. The command makes them without a server. A project's credentials go \
            into the header X-OPENTOK-AUTH, an application's into Authorization:

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
                StandardOutput.print(try RequestCredentials.make(project: project, now: .current, using: &randomness))
            case .application(let application):
                StandardOutput.print(
                    try RequestCredentials.make(application: application, now: .current, using: &randomness))
            }
        } catch {
            throw ExitStatus.exit(ExitStatus.failed, "cannot create credentials: \(error)")
        }
    }
}
