#if canImport(Glibc)
    import Glibc
#endif

/// How the operating system schedules the writer's thread.
enum WriterScheduling {
    /// `SCHED_BATCH` of sched.h, which Swift does not import.
    private static let batch: Int32 = 3

    /// Makes the present thread one that interrupts no other when it wakes up (Linux: `SCHED_BATCH`, sched(7)).
    ///
    /// On a busy processor the loop then finishes its turn, and a transaction gets the commands of all of it. With a
    /// processor free, nothing changes.
    static func yieldToTheLoop() {
        #if canImport(Glibc)
            var parameters = sched_param()
            // Where it is not permitted, the writer only commits more often.
            _ = pthread_setschedparam(pthread_self(), batch, &parameters)
        #endif
    }
}
