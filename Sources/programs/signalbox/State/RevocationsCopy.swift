import CommandSupport
import FoundationEssentials
import Glibc
import SignalingServer

/// Copies the file with revocations of a state folder, also while a server replaces it.
enum RevocationsCopy {
    static let suffix = ".revocations"

    /// Adds the revocations of a copy to those of a state folder.
    ///
    /// - Returns: how many hold; `nil` if there is no copy.
    static func add(_ copy: String, to folder: LockedFolder) throws -> Int? {
        guard FileManager.default.fileExists(atPath: copy) else { return nil }
        let place = folder.path + "/" + StateFiles.revocations
        guard let bytes = FileManager.default.contents(atPath: copy) else {
            throw ExitStatus.exit(ExitStatus.noInput, "cannot read \(copy)")
        }
        let present = FileManager.default.contents(atPath: place)
        guard let sum = StateFiles.joined([present, bytes].compactMap(\.self).map(Array.init)) else {
            throw ExitStatus.exit(ExitStatus.noInput, "\(copy) is not a file with revocations")
        }
        let draft = place + ".new"
        unlink(draft)
        try write(Data(sum.bytes), to: draft)
        guard folder.giveToOwner(draft), rename(draft, place) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(draft)
            throw notWritten(place, reason)
        }
        return sum.count
    }

    /// - Returns: whether there is such a file.
    /// - Throws: the exit code 66 if it cannot be read, 73 if the copy cannot be written.
    static func write(folder: String, to name: String) throws -> Bool {
        let source = folder + "/" + StateFiles.revocations
        guard FileManager.default.fileExists(atPath: source) else { return false }
        guard let bytes = FileManager.default.contents(atPath: source) else {
            throw ExitStatus.exit(ExitStatus.noInput, "cannot read \(source). Run this command as the server's user.")
        }
        try write(bytes, to: name)
        return true
    }

    private static func write(_ bytes: Data, to name: String) throws {
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw notWritten(name, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        if let code = WholeWrite.write(bytes, to: descriptor) ?? (fsync(descriptor) == 0 ? nil : errno) {
            unlink(name)
            throw notWritten(name, String(cString: strerror(code)))
        }
    }

    private static func notWritten(_ name: String, _ reason: String) -> any Error {
        ExitStatus.exit(ExitStatus.fileNotWritten, "cannot write \(name): \(reason)")
    }
}
