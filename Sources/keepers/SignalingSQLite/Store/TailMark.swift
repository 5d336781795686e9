import Glibc
import SignalingCore

/// A small file beside the database: the position of the last confirmed command, and which file the database is.
///
/// SQLite ends its write-ahead log at the first frame that is not intact. That is right for a torn write, but a damaged
/// frame would remove confirmed commands without a trace. A database that is behind this mark is not continued. Neither
/// is a copy, which may be older than what clients have seen (LOG-24).
final class TailMark {
    /// What the last process has written.
    struct Content: Hashable {
        /// 0 if no command was confirmed.
        var confirmed: Int64 = 0
        /// `nil` if it is not known: an earlier version, or a file system without times of creation.
        var database: FileIdentity?
        /// The time of an archive's last sweep, in milliseconds since 1970; 0 if there was none.
        var sweptAt: Int64 = 0
        /// How often the sessions of an archive have lost their orders (``SQLiteArchive/lostOrderCount``).
        var lostOrderCount: Int64 = 0

        /// The steps of HIS-3 that leave room within its greatest seq.
        static let lostOrderLimit: Int64 = 1_000_000

        /// Of those that earlier versions wrote.
        static let shortByteCount = 24
        static let byteCount = 40
    }

    private let descriptor: Int32
    private var written: Content?

    /// Opens the file, or creates it.
    init(_ files: DatabaseFiles) throws(CommandLogFault) {
        let path = files.tailPath
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandLogFault(.unusable, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func read() -> Content { Self.read(descriptor) }

    /// What was written last by this process.
    var content: Content { written ?? Content() }

    /// As ``read()``, without opening the file for writing.
    static func read(_ files: DatabaseFiles) -> Content {
        let descriptor = open(files.tailPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return Content() }
        defer { close(descriptor) }
        return read(descriptor)
    }

    private static func read(_ descriptor: Int32) -> Content {
        var words: [Int64] = [0, 0, 0, 0, 0]
        let count = pread(descriptor, &words, Content.byteCount, 0)
        words = words.map { Int64(littleEndian: $0) }
        // Earlier versions wrote the position alone.
        guard count >= MemoryLayout<Int64>.size else { return Content() }
        var content = Content(confirmed: words[0])
        if count >= Content.shortByteCount, words[2] != 0 {
            content.database = FileIdentity(number: UInt64(bitPattern: words[1]), created: words[2])
        }
        if count == Content.byteCount {
            (content.sweptAt, content.lostOrderCount) = (words[3], min(max(0, words[4]), Content.lostOrderLimit))
        }
        return content
    }

    /// Begins the run of a process that continues this database.
    func begin(with database: FileIdentity?, confirmed: Int64) {
        begin(Content(confirmed: confirmed, database: database))
    }

    func begin(_ content: Content) { write(content) }

    /// Not synchronized: the mark survives the process. After a loss of power it may be older, which is harmless.
    func write(_ position: Int64) {
        var content = content
        content.confirmed = position
        write(content)
    }

    /// An archive begins a sweep.
    func write(sweptAt time: Int64) {
        var content = content
        content.sweptAt = time
        write(content)
    }

    func countLostOrders() {
        var content = content
        content.lostOrderCount = min(content.lostOrderCount + 1, Content.lostOrderLimit)
        write(content)
    }

    private func write(_ content: Content) {
        guard content != written else { return }
        written = content
        let number = content.database.map { Int64(bitPattern: $0.number) }
        let words = (
            content.confirmed.littleEndian, (number ?? 0).littleEndian,
            (content.database?.created ?? 0).littleEndian, content.sweptAt.littleEndian,
            content.lostOrderCount.littleEndian
        )
        // An error is ignored: on a full disk, the mark stays behind.
        _ = withUnsafeBytes(of: words) { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}
