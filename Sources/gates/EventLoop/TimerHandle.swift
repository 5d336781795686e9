import CLibuv
import SignalingProtocol

/// Calls its action at a deadline, or again and again.
package final class TimerHandle: LoopHandle {
    private var action: (() -> Void)?

    package init(on loop: EventLoop, _ action: @escaping () -> Void) {
        self.action = action
        super.init { uv_timer_init(loop.uv, $0) }
    }

    /// Calls the action once, at the deadline or within a millisecond after it. Replaces an earlier deadline.
    package func start(at deadline: MonotonicInstant) {
        guard let timer = opened(as: uv_timer_t.self) else { return }
        // libuv counts in whole milliseconds from its own time, which it read when the iteration began. The delay is
        // the difference to that time, rounded up: the timer is late by less than 1 ms and never early.
        let dueMilliseconds = (max(0, deadline.nanoseconds) + 999_999) / 1_000_000
        Self.start(timer, after: dueMilliseconds - Int64(bitPattern: uv_now(timer.pointee.loop)), every: 0)
    }

    /// Calls the action after each interval.
    package func start(every interval: Duration) {
        guard let timer = opened(as: uv_timer_t.self) else { return }
        let milliseconds = max(1, interval.wholeMilliseconds)
        Self.start(timer, after: milliseconds, every: milliseconds)
    }

    private static func start(_ timer: UnsafeMutablePointer<uv_timer_t>, after delay: Int64, every interval: Int64) {
        uv_timer_start(
            timer,
            { handle in
                // Retained while it runs: the action may release its own timer.
                let action = TimerHandle.owner(handle?.pointee.data)?.action
                action?()
            }, UInt64(max(0, delay)), UInt64(interval))
    }

    /// The timer can be started again.
    package func stop() { if let timer = opened(as: uv_timer_t.self) { uv_timer_stop(timer) } }

    /// When the timer calls its action next, by libuv's time; `nil` if it does not.
    package var deadline: MonotonicInstant? {
        guard let timer = opened(as: uv_timer_t.self),
            uv_is_active(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) != 0
        else { return nil }
        let milliseconds = uv_now(timer.pointee.loop) + uv_timer_get_due_in(timer)
        return MonotonicInstant(nanoseconds: Int64(bitPattern: milliseconds) * 1_000_000)
    }

    package override func close() {
        super.close()
        action = nil
    }
}
