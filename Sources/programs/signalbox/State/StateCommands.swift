import ArgumentParser
import CommandSupport
import SignalingCore
import SignalingSQLite

struct StateCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Inspect, check, back up and restore the sessions and the history in a state folder.",
        discussion: """
            The folder is that of `signalbox serve --state-dir FOLDER`. The commands inspect, check and backup change \
            nothing, and work while a server runs on the folder. Run them as the server's user.

            To restore a backup, stop the server first:

              signalbox state restore FILE FOLDER

            A server does not continue the sessions of a backup, since the original may have gone on: they begin new \
            epochs, and every client is told that it may have missed something. Their history is there again.

            The exit status is 66 when there is no database that can be read, and 73 when a backup cannot be written.
            """,
        subcommands: [
            InspectStateCommand.self, CheckStateCommand.self, BackupStateCommand.self, RestoreStateCommand.self,
        ])
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
