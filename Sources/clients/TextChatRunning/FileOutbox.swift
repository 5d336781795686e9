import TextChat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// An outbox in a file, for one chat of one process.
///
/// The file contains the texts of messages that have not been sent, and the claim of a connection. It is readable by
/// its user only, and no backup has it: restored on another device it would send messages again.
public final class FileOutbox: OutboxStorage {
    /// Why the file could not be read or written.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let url: URL

    /// - Parameter url: a file in a folder that exists, such as the app's Application Support folder.
    public init(url: URL) { self.url = url }

    public func read() throws -> [UInt8]? {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = systemRead(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read") }
            if count == 0 { return bytes }
            bytes += piece.prefix(count)
        }
    }

    /// Writes another file, waits until the disk has it, and gives it the name of the old one.
    public func write(_ bytes: [UInt8]) throws {
        let draft = url.path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write") }
            rest = rest.dropFirst(count)
        }
        guard synchronize(descriptor) else { throw failure("write") }
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var file = URL(fileURLWithPath: draft)
            try file.setResourceValues(values)
        #endif
        guard rename(draft, url.path) == 0 else { throw failure("replace") }
        synchronizeFolder()
    }

    /// The damaged file gets the ending `.damaged`, and replaces an older one.
    public func setAside() throws {
        guard rename(url.path, url.path + ".damaged") == 0 else { throw failure("set aside") }
    }

    private func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // There, fsync leaves the bytes in the cache of the disk. A volume without the command has fsync.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// The new name is safe then. A folder that cannot be opened keeps the old or the new name, and both are whole.
    private func synchronizeFolder() {
        let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = synchronize(folder)
        close(folder)
    }

    private func failure(_ action: String) -> Failure {
        Failure(description: "cannot \(action) \(url.path): \(String(cString: strerror(errno)))")
    }
}

/// The system's calls: inside of the class, its own methods hide them.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
