import EventLoop
import FoundationEssentials
import Glibc
import SignalingCore

/// The files of the database in the state folder, and what the operator reads when one of them cannot be used.
struct DatabaseFiles: Sendable {
    /// The name of a command log's database.
    static let log = "sessions.sqlite"
    /// The name of an archive's database.
    static let archive = "history.sqlite"
    let name: String
    /// SQLite's write-ahead log, its index in shared memory, a rollback journal, which SQLite would apply although no
    /// server writes one, and ``TailMark``.
    private static let suffixes = ["", "-wal", "-shm", "-journal", "-tail"]

    /// The database, without symbolic links in its folder: SQLite refuses them when it opens a file.
    let path: String
    private let folder: String

    /// - Parameter folder: exists, and only the server's user can write to it.
    init(folder: String, name: String = log) throws(CommandLogFault) {
        guard let resolved = realpath(folder, nil) else {
            throw CommandLogFault(.unusable, "cannot open the state folder \(folder): \(Self.systemError())")
        }
        defer { free(resolved) }
        self.folder = String(cString: resolved)
        self.name = name
        path = self.folder + "/" + name
    }

    var exists: Bool { access(path, F_OK) == 0 }

    /// Creates the database's file for its owner only, and checks the files that exist. SQLite gives its other files
    /// the same permissions.
    func prepare() throws(CommandLogFault) {
        guard Self.createPrivateFile(path) || errno == EEXIST else {
            throw CommandLogFault(.unusable, "cannot create \(path): \(Self.systemError()). Check the folder's owner.")
        }
        // If a group can write to the folder, another user may have put a file there, such as a forged write-ahead log.
        for suffix in Self.suffixes { try checkOwner(of: path + suffix) }
    }

    /// Checks the files that exist before a tool opens them. To open a named pipe would wait for its other end, and a
    /// link leads to a file elsewhere.
    func checkKinds() throws(CommandLogFault) {
        for suffix in Self.suffixes where !Self.isRegularOrAbsent(path + suffix) {
            throw CommandLogFault(
                .unusable, "\(path + suffix) is not a regular file. Remove it, or name another folder.")
        }
    }

    private static func isRegularOrAbsent(_ path: String) -> Bool {
        FileStatus(path)?.isRegular ?? true
    }

    private func checkOwner(of path: String) throws(CommandLogFault) {
        guard let file = FileStatus(path) else { return }
        guard file.isRegular, file.owner == geteuid(), chmod(path, 0o600) == 0 else {
            throw CommandLogFault(
                .unusable, "\(path) is not a file of the server's user. Change its owner, or remove it.")
        }
    }

    /// Creates an empty file that only its owner may read and write. Returns `false`, and sets `errno`, if it exists or
    /// cannot be created.
    static func createPrivateFile(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Creates an empty file that only its owner may read and write, under a name that no file has yet.
    ///
    /// - Returns: the name, which begins with this path; nil, with `errno`, if it cannot be created.
    static func createDraft(of path: String) -> String? {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkstemp($0) } ?? -1 }
        guard descriptor >= 0 else { return nil }
        close(descriptor)
        return template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }

    /// Renames the database and the files beside it, so that a new database can be created. Files that were set aside
    /// for the same reason before are replaced.
    ///
    /// - Returns: the new path of the database.
    func setAside(as reason: String) throws(CommandLogFault) -> String { try move(to: "\(path).\(reason)") }

    /// Moves the database and the files beside it.
    ///
    /// - Parameter aside: the new path of the database, in the same file system.
    @discardableResult
    func move(to aside: String) throws(CommandLogFault) -> String {
        // The database goes first. A write-ahead log without its database has no effect, but a database without its
        // write-ahead log would be an older state.
        for suffix in Self.suffixes {
            guard rename(path + suffix, aside + suffix) == 0 || errno == ENOENT else {
                throw CommandLogFault(
                    .unusable, "cannot rename \(path + suffix): \(Self.systemError()). Check the folder's owner.")
            }
        }
        return aside
    }

    /// Whether a process has written to the database and left its write-ahead log behind.
    var hasLog: Bool { byteCount("-wal") ?? 0 > 0 }

    var isEmpty: Bool { byteCount("") == 0 }

    /// The file of ``TailMark``.
    var tailPath: String { path + "-tail" }

    /// The names and sizes in bytes of those files that exist.
    var sizes: [(name: String, byteCount: Int)] {
        Self.suffixes.compactMap { suffix in
            byteCount(suffix).map { (name + suffix, $0) }
        }
    }

    private func byteCount(_ suffix: String) -> Int? {
        FileStatus(path + suffix)?.byteCount
    }

    // MARK: - Faults

    /// A fault if the folder or a file was removed: what is written from now on would be lost at the next start.
    ///
    /// - Parameters:
    ///   - log: which file the write-ahead log was at opening.
    ///   - content: what the database keeps.
    func removalFault(_ database: Database, log: FileIdentity?, content: String) -> CommandLogFault? {
        let isLogThere = log.map { logIdentity == $0 } ?? (access(path + "-wal", F_OK) == 0)
        if !database.fileHasMoved, isLogThere { return nil }
        return CommandLogFault(
            .removed,
            "\(path), or its write-ahead log, was removed or replaced while the server was running, so \(content) cannot "
                + "be kept. Start the server again.")
    }

    /// Which file the write-ahead log is. It stays the same for as long as a connection is open.
    var logIdentity: FileIdentity? { FileIdentity(path: path + "-wal") }

    func fault(_ error: DatabaseError) -> CommandLogFault {
        switch error.kind {
        case .full:
            CommandLogFault(
                .full, "the disk of \(path) is full, and nothing is acknowledged until there is room. Free some space.")
        case .busy:
            CommandLogFault(
                .locked,
                "another program has locked \(path), and nothing is acknowledged meanwhile. End that program.")
        case .damaged:
            CommandLogFault(
                .damaged, "\(path) is damaged: \(error). The next start sets it aside and begins new sessions.")
        case .inputOutput:
            CommandLogFault(.inputOutput, "cannot use \(path): \(error). Check the disk and the file's permissions.")
        }
    }

    /// As ``fault(_:)``, for a database that is not open yet: nothing waits for it.
    func openingFault(_ error: DatabaseError) -> CommandLogFault {
        CommandLogFault(
            .unusable, "cannot open \(path): \(error). Check the disk, and the owner and permissions of the folder.")
    }

    private static func systemError() -> String { String(cString: strerror(errno)) }
}

/// The run of the operating system: after another boot, unsynchronized writes may be missing. Empty if the system has
/// no name for it.
enum BootID {
    static func current() -> String {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.filter { !$0.isWhitespace } ?? ""
    }
}
