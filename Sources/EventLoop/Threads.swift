import CLibuv

extension EventLoop {
    /// Starts a thread of the system.
    package static func startThread(_ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        final class Start {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = uv_thread_t()
        let start = Unmanaged.passRetained(Start(body))
        let outcome = uv_thread_create(
            &thread, { $0.map { Unmanaged<Start>.fromOpaque($0).takeRetainedValue().body() } }, start.toOpaque())
        guard outcome != 0 else { return }
        start.release()
        throw EventLoopError(code: outcome)
    }
}

/// Lets one thread wait for another.
///
/// Unchecked: libuv's functions can be called from any thread.
package final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)

    package init() { uv_sem_init(semaphore, 0) }

    deinit {
        uv_sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func post() { uv_sem_post(semaphore) }
    package func wait() { uv_sem_wait(semaphore) }
}
