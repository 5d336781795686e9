import SignalingCore
import SignalingProtocol

/// Decides whether the loop commits a little work itself (LOG-25). A pure value.
///
/// To hand a command to the writer's thread, and its confirmation back, wakes two threads, which takes about as long as
/// the commit. But a commit may wait for the disk, and then everybody on the loop waits, too. So the loop commits a
/// little at a time, and after a commit that took long it leaves the work to the writer for a while.
struct DirectCommits {
    static let commandLimit = 16
    static let byteLimit = 16 << 10
    /// A commit that takes longer has waited for the disk or for a processor.
    static let longCommit = Duration.milliseconds(2)
    /// The time without direct commits after a long one, as a multiple of it: a disk that is always slow gets at most
    /// a hundredth of the loop's time.
    static let restFactor = 100

    private var restsUntil: MonotonicInstant?

    /// Whether the loop may commit this work now.
    func permits(_ work: [LogWork], now: MonotonicInstant) -> Bool {
        if let restsUntil, now < restsUntil { return false }
        guard work.count <= Self.commandLimit else { return false }
        var byteCount = 0
        for step in work {
            switch step {
            case .begin: break
            case .append(_, let entry): byteCount += entry.bytes.count
            // They read or write more than a row, or need a transaction of their own.
            case .repeated, .keep, .cover, .end, .scrub, .sleep, .wake, .forget: return false
            }
        }
        return byteCount <= Self.byteLimit
    }

    /// The loop has committed work, or has tried to.
    mutating func note(_ duration: Duration, endedAt now: MonotonicInstant) {
        restsUntil = duration > Self.longCommit ? now.advanced(by: duration * Self.restFactor) : nil
    }
}
