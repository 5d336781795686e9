/// The number of connections without a socket in all sessions of an engine. It is for metrics, which must not cost more
/// with more sessions.
final class DetachedTally {
    fileprivate(set) var count = 0
}

/// What one session adds to a ``DetachedTally``, until it ends.
struct DetachedShare: ~Copyable {
    private let tally: DetachedTally
    private var count = 0

    init(of tally: DetachedTally) { self.tally = tally }

    /// The number of the session's connections without a socket, after each change of the session.
    mutating func note(_ count: Int) {
        tally.count += count - self.count
        self.count = count
    }

    deinit { tally.count -= count }
}
