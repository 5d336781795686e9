import Logging
import SignalingCore
import SignalingProtocol

/// The folder in which a stopping server saves its sessions, and from which the next server restores them.
///
/// A saved state is used once: the server deletes it before it accepts a client. Otherwise a server that starts after a
/// crash would continue from an old state and assign sequence numbers twice.
final class StateFolder: Sendable {
    private static let sessionsFile = "sessions.state"
    /// The last state that could not be used, for the operator.
    private static let refusedFile = "sessions.state.refused"
    private static let secretFile = "development.secret"
    private static let pieceByteCount = 1_048_576

    private let path: String
    private let files: PrivateFolder
    private let logger: Logger

    /// Creates the folder if it does not exist, for its owner only, and locks it.
    init(path: String, logger: Logger) throws(StateFolderError) {
        self.path = path
        self.logger = logger
        files = try PrivateFolder(path: path)
    }

    // MARK: - Sessions

    /// Reads and deletes the sessions of the last server. A state that cannot be used is renamed.
    ///
    /// - Throws: when the folder cannot be changed. Nothing has changed then.
    func restoreSessions(now: MonotonicInstant, wallTime: WallTime) throws(StateFolderError) -> [SessionSnapshot] {
        files.removeDraft(of: Self.sessionsFile)
        let sessions: [SessionSnapshot]
        do throws(FileFault) {
            guard let found = try readSessions(now, wallTime) else { return [] }
            sessions = found
        } catch {
            try setAside(error)
            return []
        }
        do throws(FileFault) { try files.remove(Self.sessionsFile) } catch {
            throw StateFolderError(
                "cannot delete \(path)/\(Self.sessionsFile): \(error.reason). Check the owner of the folder.")
        }
        logger.info(
            "restored the sessions of the last run",
            metadata: [
                "sessions": "\(sessions.count)", "connections": "\(sessions.reduce(0) { $0 + $1.connectionCount })",
            ])
        return sessions
    }

    /// Saves all of the sessions or, when that fails, none.
    func save(_ sessions: [SessionSnapshot], now: MonotonicInstant, wallTime: WallTime) throws(StateFolderError) {
        do throws(FileFault) {
            try files.replace(Self.sessionsFile) { file throws(FileFault) in
                var writer = StateWriter(now: now, wallTime: wallTime)
                for session in sessions {
                    writer.append(session)
                    if writer.byteCount >= Self.pieceByteCount { try file.write(writer.drainBytes()) }
                }
                try file.write(writer.finish())
            }
        } catch {
            throw StateFolderError("cannot save the sessions in \(path), and they are lost: \(error.reason)")
        }
        logger.info("saved the sessions for the next run", metadata: ["sessions": "\(sessions.count)"])
    }

    private func readSessions(_ now: MonotonicInstant, _ wallTime: WallTime) throws(FileFault) -> [SessionSnapshot]? {
        guard let file = try files.open(Self.sessionsFile, forbidden: 0o022) else { return nil }
        defer { file.close() }
        var reader = StateReader(now: now, wallTime: wallTime)
        while true {
            let piece = try file.read(atMost: Self.pieceByteCount)
            do throws(StateFault) {
                if piece.isEmpty { return try reader.finish() }
                try reader.read(piece[...])
            } catch {
                throw FileFault(error.description)
            }
        }
    }

    private func setAside(_ fault: FileFault) throws(StateFolderError) {
        do throws(FileFault) { try files.rename(Self.sessionsFile, to: Self.refusedFile) } catch {
            throw StateFolderError(
                "cannot rename \(path)/\(Self.sessionsFile), which cannot be used: \(error.reason). Check the owner of "
                    + "the folder.")
        }
        logger.error(
            "the sessions of the last run are lost: \(fault.reason); their state is set aside as \(path)/\(Self.refusedFile)"
        )
    }

    // MARK: - Development mode

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

    private func readSecret(_ file: PrivateFile, byteCount: Int) throws(FileFault) -> String {
        let bytes = try file.read(atMost: byteCount + 2)
        let digits = bytes.prefix(byteCount)
        guard bytes.count == byteCount + 1, bytes.last == UInt8(ascii: "\n"),
            digits.allSatisfy({ Hexadecimal.digit($0) != nil })
        else { throw FileFault("it has no secret that a server wrote") }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// Why the server cannot use a state folder. The description is one line for the operator.
public struct StateFolderError: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
