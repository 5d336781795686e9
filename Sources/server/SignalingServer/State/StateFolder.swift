import EventLoop
import FoundationEssentials
import Glibc
import SignalingProtocol
import SignalingTokens
import Synchronization

/// The folder that one server uses for its state: the command log of its sessions, the secret of development mode, and
/// what was revoked.
final class StateFolder: Sendable {
    private static let secretFile = "development.secret"
    private static let revocationsFile = StateFiles.revocations

    let path: String
    private let files: PrivateFolder
    /// The file with revocations as it was read or written last.
    private let keptFile = Mutex<FileMark?>(nil)

    /// What another file of the same name does not have.
    private struct FileMark: Equatable {
        let number: UInt64
        let size: UInt64
        let modified: Duration

        init?(_ path: String) {
            guard let status = FileStatus(path) else { return nil }
            (number, size, modified) = (status.number, UInt64(max(0, status.byteCount)), status.modified)
        }
    }

    /// Creates the folder if it does not exist, for its owner only, and locks it.
    init(path: String) throws(StateFolderError) {
        self.path = path
        files = try PrivateFolder(path: path)
    }

    /// The secret of development mode's project: that of the last run, so that clients' tokens stay valid.
    ///
    /// - Parameter new: hex digits, which become the secret if there is none.
    /// - Throws: also when the file has no secret of this form, or others may read it. The file stays, since another
    ///   secret would invalidate all tokens.
    func developmentSecret(orNew new: String) throws(StateFolderError) -> String {
        do throws(FileFault) {
            if let file = try files.open(Self.secretFile, forbidden: 0o077) {
                defer { file.close() }
                return try readSecret(file, byteCount: new.utf8.count)
            }
            try files.replace(Self.secretFile) { file throws(FileFault) in try file.write(Array((new + "\n").utf8)) }
            return new
        } catch {
            throw StateFolderError(
                "cannot use \(path)/\(Self.secretFile): \(error.reason). Run chmod 600 on it, or delete it to create a "
                    + "new secret.")
        }
    }

    /// What the projects have revoked in earlier runs (REST-8).
    ///
    /// - Returns: `nil` without a file.
    /// - Throws: for a file that cannot be read, which stays: without it, revoked tokens would be valid again.
    func revocations() throws(StateFolderError) -> RevocationFile? {
        do throws(FileFault) {
            guard let file = try files.open(Self.revocationsFile, forbidden: 0o022) else { return nil }
            defer { file.close() }
            var bytes: [UInt8] = []
            while true {
                let piece = try file.read(atMost: 1 << 20)
                if piece.isEmpty { break }
                bytes += piece
            }
            noteRevocations()
            return try RevocationFile(bytes)
        } catch {
            throw StateFolderError(
                "cannot use \(path)/\(Self.revocationsFile): \(error.reason). Put it back from a backup; without it, the "
                    + "revoked tokens are valid again.")
        }
    }

    /// Replaces the file with revocations, completely or not at all, or appends a line to it. Call it on any thread, and
    /// not on two at a time.
    ///
    /// - Parameter steps: what has changed since the last call; `nil` to replace the file.
    func write(_ file: RevocationFile, appending steps: [RevocationFile.Step]? = nil) throws(FileFault) {
        // Another file of its name lacks what was written before.
        if let steps, let mark = keptFile.withLock({ $0 }), hasRevocations {
            let line = RevocationFile.line(steps)
            try files.append(line, to: Self.revocationsFile, byteCount: mark.size)
            return noteRevocations()
        }
        let bytes = file.bytes
        try files.replace(Self.revocationsFile) { file throws(FileFault) in try file.write(bytes) }
        noteRevocations()
    }

    /// Whether the file with revocations is the one that was read or written last. Call it on any thread.
    var hasRevocations: Bool {
        keptFile.withLock { $0 == FileMark("\(path)/\(Self.revocationsFile)") }
    }

    private func noteRevocations() {
        let mark = FileMark("\(path)/\(Self.revocationsFile)")
        keptFile.withLock { $0 = mark }
    }

    private func readSecret(_ file: PrivateFile, byteCount: Int) throws(FileFault) -> String {
        let bytes = try file.read(atMost: byteCount + 2)
        let digits = bytes.prefix(byteCount)
        guard bytes.count == byteCount + 1, bytes.last == UInt8(ascii: "\n"),
            digits.allSatisfy({ Hexadecimal.digit($0) != nil })
        else { throw FileFault("it has no secret that a server wrote") }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// The names of files in a state folder that tools need.
public enum StateFiles {
    /// What the projects have revoked. The server replaces it as a whole, or appends a line to it, so a copy of it is
    /// complete but for changes that the server has not answered.
    public static let revocations = "revocations.json"

    /// Everything that is revoked in one of several such files; `nil` if the last cannot be read. An earlier one that
    /// cannot be read counts as empty: the last one is to replace it.
    public static func joined(_ files: [[UInt8]]) -> (bytes: [UInt8], count: Int)? {
        guard let last = files.last, var sum = try? RevocationFile(last) else { return nil }
        for file in files.dropLast().compactMap({ try? RevocationFile($0) }) {
            for (project, revocations) in file.revocations {
                // What is there already has its room.
                sum.revocations[project] = Revocations(
                    revocations.list + (sum.revocations[project]?.list ?? []))
            }
        }
        return (sum.bytes, sum.revocations.values.reduce(0) { $0 + $1.count })
    }
}

/// Why the server cannot use a state folder. The description is one line for the operator.
public struct StateFolderError: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
