import Foundation
import SignalingServer

/// Copies the file with revocations of a state folder, also while a server replaces it.
enum RevocationsCopy {
    /// - Returns: whether there is such a file.
    /// - Throws: the exit code 66 if it cannot be read, 73 if the copy cannot be written.
    static func write(folder: String, to name: String) throws -> Bool {
        let source = folder + "/" + StateFiles.revocations
        guard FileManager.default.fileExists(atPath: source) else { return false }
        guard let bytes = FileManager.default.contents(atPath: source) else {
            throw ExitStatus.exit(ExitStatus.noInput, "cannot read \(source). Run this command as the server's user.")
        }
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw notWritten(name, String(cString: strerror(errno))) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            try file.synchronize()
        } catch {
            unlink(name)
            throw notWritten(name, "\(error.localizedDescription)")
        }
        return true
    }

    private static func notWritten(_ name: String, _ reason: String) -> any Error {
        ExitStatus.exit(ExitStatus.fileNotWritten, "cannot write \(name): \(reason)")
    }
}
