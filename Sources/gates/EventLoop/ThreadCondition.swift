import CLibuv

/// A lock, and with it a way to wait for a change of what it guards. Waits follow the monotonic clock.
package final class ThreadCondition: @unchecked Sendable {
    // At a fixed place in memory; libuv's functions make their use by several threads safe.
    private let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<uv_cond_t>.allocate(capacity: 1)

    package init() {
        // Both fail only without memory, after which nothing else works either.
        uv_mutex_init(mutex)
        uv_cond_init(condition)
    }

    deinit {
        uv_cond_destroy(condition)
        uv_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func lock() { uv_mutex_lock(mutex) }

    package func unlock() { uv_mutex_unlock(mutex) }

    package func withLock<Value>(_ body: () -> Value) -> Value {
        lock()
        defer { unlock() }
        return body()
    }

    /// Unlocks, waits for ``signal()`` or ``broadcast()``, and locks again. It may also return without either.
    package func wait() { uv_cond_wait(condition, mutex) }

    /// The same, but no longer than `limit`.
    ///
    /// - Returns: false if the time is over.
    package func wait(atMost limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        let nanoseconds = max(0, seconds) &* 1_000_000_000 &+ max(0, attoseconds) / 1_000_000_000
        return uv_cond_timedwait(condition, mutex, UInt64(max(0, nanoseconds))) == 0
    }

    /// Wakes one thread that waits.
    package func signal() { uv_cond_signal(condition) }

    /// Wakes all threads that wait.
    package func broadcast() { uv_cond_broadcast(condition) }
}
