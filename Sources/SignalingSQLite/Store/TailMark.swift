import Foundation
import SignalingCore

/// The position of the last confirmed command, in a small file beside the database.
///
/// SQLite ends its write-ahead log at the first frame that is not intact. That is right for a torn write, but a damaged
/// frame would remove confirmed commands without a trace. A database that is behind this mark is not continued.
final class TailMark {
    private let descriptor: Int32
    /// What this process has written last.
    private var written: Int64?

    /// Opens the file, or creates it.
    init(_ files: DatabaseFiles) throws(CommandLogFault) {
        let path = files.tailPath
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandLogFault(.unusable, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// 0 if no command was confirmed, or the file is new.
    func read() -> Int64 { Self.read(descriptor) }

    /// As ``read()``, without opening the file for writing. 0 without a file.
    static func read(_ files: DatabaseFiles) -> Int64 {
        let descriptor = open(files.tailPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return read(descriptor)
    }

    private static func read(_ descriptor: Int32) -> Int64 {
        var mark: Int64 = 0
        let count = pread(descriptor, &mark, MemoryLayout<Int64>.size, 0)
        return count == MemoryLayout<Int64>.size ? Int64(littleEndian: mark) : 0
    }

    /// Not synchronized: the mark survives the process. After a loss of power it may be older, which is harmless.
    func write(_ position: Int64) {
        guard position != written else { return }
        written = position
        var mark = position.littleEndian
        // An error is ignored: on a full disk, the mark stays behind.
        _ = pwrite(descriptor, &mark, MemoryLayout<Int64>.size, 0)
    }
}
