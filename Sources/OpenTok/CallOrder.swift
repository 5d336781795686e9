import Dispatch

/// Runs tasks in the order in which they were created, each up to its first suspension.
///
/// OpenTok's calls return at once. Their requests still have to reach the server in the order of the calls.
final class CallOrder: TaskExecutor {
    let queue = DispatchQueue(label: "opentok.calls")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
