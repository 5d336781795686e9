import CLibuv

extension EventLoop {
    /// Starts a thread of the system, and returns when its body has called `started`. No thread joins it.
    ///
    /// - Parameter name: Linux shows 15 bytes of it, and has no name for a thread with a longer one.
    package static func startThread(
        name: String, _ body: @escaping @Sendable (_ started: () -> Void) -> Void
    ) throws(EventLoopError) {
        let hasStarted = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)
        uv_sem_init(hasStarted, 0)
        defer {
            uv_sem_destroy(hasStarted)
            hasStarted.deallocate()
        }
        var thread = uv_thread_t()
        let run = {
            signalbox_detach_current_thread()
            name.withCString { signalbox_name_current_thread($0) }
            body { uv_sem_post(hasStarted) }
        }
        let box = Unmanaged.passRetained(Box(run))
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
