#if canImport(os)
    import os
#else
    import Synchronization
#endif

/// A value that one thread at a time can use, as Swift's `Mutex`.
///
/// `Mutex` needs iOS 18 and macOS 15. The client's products also run on iOS 17 and macOS 14, which have a lock of their
/// own. It must not move in memory, so `OSAllocatedUnfairLock` allocates it.
package struct Lock<Value>: ~Copyable, Sendable {
    #if canImport(os)
        /// Guarded by `lock`.
        private final class Storage: Sendable {
            nonisolated(unsafe) var value: Value
            init(_ value: consuming sending Value) { self.value = value }
        }
        private let storage: Storage
        private let lock = OSAllocatedUnfairLock()

        package init(_ value: consuming sending Value) { storage = Storage(value) }
    #else
        private let mutex: Mutex<Value>

        package init(_ value: consuming sending Value) { mutex = Mutex(value) }
    #endif

    /// Calls `body` with the value, and lets no other thread use the value meanwhile. `body` must not use the lock again.
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(os)
            lock.lock()
            defer { lock.unlock() }
            return try body(&storage.value)
        #else
            try mutex.withLock(body)
        #endif
    }
}
