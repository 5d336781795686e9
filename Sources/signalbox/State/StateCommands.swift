import ArgumentParser
import SignalingCore
import SignalingSQLite

struct StateCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Inspect, check and back up the sessions and the history in a state folder.",
        discussion: """
            The folder is that of `signalbox serve --state-dir FOLDER`. The commands change nothing, and \
            work while a server runs on the folder. Run them as the server's user.

            To restore a backup, start a server with a folder that contains only the backup:

              mkdir -m 700 NEW
              cp -p FILE NEW/sessions.sqlite
              cp -p FILE.history NEW/history.sqlite
              cp -p FILE.revocations NEW/revocations.json
              signalbox serve --state-dir NEW

            A server does not continue the sessions of a backup, since the original may have gone on: they begin new \
            epochs, and every client is told that it may have missed something. Their history is there again.

            The exit status is 66 when there is no database that can be read, and 73 when a backup cannot be written.
            """,
        subcommands: [InspectStateCommand.self, CheckStateCommand.self, BackupStateCommand.self])
}

struct StateFolderArgument: ParsableArguments {
    @Argument(help: "The server's state folder.", completion: .directory)
    var folder: String
}

extension ExitStatus {
    /// Prints the fault and returns the error that ends the program with the status for it.
    static func exit(_ fault: CommandLogFault) -> ExitCode {
        let status =
            switch fault.code {
            case .unusable: noInput
            case .notWritten: fileNotWritten
            default: failed
            }
        return exit(status, fault.message)
    }
}
