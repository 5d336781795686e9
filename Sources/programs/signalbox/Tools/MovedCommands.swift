import ArgumentParser
import CommandSupport

/// What this program said before `signalbox-lab` had the command. Version 0.2 has neither.
private func moved(_ command: String) -> any Error {
    ExitStatus.exit(ExitStatus.usage, "`\(command)` has a program of its own now: signalbox-lab \(command)")
}

struct MovedVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Is now signalbox-lab verify.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var words: [String] = []

    func run() throws { throw moved("verify") }
}

struct MovedBenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Is now signalbox-lab bench.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var words: [String] = []

    func run() throws { throw moved("bench") }
}
