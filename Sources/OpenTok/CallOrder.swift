import Dispatch

/// Starts tasks in the order in which they were made, each up to its first wait: OpenTok's calls return at once, and what
/// they ask for still has to reach the server in the order of the calls.
final class CallOrder: TaskExecutor {
    let queue = DispatchQueue(label: "opentok.calls")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
