/// When to keep a snapshot of a session: when the commands since the last one are larger than it (LOG-9). So the log is
/// at most about twice as large as its snapshots, and each command causes a bounded amount of work. What the archive has
/// taken since counts as gone from the snapshot: otherwise a log without memory for others would keep it for a session
/// that is quiet afterwards.
struct SnapshotSchedule {
    /// A smaller snapshot is not worth a transaction.
    static let smallestByteCount = 65_536
    /// What a log adds to each command.
    private static let overheadByteCount = 64

    private var commandByteCount = 0
    private var snapshotByteCount = 0
    /// What waited for the archive when the last snapshot was made.
    private var waitingByteCount = 0
    private var isUnderWay = false

    mutating func note(commandByteCount count: Int) { commandByteCount += count + Self.overheadByteCount }

    /// Whether a snapshot must be made now. The caller makes it.
    ///
    /// - Parameters:
    ///   - isWanted: whether the log asks for a snapshot of any size.
    ///   - waiting: the bytes that wait for the archive now.
    mutating func begin(isWanted: Bool = false, waiting: Int = 0) -> Bool {
        let left = snapshotByteCount - max(0, waitingByteCount - waiting)
        guard !isUnderWay, isWanted || commandByteCount > max(Self.smallestByteCount, left) else { return false }
        isUnderWay = true
        waitingByteCount = waiting
        commandByteCount = 0
        return true
    }

    mutating func noteKept(byteCount: Int) {
        snapshotByteCount = byteCount
        isUnderWay = false
    }
}
