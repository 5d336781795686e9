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
    /// What is written stands beside its place, and is given its name when all of it is there.
    private static let draftSuffix = ".new"
    private static let draft = file + draftSuffix
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
        guard let status = Self.status(of: path + "/.") else { throw StateFolderError("\(path) cannot be looked at") }
        // Volumes of container platforms are root's, and a group may write in them. Who is in that group is the operator's to say.
        guard status.owner == geteuid() || status.owner == 0 else {
            throw StateFolderError("\(path) belongs to another user")
        }
        guard status.permissions & 0o002 == 0 else {
            throw StateFolderError(
                "\(path) is nobody's own: everybody may write in it. One that is not there yet is made as it has to be")
        }
        // Said now, and not at the end, when the sessions would be lost.
        guard faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw StateFolderError("\(path) cannot be written in", errno)
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
        do throws(Refusal) {
            try place(Self.file) { file throws(Refusal) in try write(sessions, now, wallTime, to: file) }
        } catch {
            throw StateFolderError("\(path) does not take the sessions, which are lost: \(error.reason)")
        }
        logger.info("the sessions are kept for the next run", metadata: ["sessions": "\(sessions.count)"])
    }

    /// Puts a file in its place when `write` has written it: all of it or nothing. For its owner alone.
    private func place(_ name: String, _ write: (Int32) throws(Refusal) -> Void) throws(Refusal) {
        let draft = name + Self.draftSuffix
        unlinkat(folder, draft, 0)
        do throws(Refusal) {
            let file = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Refusal(errno) }
            do throws(Refusal) {
                try write(file)
                guard fsync(file) == 0 else { throw Refusal(errno) }
            } catch {
                close(file)
                throw error
            }
            guard close(file) == 0, renameat(folder, draft, folder, name) == 0 else { throw Refusal(errno) }
            guard fsync(folder) == 0 else {
                let reason = errno
                unlinkat(folder, name, 0)
                throw Refusal(reason)
            }
        } catch {
            unlinkat(folder, draft, 0)
            throw error
        }
    }

    /// Why a file is not taken, or cannot be written.
    private struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
        init(_ code: Int32) { reason = String(cString: strerror(code)) }
    }

    /// Opens a file that only the server can have written; nil when there is none of that name.
    ///
    /// - Parameter forbidden: what others may not be permitted to do with it.
    private func openOwn(_ name: String, forbidden: Int) throws(Refusal) -> Int32? {
        // Not waiting: a pipe of that name would never end.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Refusal(errno)
        }
        // The last is asked of what was opened, which in a folder of a group may be another file by now: only its owner may do that.
        guard let status = Self.status(of: "\(path)/\(name)"), status.owner == geteuid(), status.isRegular,
            status.permissions & forbidden == 0, fchmod(file, 0o600) == 0
        else {
            close(file)
            throw Refusal("it is not a file of the server's own")
        }
        return file
    }

    /// Of a link it is the link's own. Not by `fstat`: which module its result belongs to, and so whether it can be used here, changes
    /// with what else is built.
    private static func status(of path: String) -> (owner: UInt32, isRegular: Bool, permissions: Int)? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = attributes[.ownerAccountID] as? NSNumber, let mode = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        return (owner.uint32Value, attributes[.type] as? FileAttributeType == .typeRegular, mode.intValue)
    }

    private func read(_ now: MonotonicInstant, _ wallTime: WallTime) throws(Refusal) -> [SessionSnapshot]? {
        guard let file = try openOwn(Self.file, forbidden: 0o022) else { return nil }
        defer { close(file) }
        var reader = StateReader(now: now, wallTime: wallTime)
        var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
        while true {
            let count = piece.withUnsafeMutableBytes { readBytes(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Refusal(errno) }
            do throws(StateFault) {
                if count == 0 { return try reader.finish() }
                try reader.read(piece[..<count])
            } catch {
                throw Refusal(error.description)
            }
        }
    }

    private func write(
        _ sessions: [SessionSnapshot], _ now: MonotonicInstant, _ wallTime: WallTime, to file: Int32
    ) throws(Refusal) {
        var writer = StateWriter(now: now, wallTime: wallTime)
        for session in sessions {
            writer.append(session)
            if writer.byteCount >= Self.pieceByteCount { try write(writer.drainBytes(), to: file) }
        }
        try write(writer.finish(), to: file)
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

    // MARK: - Development mode

    private static let secretFile = "development.secret"

    /// The secret of development mode's project: the one of the last run, with which clients have their tokens.
    ///
    /// - Parameter first: what it is from now on if there is none yet: hex digits.
    /// - Throws: also when what is there is no such secret, or others may read it. It is not replaced: all tokens would be void.
    func developmentSecret(first: String) throws(StateFolderError) -> String {
        do throws(Refusal) {
            if let file = try openOwn(Self.secretFile, forbidden: 0o077) {
                defer { close(file) }
                return try readSecret(file, byteCount: first.utf8.count)
            }
            try place(Self.secretFile) { file throws(Refusal) in try write(Array((first + "\n").utf8), to: file) }
            return first
        } catch {
            throw StateFolderError("\(path) has no use as the place of \(Self.secretFile): \(error.reason)")
        }
    }

    private func readSecret(_ file: Int32, byteCount: Int) throws(Refusal) -> String {
        var bytes = [UInt8](repeating: 0, count: byteCount + 2)
        let count = bytes.withUnsafeMutableBytes { readBytes(file, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw Refusal(errno) }
        let digits = bytes[..<min(count, byteCount)]
        let isHex = digits.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard count == byteCount + 1, bytes[byteCount] == UInt8(ascii: "\n"), isHex else {
            throw Refusal("it is not a secret that this server wrote; without the file it makes a new one")
        }
        return String(decoding: digits, as: UTF8.self)
    }

    // MARK: - What cannot be used

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
