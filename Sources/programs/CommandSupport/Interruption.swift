import EventLoop
import Glibc
import Synchronization
import UnixSignals

/// Ends a command cleanly when it receives SIGINT or SIGTERM.
package enum Interruption {
    /// Whether the process ends by ``endProcess()``.
    private static let isEnding = Mutex(false)

    /// Runs `work` and handles the signals meanwhile.
    ///
    /// - Parameters:
    ///   - first: called on the first signal; it has to make `work` return.
    ///   - second: called on the second signal. Without it, and on the signal after it, the process ends with status 1.
    package static func handle<Value>(
        first: @escaping @Sendable () async -> Void, second: (@Sendable () async -> Void)? = nil,
        during work: () async throws -> Value
    ) async rethrows -> Value {
        // Trap the signals before the work begins: otherwise an early one would end the process.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            var steps = [first, second].compactMap(\.self)[...]
            for await _ in signals {
                if Task.isCancelled { return }
                guard let step = steps.popFirst() else { endProcess() }
                Task { await step() }
            }
        }
        defer { watcher.cancel() }
        do {
            let value = try await work()
            await leaveTheEndAlone()
            return value
        } catch {
            await leaveTheEndAlone()
            throw error
        }
    }

    /// Ends the process when standard input ends: for a server that another program starts, and that must not outlive
    /// it.
    package static func followInput() {
        // Without a thread the server outlives its parent, which is better than no server.
        try? EventLoop.startThread(name: "input") { started in
            started()
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            endProcess()
        }
    }

    private static func endProcess() -> Never {
        isEnding.withLock { $0 = true }
        exit(ExitStatus.failed)
    }

    /// Does not return while the process ends. `exit` takes a moment, since it writes the last lines of the log; if the
    /// work ends in that time, its own `exit` would come first, with another status.
    private static func leaveTheEndAlone() async {
        guard isEnding.withLock({ $0 }) else { return }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
}
