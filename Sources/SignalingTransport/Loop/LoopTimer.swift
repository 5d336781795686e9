import CLibwebsockets
import SignalingProtocol

/// Calls its handler once, on the loop, at a moment or soon after. Never before it. Confined to its loop.
public final class LoopTimer {
    private let loop: LoopThread
    private let handle: TimerHandle

    /// On the loop, while it runs; after the loop has stopped a timer never fires.
    ///
    /// - Parameter handler: kept until the timer goes; take `self` weakly in it if it owns the timer.
    public init(loop: LoopThread, handler: @escaping () -> Void) {
        loop.preconditionCurrent()
        self.loop = loop
        handle = TimerHandle(core: loop.core, handler: handler)
    }

    deinit {
        if loop.isCurrent {
            handle.close()
        } else {
            // Let go by another thread: the handle has to be closed on the loop. If that has stopped, it is closed.
            nonisolated(unsafe) let handle = handle  // guarded by the loop from here on: this was its last user
            loop.post { handle.close() }
        }
    }

    /// Fires at `deadline`, with a resolution of a millisecond, instead of when it was set to before.
    public func schedule(at deadline: MonotonicInstant) {
        loop.preconditionCurrent()
        handle.start(at: deadline)
    }

    /// Does not fire any more, until it is scheduled again.
    public func cancel() {
        loop.preconditionCurrent()
        handle.stop()
    }
}

/// The `uv_timer_t` of a timer, alive until libuv has closed it.
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
        // libuv counts from its own idea of the time, in whole milliseconds and taken when the iteration began. The
        // moment is therefore handed over as a difference to that, rounded up: late by less than 1 ms, never early.
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
        // Kept while it runs: the handler may let go of its own timer.
        let handler = handler
        handler?()
    }
}
