import ArgumentParser
import SignalingCore
import SignalingSQLite

struct BackupStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the sessions and the history in a state folder to files.",
        discussion: """
            The sessions go to FILE, and the history to FILE.history, if there is any. The copies are complete and compact, and only \
            their owner may read them. They contain the messages of users.

            To inspect or check a backup, name its files sessions.sqlite and history.sqlite, and give their folder to \
            `signalbox state inspect` or `check`. `signalbox state --help` tells how to restore it.
            """)

    @OptionGroup var state: StateFolderArgument
    @Argument(help: "The backup. Neither FILE nor FILE.history may exist.", completion: .file())
    var file: String

    func run() async throws {
        let files: [String]
        do throws(CommandLogFault) {
            files = try SQLiteCommandLog.backup(folder: state.folder, to: file)
        } catch {
            throw ExitStatus.exit(error)
        }
        StandardOutput.print("copied the sessions to \(file)")
        for history in files.dropFirst() { StandardOutput.print("copied the history to \(history)") }
        StandardOutput.print(
            "A server does not continue the sessions of this copy: they begin new epochs, and every client is told that "
                + "it may have missed something.")
    }
}
