import SignalingCore
import SignalingProtocol

/// The readers that wait for the next event of a feed.
struct FeedWaiters {
    struct Waiter {
        let project: APIKey
        let offset: FeedOffset
        let limit: Int
        let deadline: MonotonicInstant
        let answer: FeedDesk.Answer
    }

    /// Each takes a connection, too.
    static let limit = 1_000

    private var waiting: [Waiter] = []
    var count: Int { waiting.count }

    /// - Returns: false if too many wait already.
    mutating func add(_ waiter: Waiter) -> Bool {
        guard waiting.count < Self.limit else { return false }
        waiting.append(waiter)
        return true
    }

    mutating func take(where isTaken: (Waiter) -> Bool) -> [Waiter] {
        let taken = waiting.filter(isTaken)
        if !taken.isEmpty { waiting.removeAll(where: isTaken) }
        return taken
    }
}
