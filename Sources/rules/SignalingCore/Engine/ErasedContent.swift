import SignalingProtocol

/// When a log must forget content of a session that was erased (HIS-9).
///
/// A log forgets by a snapshot of the whole session. So only the first erasure after a while gets one at once: those that
/// follow wait, and share the next. Otherwise a moderator who erases one message after the other would pay with what
/// the session holds, and everybody would wait for it.
struct ErasedContent {
    /// HIS-9 gives a minute. The rest of it is for the pass over the commands, and for the cleaning of the files.
    static let interval = Duration.seconds(20)

    /// When the snapshot is due; `nil` if the log has nothing to forget.
    private(set) var dueAt: MonotonicInstant?
    private var lastReplacedAt: MonotonicInstant?

    var isPending: Bool { dueAt != nil }

    func isDue(at now: MonotonicInstant) -> Bool { dueAt.map { $0 <= now } ?? false }

    /// Commands of the log may have content that was erased now.
    mutating func note(at now: MonotonicInstant) {
        if dueAt == nil { dueAt = max(now, lastReplacedAt?.advanced(by: Self.interval) ?? now) }
    }

    /// A snapshot that replaces the commands has been made.
    mutating func replaced(at now: MonotonicInstant) {
        if !isPending { return }
        (dueAt, lastReplacedAt) = (nil, now)
    }
}
