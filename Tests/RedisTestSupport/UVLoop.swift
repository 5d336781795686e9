import CHiredis
import Foundation
import SignalingProtocol
import SignalingRedis

/// A libuv loop that runs when the test says so, on the test's thread.
package final class UVLoop {
    package struct TimedOut: Error {}
    private let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)

    package init() { uv_loop_init(loop) }

    deinit {
        let deadline = Date(timeIntervalSinceNow: 5)
        while uv_run(loop, UV_RUN_NOWAIT) != 0, Date() < deadline { usleep(1_000) }
        precondition(uv_loop_close(loop) == 0, "a handle of the log was not closed")
        loop.deallocate()
    }

    package var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(bitPattern: uv_hrtime())) }

    package var redisLoop: RedisLoop {
        RedisLoop(uvLoop: UnsafeMutableRawPointer(loop)) {
            MonotonicInstant(nanoseconds: Int64(bitPattern: uv_hrtime()))
        }
    }

    /// Runs the loop until the condition holds. Throws after 30 s. Logs tick, so the loop never waits for long.
    package func run(until isDone: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 30)
        while try !isDone() {
            if Date() >= deadline { throw TimedOut() }
            runOnce()
        }
    }

    /// One turn of the loop. With a log it ends with the next tick at the latest.
    package func runOnce() {
        // Without a log nothing ticks.
        if uv_run(loop, UV_RUN_NOWAIT) == 0 { usleep(1_000) } else { uv_run(loop, UV_RUN_ONCE) }
    }

    /// Runs the loop for some time: for tests that something does not happen.
    package func run(for duration: Duration) throws {
        let end = now.advanced(by: duration)
        try run { now >= end }
    }
}
