/// Decides when to return free memory to the operating system: after much has ended.
///
/// A pure value. The allocator keeps freed memory for later, so after a storm of connections the process would stay as
/// large as it was. What a connection has used is freed in steps: with its socket, with the connection when no client can
/// resume it, and with its session when no client can come back. Each of these ends counts.
struct MemoryRelease {
    enum Step: Hashable {
        /// Release free memory now, and call ``look()`` after this time again; `nil`: not again.
        case release(thenAfter: Duration?)
        /// Much still ends. Call ``look()`` after this time again.
        case wait(Duration)
    }

    /// Fewer ends are not worth the work, which takes some milliseconds.
    static let endCount = 1_000
    /// A pause with fewer ends is quiet: on a busy server something ends all the time.
    static let quietCount = 100
    static let firstPause = Duration.seconds(2)
    /// What other threads and timers still held at the first release is free by then.
    static let secondPause = Duration.seconds(5)

    private enum Phase {
        /// Nothing is planned.
        case counting
        /// Waits until a pause is quiet.
        case ending
        /// Memory was released, and will be once more.
        case released
    }

    private var phase = Phase.counting
    /// What has ended since the last release.
    private var endedCount = 0
    /// Of these, at the last look.
    private var seenCount = 0

    /// Sockets, connections or sessions have ended.
    ///
    /// - Returns: when to call ``look()``, if it is time to plan that; replaces an earlier plan.
    mutating func noteEnds(_ count: Int = 1) -> Duration? {
        endedCount += count
        guard endedCount >= Self.endCount else { return nil }
        switch phase {
        case .ending: return nil
        case .counting, .released:
            phase = .ending
            seenCount = endedCount
            return Self.firstPause
        }
    }

    mutating func look() -> Step {
        switch phase {
        case .counting, .released:
            phase = .counting
            return .release(thenAfter: nil)
        case .ending:
            if endedCount - seenCount >= Self.quietCount {
                seenCount = endedCount
                return .wait(Self.firstPause)
            }
            phase = .released
            endedCount = 0
            return .release(thenAfter: Self.secondPause)
        }
    }
}
