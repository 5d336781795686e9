import ArgumentParser
import CommandSupport
import EventLoop
import Glibc
import SignalingCore
import SignalingSQLite
import SignalingServer

struct RestoreStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup into a state folder whose server is stopped.",
        discussion: """
            Checks FILE and FILE.history, and puts both into the folder, or neither. The databases that the folder has \
            go into a folder within it. Adds what FILE.revocations has to what is revoked already: no revoked token \
            becomes valid again. The new files belong to the owner of the folder.

            The sessions begin new epochs at the next server, and every client is told that it may have missed something.
            """)

    @Argument(help: "The backup, as `signalbox state backup` has made it.", completion: .file())
    var file: String
    @OptionGroup var state: StateFolderArgument

    func run() async throws {
        let folder = try LockedFolder(state.folder)
        let report: SQLiteCommandLog.RestoreReport
        do throws(CommandLogFault) {
            report = try SQLiteCommandLog.restore(
                file, to: state.folder, decode: { try SessionSummary($0).requireReadable() },
                install: { (path) throws(CommandLogFault) in
                    guard folder.giveToOwner(path) else {
                        throw CommandLogFault(
                            .notWritten, "cannot change the owner of \(path). Run this command as the server's user.")
                    }
                })
        } catch {
            throw ExitStatus.exit(error)
        }
        let backup = report.backup
        StandardOutput.print(
            "restored \(counted(backup.sessionCount + backup.sleeperCount, "session")) from \(file); the next server "
                + "begins new epochs for them")
        if let history = backup.history { StandardOutput.print("restored the " + StateReport.line(history: history)) }
        let count = try RevocationsCopy.add(file + RevocationsCopy.suffix, to: folder)
        if let count { StandardOutput.print("\(counted(count, "revocation")) hold") }
        if let replaced = report.replaced { StandardOutput.print("moved the earlier databases to \(replaced)") }
    }
}

/// A state folder that no server uses for as long as this exists.
final class LockedFolder {
    let path: String
    private let descriptor: Int32
    private let owner: (user: uid_t, group: gid_t)?

    init(_ path: String) throws {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST,
            case let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
            folder >= 0
        else {
            throw ExitStatus.exit(
                ExitStatus.fileNotWritten, "cannot open the state folder \(path): \(String(cString: strerror(errno)))")
        }
        descriptor = folder
        owner = FileStatus(path).map { ($0.owner, $0.group) }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            throw ExitStatus.exit(ExitStatus.fileNotWritten, "a server uses the state folder \(path). Stop it first.")
        }
    }

    deinit { close(descriptor) }

    /// Gives a file to the owner of the folder, unless it belongs to this process's user already.
    func giveToOwner(_ file: String) -> Bool {
        guard let owner else { return false }
        return owner.user == geteuid() || chown(file, owner.user, owner.group) == 0
    }
}
