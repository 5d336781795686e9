import ArgumentParser
import CommandSupport
import SignalingCore
import SignalingSQLite

struct CheckStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the sessions and the history in a state folder.",
        discussion: """
            Checks the files with SQLite, the checksum of each row, that no command and no message is missing, and \
            that the next server can decode and replay each session. Prints one line for each fault. The exit status is 0 without a \
            fault, and 1 otherwise.
            """)

    @OptionGroup var state: StateFolderArgument

    func run() async throws {
        let report: SQLiteCommandLog.CheckReport
        do throws(CommandLogFault) {
            report = try SQLiteCommandLog.check(folder: state.folder) { session in
                try SessionSummary(session).requireReadable()
            }
        } catch {
            throw ExitStatus.exit(error)
        }
        for fault in report.faults { StandardOutput.print(Printable.text(fault)) }
        guard report.faults.isEmpty else { throw ExitCode(ExitStatus.failed) }
        StandardOutput.print(
            "no faults in \(counted(report.sessionCount, "session")) with \(counted(report.commandCount, "command")), "
                + "\(report.byteCount) bytes")
        if report.sleeperCount > 0 { StandardOutput.print(counted(report.sleeperCount, "sleeping session")) }
        if let history = report.history { StandardOutput.print(StateReport.line(history: history)) }
        for name in report.copies {
            StandardOutput.print("\(name) is a copy without a write-ahead log; the next server gives it one")
        }
        if let obstacle = report.obstacle { StandardOutput.print(StateReport.line(obstacle: obstacle)) }
    }
}

extension SessionSummary {
    /// - Throws: for a session that a server cannot continue.
    func requireReadable() throws {
        switch content {
        case .live, .ended: break
        case .unreadable(let fault): throw fault
        }
    }
}
