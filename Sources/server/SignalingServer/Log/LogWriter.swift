import EventLoop
import Glibc
import Logging
import SignalingProtocol
import Synchronization

/// Writes log lines to a file descriptor on a thread of its own.
///
/// The event loop only adds lines to a queue. A reader of the log that stalls blocks the writer's thread, never the
/// loop. While it stalls, lines are dropped when the queue is full (``LogQueue``).
package final class LogWriter: Sendable {
    private let descriptor: Int32
    private let label: String
    private let condition = ThreadCondition()
    // Guarded by `condition`.
    private nonisolated(unsafe) var queue: LogQueue
    private nonisolated(unsafe) var isWriting = false
    private nonisolated(unsafe) var hasThread = false
    private let currentFormat = Mutex(LogFormat.text)

    /// The form of the lines. Loggers that write here follow it.
    package var format: LogFormat {
        get { currentFormat.withLock { $0 } }
        set { currentFormat.withLock { $0 = newValue } }
    }

    /// - Parameters:
    ///   - descriptor: a file descriptor that stays open, blocking or not.
    ///   - label: the program's name in the line that reports dropped lines.
    package init(descriptor: Int32, label: String, byteLimit: Int = LogQueue.byteLimit) {
        self.descriptor = descriptor
        self.label = label
        queue = LogQueue(byteLimit: byteLimit)
    }

    /// Queues a line with its line end. Never waits for the reader.
    package func add(_ line: String) {
        condition.lock()
        defer { condition.unlock() }
        queue.add(line)
        if hasThread { return condition.signal() }
        // Without a thread, the next line tries again.
        let started: Void? = try? EventLoop.startThread(name: "log") { started in
            started()
            self.run()
        }
        hasThread = started != nil
    }

    /// Waits until everything is written, but no longer than `limit`.
    ///
    /// - Returns: whether everything is written.
    @discardableResult
    package func flush(within limit: Duration = .seconds(1)) -> Bool {
        let deadline = ContinuousClock.now + limit
        condition.lock()
        defer { condition.unlock() }
        while !queue.isEmpty || isWriting {
            if !condition.wait(atMost: deadline - .now) { return queue.isEmpty && !isWriting }
        }
        return true
    }

    private func run() {
        // A closed reader is an error of `write`, not the end of the process.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, nil)
        condition.lock()
        while true {
            while queue.isEmpty { condition.wait() }
            let bytes = queue.take { [label, format] count in
                LogLine.make(
                    format, level: .warning, label: label, metadata: ["lines": .stringConvertible(count)],
                    source: "SignalingServer",
                    message: "dropped log lines: the reader of the log is too slow")
            }
            isWriting = true
            condition.unlock()
            // A line that nobody can read is no reason to end.
            _ = WholeWrite.write(bytes, to: descriptor)
            condition.lock()
            isWriting = false
            condition.broadcast()
        }
    }
}
