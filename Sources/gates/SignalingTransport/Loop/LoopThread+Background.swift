import EventLoop

extension LoopThread {
    /// Does work on another thread that would keep the loop from its clients, and passes the result to `done` on the
    /// loop. Call it on the loop. When the loop stops, `done` may not be called.
    package func runInBackground<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        preconditionCurrent()
        core.loop?.runOnThreadPool(work, done)
    }
}
