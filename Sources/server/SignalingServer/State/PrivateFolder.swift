import EventLoop
import Glibc

/// A folder with files that only the server's user may change, locked for this process.
final class PrivateFolder: Sendable {
    /// A file is written under its name with this suffix, and renamed when it is complete.
    private static let draftSuffix = ".new"

    private let path: String
    /// Open and locked while this object exists, so that no second server uses the same state.
    private let folder: Int32

    /// Creates the folder if it does not exist, for its owner only.
    ///
    /// - Throws: when the folder is not private, not writable, or in use.
    init(path: String) throws(StateFolderError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw StateFolderError("cannot create the state folder \(path): \(FileFault(errno).reason)")
        }
        folder = openFile(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            throw StateFolderError("cannot open the state folder \(path): \(FileFault(errno).reason)")
        }
        guard let status = FileStatus(path + "/.") else {
            throw StateFolderError("cannot read the owner and the permissions of the state folder \(path)")
        }
        // Root owns the volumes of container platforms, and a group may write to them. The operator decides who is in
        // it.
        guard status.owner == geteuid() || status.owner == 0 else {
            throw StateFolderError(
                "the state folder \(path) belongs to another user. Change its owner, or name a folder that does not exist."
            )
        }
        guard status.permissions & 0o002 == 0 else {
            throw StateFolderError(
                "the state folder \(path) is not private: every user can write to it. Run chmod o-w on it, or name a "
                    + "folder that does not exist.")
        }
        // Fail at start, since a failure at the end would lose the sessions.
        guard faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw StateFolderError("cannot write to the state folder \(path): \(FileFault(errno).reason)")
        }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            throw StateFolderError("the state folder \(path) is in use by another server. Give each server its own.")
        }
    }

    deinit { if folder >= 0 { closeFile(folder) } }

    /// Opens a file that only the server can have written; nil when it does not exist.
    ///
    /// - Parameters:
    ///   - forbidden: permissions that the file must not have.
    ///   - mode: to read it, or to append to it.
    func open(_ name: String, forbidden: Int, mode: Int32 = O_RDONLY) throws(FileFault) -> PrivateFile? {
        // Without O_NONBLOCK, opening a pipe of this name would block forever.
        let file = openat(folder, name, mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFault(errno)
        }
        // If a group can write to the folder, another user may have replaced the file after it was opened. fchmod works
        // on the opened file, and only for its owner.
        guard let status = FileStatus("\(path)/\(name)"), status.owner == geteuid(), status.isRegular,
            status.permissions & forbidden == 0, fchmod(file, 0o600) == 0
        else {
            closeFile(file)
            throw FileFault("it is not a private file of the server's user")
        }
        return PrivateFile(descriptor: file)
    }

    /// Replaces a file by what `write` writes, completely or not at all. Only its owner may read it.
    func replace(_ name: String, _ write: (PrivateFile) throws(FileFault) -> Void) throws(FileFault) {
        let draft = name + Self.draftSuffix
        unlinkat(folder, draft, 0)
        do throws(FileFault) {
            let descriptor = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw FileFault(errno) }
            do throws(FileFault) {
                try write(PrivateFile(descriptor: descriptor))
                guard fsync(descriptor) == 0 else { throw FileFault(errno) }
            } catch {
                closeFile(descriptor)
                throw error
            }
            guard closeFile(descriptor) == 0, renameat(folder, draft, folder, name) == 0 else { throw FileFault(errno) }
            guard fsync(folder) == 0 else {
                let fault = FileFault(errno)
                unlinkat(folder, name, 0)
                throw fault
            }
        } catch {
            unlinkat(folder, draft, 0)
            throw error
        }
    }

    /// Appends bytes to a file, and waits until the disk has them. After a failure the file is as long as before, unless
    /// that fails, too.
    ///
    /// - Parameter byteCount: of the file.
    func append(_ bytes: [UInt8], to name: String, byteCount: UInt64) throws(FileFault) {
        guard let file = try open(name, forbidden: 0o022, mode: O_WRONLY | O_APPEND) else { throw FileFault(ENOENT) }
        defer { file.close() }
        do throws(FileFault) {
            try file.write(bytes)
            guard fsync(file.descriptor) == 0 else { throw FileFault(errno) }
        } catch {
            ftruncate(file.descriptor, off_t(byteCount))
            throw error
        }
    }
}

/// An open file of a ``PrivateFolder``.
struct PrivateFile {
    fileprivate let descriptor: Int32

    func close() { closeFile(descriptor) }

    /// The next bytes; empty at the end of the file.
    func read(atMost byteCount: Int) throws(FileFault) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: byteCount)
        while true {
            let count = piece.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFault(errno) }
            piece.removeLast(byteCount - count)
            return piece
        }
    }

    func write(_ bytes: [UInt8]) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFault(errno) }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why a file cannot be read or written, as the end of a sentence.
struct FileFault: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
    init(_ code: Int32) { reason = String(cString: strerror(code)) }
}

// The system calls, under names that differ from those of the methods.
private let readBytes = read
private let writeBytes = write
@discardableResult private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
