import CLibwebsockets
import SignalingProtocol

/// Calls its handler once, on the loop, at a deadline or shortly after it; never before. Confined to its loop.
public final class LoopTimer {
    private let loop: LoopThread
    private let handle: TimerHandle

    /// Create it on the running loop. When the loop has stopped, a timer never fires.
    ///
    /// - Parameter handler: retained by the timer; capture `self` weakly in it if `self` owns the timer.
    public init(loop: LoopThread, handler: @escaping () -> Void) {
        loop.preconditionCurrent()
        self.loop = loop
        handle = TimerHandle(core: loop.core, handler: handler)
    }

    deinit {
        if loop.isCurrent {
            handle.close()
        } else {
            // Released by another thread: the handle has to be closed on the loop. A stopped loop has closed it
            // already.
            nonisolated(unsafe) let handle = handle  // Guarded by the loop from here on: this was its last user.
            loop.post { handle.close() }
        }
    }

    /// Sets the deadline, with a resolution of a millisecond. Replaces an earlier deadline.
    public func schedule(at deadline: MonotonicInstant) {
        loop.preconditionCurrent()
        handle.start(at: deadline)
    }

    /// Removes the deadline. The timer can be scheduled again.
    public func cancel() {
        loop.preconditionCurrent()
        handle.stop()
    }
}

/// The `uv_timer_t` of a timer. It lives until libuv has closed it.
final class TimerHandle {
    private unowned let core: LoopCore
    private var timer: UnsafeMutablePointer<uv_timer_t>?
    private var handler: (() -> Void)?

    init(core: LoopCore, handler: @escaping () -> Void) {
        self.core = core
        self.handler = handler
        guard let loop = core.loop else { return }
        let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        uv_timer_init(loop, timer)
        timer.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        self.timer = timer
        core.add(self)
    }

    func start(at deadline: MonotonicInstant) {
        guard let timer, let loop = core.loop else { return }
        // libuv counts in whole milliseconds from its own time, which it read when the iteration began. The delay is
        // the difference to that time, rounded up: the timer is late by less than 1 ms and never early.
        let dueMilliseconds = (max(0, deadline.nanoseconds) + 999_999) / 1_000_000
        let delay = dueMilliseconds - Int64(bitPattern: uv_now(loop))
        uv_timer_start(
            timer,
            { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<TimerHandle>.fromOpaque(data).takeUnretainedValue().fire()
            }, UInt64(max(0, delay)), 0)
    }

    func stop() {
        guard let timer else { return }
        uv_timer_stop(timer)
    }

    func close() {
        guard let timer else { return }
        closeAndFree(timer)
        self.timer = nil
        handler = nil
        core.remove(self)
    }

    private func fire() {
        // Retained while it runs: the handler may release its own timer.
        let handler = handler
        handler?()
    }
}
