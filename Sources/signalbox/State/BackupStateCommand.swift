import ArgumentParser
import SignalingCore
import SignalingSQLite

struct BackupStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the sessions in a state folder to a file.",
        discussion: """
            The copy is complete and compact, and only its owner may read it. It contains the messages of users.

            To inspect or check a backup, name it sessions.sqlite and give its folder to `signalbox state inspect` or \
            `check`. `signalbox state --help` tells how to restore it.
            """)

    @OptionGroup var state: StateFolderArgument
    @Argument(help: "The backup. The file must not exist.", completion: .file())
    var file: String

    func run() async throws {
        do throws(CommandLogFault) {
            try SQLiteCommandLog.backup(folder: state.folder, to: file)
        } catch {
            throw ExitStatus.exit(error)
        }
        StandardOutput.print("copied the sessions to \(file)")
        StandardOutput.print(
            "A server does not continue the sessions of this copy: they begin new epochs, and every client is told that "
                + "it may have missed something.")
    }
}
