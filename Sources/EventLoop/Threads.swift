import CLibuv

extension EventLoop {
    /// Starts a thread of the system, and returns when its body has called `started`.
    package static func startThread(
        _ body: @escaping @Sendable (_ started: () -> Void) -> Void
    ) throws(EventLoopError) {
        let hasStarted = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)
        uv_sem_init(hasStarted, 0)
        defer {
            uv_sem_destroy(hasStarted)
            hasStarted.deallocate()
        }
        var thread = uv_thread_t()
        let box = Unmanaged.passRetained(Box { body { uv_sem_post(hasStarted) } })
        let outcome = uv_thread_create(
            &thread, { $0.map { Unmanaged<Box<() -> Void>>.fromOpaque($0).takeRetainedValue().content() } },
            box.toOpaque())
        if outcome != 0 {
            box.release()
            throw EventLoopError(code: outcome)
        }
        uv_sem_wait(hasStarted)
    }
}
