import EventLoop
import SignalingProtocol

/// Calls its handler once, on the loop, at a deadline or shortly after it; never before. Confined to its loop.
public final class LoopTimer {
    private let loop: LoopThread
    /// `nil` if the loop had stopped.
    private let handle: TimerHandle?

    /// Create it on the running loop. When the loop has stopped, a timer never fires.
    ///
    /// - Parameter handler: retained by the timer; capture `self` weakly in it if `self` owns the timer.
    public init(loop: LoopThread, handler: @escaping () -> Void) {
        loop.preconditionCurrent()
        self.loop = loop
        handle = loop.core.makeTimer(handler)
    }

    deinit {
        guard let handle else { return }
        if loop.isCurrent {
            loop.core.close(handle)
        } else {
            // Released by another thread: the handle has to be closed on the loop. A stopped loop has closed it
            // already.
            nonisolated(unsafe) let handle = handle  // Guarded by the loop from here on: this was its last user.
            loop.post { [loop] in loop.core.close(handle) }
        }
    }

    /// Sets the deadline, with a resolution of a millisecond. Replaces an earlier deadline.
    public func schedule(at deadline: MonotonicInstant) {
        loop.preconditionCurrent()
        handle?.start(at: deadline)
    }

    /// Removes the deadline. The timer can be scheduled again.
    public func cancel() {
        loop.preconditionCurrent()
        handle?.stop()
    }

    /// When the timer fires, in whole milliseconds; `nil` if it has no deadline.
    public var deadline: MonotonicInstant? { handle?.deadline }
}
