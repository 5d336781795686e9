import Foundation
import Logging
import SignalingCore
import SignalingProtocol

/// The folder in which a server that stops leaves its sessions for the one that starts next.
///
/// A state is used once, and taken away before anybody is let in: after a server that was killed the next one would go on
/// from the old state again, and give the same numbers to other signals.
final class StateFolder: Sendable {
    private static let file = "sessions.state"
    /// Written beside it, and given its name when all of it is there.
    private static let draft = "sessions.state.new"
    /// The last one that was not taken, for a person to look at.
    private static let refused = "sessions.state.refused"
    private static let pieceByteCount = 1_048_576

    private let path: String
    private let logger: Logger
    /// Locked as long as it is open: two servers would take each other's sessions.
    private let folder: Int32

    /// Makes the folder if it is not there, for its owner alone.
    init(path: String, logger: Logger) throws(StateFolderError) {
        self.path = path
        self.logger = logger
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw StateFolderError("\(path) cannot be made", errno) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.folder = folder
        guard folder >= 0 else { throw StateFolderError("\(path) cannot be opened", errno) }
        guard let status = Self.status(of: path + "/."), status.isOwn, status.permissions & 0o022 == 0 else {
            throw StateFolderError(
                "\(path) is not the server's own: others may write in it. One that is not there yet is made as it has to be"
            )
        }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            throw StateFolderError("\(path) is in use by another server")
        }
    }

    deinit { if folder >= 0 { close(folder) } }

    /// What the last server left, which is not there any more after this. What it left damaged is set aside.
    ///
    /// - Throws: when the folder does not let itself be changed. Then everything is where it was.
    func take(now: MonotonicInstant, wallTime: WallTime) throws(StateFolderError) -> [SessionSnapshot] {
        unlinkat(folder, Self.draft, 0)
        let sessions: [SessionSnapshot]
        do throws(Refusal) {
            guard let found = try read(now, wallTime) else { return [] }
            sessions = found
        } catch {
            try setAside(error)
            return []
        }
        guard unlinkat(folder, Self.file, 0) == 0, fsync(folder) == 0 else {
            throw StateFolderError("\(path) does not let go of the state of the last run", errno)
        }
        logger.info(
            "the sessions of the last run go on",
            metadata: [
                "sessions": "\(sessions.count)", "connections": "\(sessions.reduce(0) { $0 + $1.connectionCount })",
            ])
        return sessions
    }

    /// Keeps these sessions: all of them or nothing.
    func keep(_ sessions: [SessionSnapshot], now: MonotonicInstant, wallTime: WallTime) throws(StateFolderError) {
        unlinkat(folder, Self.draft, 0)
        do throws(Refusal) {
            let draft = openat(folder, Self.draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard draft >= 0 else { throw Refusal(errno) }
            do throws(Refusal) { try write(sessions, now, wallTime, to: draft) } catch {
                close(draft)
                throw error
            }
            guard close(draft) == 0, renameat(folder, Self.draft, folder, Self.file) == 0 else { throw Refusal(errno) }
            guard fsync(folder) == 0 else {
                let reason = errno
                unlinkat(folder, Self.file, 0)
                throw Refusal(reason)
            }
        } catch {
            unlinkat(folder, Self.draft, 0)
            throw StateFolderError("\(path) does not take the sessions, which are lost: \(error.reason)")
        }
        logger.info("the sessions are kept for the next run", metadata: ["sessions": "\(sessions.count)"])
    }

    /// Why a file is not taken, or cannot be written.
    private struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
        init(_ code: Int32) { reason = String(cString: strerror(code)) }
    }

    private func read(_ now: MonotonicInstant, _ wallTime: WallTime) throws(Refusal) -> [SessionSnapshot]? {
        // Not waiting: a pipe of that name would never end.
        let file = openat(folder, Self.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Refusal(errno)
        }
        defer { close(file) }
        guard let status = Self.status(of: "\(path)/\(Self.file)"), status.isOwn, status.isRegular else {
            throw Refusal("it is not a file of the server's own")
        }
        var reader = StateReader(now: now, wallTime: wallTime)
        var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
        while true {
            let count = piece.withUnsafeMutableBytes { readBytes(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Refusal(errno) }
            do throws(StateFault) {
                if count == 0 { return try reader.finish() }
                try reader.take(piece[..<count])
            } catch {
                throw Refusal(error.description)
            }
        }
    }

    /// Of a link it is the link's own.
    private static func status(of path: String) -> (isOwn: Bool, isRegular: Bool, permissions: Int)? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = attributes[.ownerAccountID] as? NSNumber, let mode = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        return (
            owner.uint32Value == geteuid(), attributes[.type] as? FileAttributeType == .typeRegular, mode.intValue
        )
    }

    private func write(
        _ sessions: [SessionSnapshot], _ now: MonotonicInstant, _ wallTime: WallTime, to file: Int32
    ) throws(Refusal) {
        var writer = StateWriter(now: now, wallTime: wallTime)
        for session in sessions {
            writer.append(session)
            if writer.byteCount >= Self.pieceByteCount { try write(writer.takeBytes(), to: file) }
        }
        try write(writer.finish(), to: file)
        guard fsync(file) == 0 else { throw Refusal(errno) }
    }

    private func write(_ bytes: [UInt8], to file: Int32) throws(Refusal) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Refusal(errno) }
            rest = rest.dropFirst(count)
        }
    }

    private func setAside(_ refusal: Refusal) throws(StateFolderError) {
        guard renameat(folder, Self.file, folder, Self.refused) == 0, fsync(folder) == 0 else {
            throw StateFolderError("\(path) does not let go of a state that cannot be used", errno)
        }
        logger.error(
            "the sessions of the last run are lost: \(refusal.reason); set aside as \(path)/\(Self.refused)")
    }
}

/// The system's calls, beside methods that have their names.
private let readBytes = read
private let writeBytes = write

/// Why a state folder cannot be used: one line for a person.
public struct StateFolderError: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ text: String) { description = "the state folder \(text)" }
    init(_ text: String, _ code: Int32) { self.init("\(text): \(String(cString: strerror(code)))") }
}
