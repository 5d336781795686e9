/// Decides when to return free memory to the operating system: after many connections have ended.
///
/// A pure value. The allocator keeps freed memory for later, so after a storm of connections the process would stay as
/// large as it was. What a connection has used is freed in steps: some of it at once, and the state of a session when no
/// client can come back to it. So the memory is released several times, in growing distances.
struct MemoryRelease {
    enum Step: Hashable {
        /// Release free memory now, and call ``look()`` after this time again; `nil`: not again.
        case release(thenAfter: Duration?)
        /// Connections still end. Call ``look()`` after this time again.
        case wait(Duration)
    }

    /// Fewer ended connections are not worth the work, which takes some milliseconds.
    static let endCount = 1_000
    static let firstPause = Duration.seconds(2)
    /// After it, every session of the ended connections is gone with the default windows.
    static let longestPause = Duration.seconds(512)

    /// Connections that have ended since the last release.
    private var endedCount = 0
    /// Of these, at the last look.
    private var seenCount = 0
    private var pause = firstPause

    /// A connection has ended.
    ///
    /// - Returns: when to call ``look()``, if it is time to plan that; replaces an earlier plan.
    mutating func noteEnd() -> Duration? {
        endedCount += 1
        guard endedCount == Self.endCount else { return nil }
        pause = Self.firstPause
        return pause
    }

    mutating func look() -> Step {
        if endedCount >= Self.endCount, endedCount > seenCount {
            seenCount = endedCount
            return .wait(pause)
        }
        endedCount = 0
        seenCount = 0
        pause = pause * 4
        return .release(thenAfter: pause <= Self.longestPause ? pause : nil)
    }
}
