import ArgumentParser
import Foundation
import VerificationTools

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Test the delivery guarantees on this machine while faults happen.",
        discussion: """
            Starts servers and clients, sends numbered signals, cuts networks, and pauses, kills and restarts \
            servers. Then it checks what every client received (docs/guarantees.md). The exit status is 1 if a \
            promise was broken.
            """)

    @Option(help: "The number of signals to send in all.") var signals = 2_000
    @Option(help: "The number of sessions.") var sessions = 4
    @Option(help: "The number of clients in each session; at least 2.") var members = 3
    @Option(help: "How many times to reset a client's network.") var cuts = 20
    @Option(
        help: """
            How many times to discard everything in one direction of a client's network, without a reset. Each takes \
            two heartbeats.
            """)
    var silences = 0
    @Option(help: "How many times to pause the server's process for up to 1.5 seconds (SIGSTOP, SIGCONT).")
    var stops = 2
    @Option(help: "How many times to kill the server (SIGKILL) and start another one.") var kills = 0
    @Option(help: "How many times to stop the server (SIGTERM) and start another one with the saved sessions.")
    var restarts = 0
    @Option(help: "Repeats the plan of another run. (default: a random number)") var seed: UInt64?
    @Flag(help: "Print the report as one JSON object.") var json = false

    private var plan: Verification.Plan {
        var plan = Verification.Plan(seed: seed ?? .random(in: 1...999_999_999))
        plan.signals = signals
        plan.sessions = sessions
        plan.members = members
        plan.cuts = cuts
        plan.silences = silences
        plan.stops = stops
        plan.kills = kills
        plan.restarts = restarts
        return plan
    }

    func validate() throws {
        guard plan.isValid else {
            throw ValidationError(
                "Numbers must be positive (0 is possible for faults), and --members must be at least 2.")
        }
    }

    func run() async throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let showsProgress = isatty(STDERR_FILENO) == 1
        let verification = Verification(plan: plan, program: program) { [signals] sentCount in
            if showsProgress { StandardError.print("Sent \(sentCount) of \(signals) signals.") }
        }
        let report: VerifyReport
        do { report = try await verification.run() } catch let error as VerificationError {
            let status =
                switch error.code {
                case .serverNotStarted: ExitStatus.failed
                case .clientNotConnected: ExitStatus.unreachable
                }
            throw ExitStatus.exit(status, error.description)
        }
        StandardOutput.print(json ? report.json : report.text)
        if !report.isGood { throw ExitCode(ExitStatus.failed) }
    }
}
