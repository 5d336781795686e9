import SignalingProtocol

/// A pass over all commands, which overwrites those that their snapshots cover (HIS-9). It goes on in parts.
struct ScrubPass: Hashable, Sendable {
    /// The sessions whose commands are overwritten; `nil` for every session.
    var keys: Set<SessionKey>?
    /// The last position that was looked at.
    var position: Int64 = 0
}

/// When the writer begins a pass: one for all the sessions that have asked for it since the last one began, so that many
/// erasures cost as much as one. Used on the writer's thread.
struct ScrubPasses {
    static let interval = Duration.seconds(5)

    private var waiting: Set<SessionKey> = []
    private var running: ScrubPass?
    private var lastBegin: MonotonicInstant?

    /// The snapshot of this session has replaced commands with erased content.
    mutating func note(_ key: SessionKey) { waiting.insert(key) }

    /// - Returns: the pass that begins now.
    mutating func beginIfDue(_ now: MonotonicInstant) -> ScrubPass? {
        guard !waiting.isEmpty, running == nil, lastBegin.map({ $0.advanced(by: Self.interval) <= now }) ?? true
        else { return nil }
        let pass = ScrubPass(keys: waiting)
        (waiting, running, lastBegin) = ([], pass, now)
        return pass
    }

    /// A part has been done.
    ///
    /// - Parameter next: what is left; `nil` at the end.
    mutating func note(next: ScrubPass?) { running = next }

    /// What is left to do when the log is closed.
    mutating func takeRest() -> ScrubPass? {
        defer { (waiting, running) = ([], nil) }
        guard let running else { return waiting.isEmpty ? nil : ScrubPass(keys: waiting) }
        if waiting.isEmpty { return running }
        return ScrubPass(keys: running.keys.map { $0.union(waiting) })
    }
}
