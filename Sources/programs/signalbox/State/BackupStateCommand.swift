import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import SignalingCore
import SignalingSQLite

struct BackupStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the sessions and the history in a state folder to files.",
        discussion: """
            The sessions go to FILE, the history to FILE.history, and revoked tokens to FILE.revocations, if there are any. \
            Keep the files together. The copies are complete and compact, and only their owner may read them. They \
            contain the messages of users.

            To inspect or check a backup, name its files sessions.sqlite, history.sqlite and revocations.json, and give their folder to \
            `signalbox state inspect` or `check`. `signalbox state --help` tells how to restore it.
            """)

    @OptionGroup var state: StateFolderArgument
    @Argument(help: "The backup. None of FILE, FILE.history and FILE.revocations may exist.", completion: .file())
    var file: String

    func run() async throws {
        let revocations = file + RevocationsCopy.suffix
        guard !FileManager.default.fileExists(atPath: revocations) else {
            throw ExitStatus.exit(
                ExitStatus.fileNotWritten, "\(revocations) exists. Name a file that does not exist.")
        }
        let files: [String]
        do throws(CommandLogFault) {
            files = try SQLiteCommandLog.backup(folder: state.folder, to: file)
        } catch {
            throw ExitStatus.exit(error)
        }
        StandardOutput.print("copied the sessions to \(file)")
        for history in files.dropFirst() { StandardOutput.print("copied the history to \(history)") }
        if try RevocationsCopy.write(folder: state.folder, to: revocations) {
            StandardOutput.print("copied the revocations to \(revocations)")
        }
        StandardOutput.print(
            "A server does not continue the sessions of this copy: they begin new epochs, and every client is told that "
                + "it may have missed something.")
    }
}
