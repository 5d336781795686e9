import Locking

/// Carries a task's cancellation to the loop, where the task's call runs.
///
/// Unchecked: `undo` is touched on the loop only.
final class Cancellation: @unchecked Sendable {
    private let isRequested = Lock(false)
    private var undo: (() -> Void)?

    /// On the loop: begins the call. Returns false, and does not begin it, if its task has been cancelled already.
    ///
    /// - Parameter start: begins the call, and returns what ends it.
    func begin(_ start: () -> () -> Void) -> Bool {
        if isRequested.withLock({ $0 }) { return false }
        undo = start()
        return true
    }

    /// On any thread: the task has been cancelled. ``carryOut()`` must follow on the loop.
    func request() { isRequested.withLock { $0 = true } }

    /// On the loop: ends the call if it has begun.
    func carryOut() { undo?() }
}
