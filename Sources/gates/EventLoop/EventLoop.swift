import CLibuv
import SignalingProtocol

/// A libuv loop. Its handles are opened, used and closed on the thread that runs it.
package final class EventLoop {
    let uv = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)

    /// The loop needs ``close()``, after which it must not be used.
    package init() throws(EventLoopError) {
        let outcome = uv_loop_init(uv)
        if outcome != 0 {
            uv.deallocate()
            throw EventLoopError(code: outcome)
        }
        // Before the loop runs. Fails only for a libuv without this option.
        signalbox_measure_idle_time(uv)
    }

    /// The current time of the monotonic clock that timers use. Can be read from any thread.
    package static var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(bitPattern: uv_hrtime())) }

    /// The system's date. Can be read from any thread.
    package static var wallTime: WallTime {
        var time = uv_timeval64_t()
        // Fails for a null pointer only.
        uv_gettimeofday(&time)
        return WallTime(milliseconds: time.tv_sec * 1000 + Int64(time.tv_usec) / 1000)
    }

    /// How long the loop has waited for input.
    package var idleTime: Duration { .nanoseconds(Int64(bitPattern: uv_metrics_idle_time(uv))) }

    // MARK: - Running

    /// Runs until ``stop()``, or until no handle is left.
    package func run() { uv_run(uv, UV_RUN_DEFAULT) }

    /// Runs one turn, which waits for input.
    package func runOnce() { uv_run(uv, UV_RUN_ONCE) }

    /// Whether a handle is open, or work is in the thread pool.
    package var hasHandles: Bool { uv_loop_alive(uv) != 0 }

    /// Ends ``run()`` after the present turn.
    package func stop() { uv_stop(uv) }

    /// Runs until all handles have closed, at most for this time. Returns whether they have.
    package func runOut(within timeout: Duration) -> Bool {
        let deadline = Self.now.advanced(by: timeout)
        while uv_run(uv, UV_RUN_NOWAIT) != 0, Self.now < deadline { uv_sleep(1) }
        return !hasHandles
    }

    /// Frees the loop. Returns whether it could: a loop with a handle leaks.
    package func close() -> Bool {
        guard uv_loop_close(uv) == 0 else { return false }
        uv.deallocate()
        return true
    }

    // MARK: - For libwebsockets, which has handles of its own on the loop

    /// The address of the `uv_loop_t`.
    package var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(uv) }

    /// The descriptors of the loop's handles that poll and are not closing.
    package var polledDescriptors: [Int32] {
        var descriptors: [Int32] = []
        withUnsafeMutablePointer(to: &descriptors) { pointer in
            uv_walk(
                uv,
                { handle, found in
                    guard let handle, uv_handle_get_type(handle) == UV_POLL, let found else { return }
                    var descriptor = uv_os_fd_t()
                    guard uv_fileno(handle, &descriptor) == 0 else { return }
                    found.assumingMemoryBound(to: [Int32].self).pointee.append(descriptor)
                }, UnsafeMutableRawPointer(pointer))
        }
        return descriptors
    }
}

/// Why libuv refuses something, in its own words.
package struct EventLoopError: Error, CustomStringConvertible {
    let code: Int32

    package static var outOfMemory: Self { Self(code: UV_ENOMEM.rawValue) }

    static func check(_ outcome: Int32) throws(Self) {
        if outcome != 0 { throw Self(code: outcome) }
    }

    package var description: String { String(cString: uv_strerror(code)) }
}
