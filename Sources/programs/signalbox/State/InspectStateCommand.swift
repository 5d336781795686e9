import ArgumentParser
import CommandSupport
import SignalingCore
import SignalingSQLite

struct InspectStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Print the sessions in a state folder, one per line.",
        discussion: """
            The output contains no text, type, connection data, name or secret of a client. Of the events that clients \
            can still fetch, it has the number, the bytes, the last sequence number (seq), and the kinds of the newest \
            ones: signal, directedSignal (to one connection), presence, erasure, or erased (a signal without its content). \
            The commands are those since the session's snapshot; the next server executes them once more.

            A connection counts as attached if it had a socket after the last command. After a crash, sockets count \
            until the next server starts.

            Of sleeping sessions, which nobody is in, and of the history, the output has the numbers only.
            """)

    @OptionGroup var state: StateFolderArgument
    @Flag(help: "Print one JSON object.") var json = false

    func run() async throws {
        do throws(CommandLogFault) {
            let report = StateReport(try SQLiteCommandLog.contents(folder: state.folder))
            json ? StandardOutput.print(json: report.json) : StandardOutput.print(report.text)
        } catch {
            throw ExitStatus.exit(error)
        }
    }
}
