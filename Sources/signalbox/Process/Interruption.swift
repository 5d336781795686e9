import Foundation
import UnixSignals

/// Ends a command cleanly when it receives SIGINT or SIGTERM.
enum Interruption {
    /// Runs `work` and handles the signals meanwhile.
    ///
    /// - Parameters:
    ///   - first: called on the first signal; it has to make `work` return.
    ///   - second: called on the second signal. Without it, and on the signal after it, the process ends with status 1.
    static func handle<Value>(
        first: @escaping @Sendable () async -> Void, second: (@Sendable () async -> Void)? = nil,
        during work: () async throws -> Value
    ) async rethrows -> Value {
        // Trap the signals before the work begins: otherwise an early one would end the process.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            var steps = [first, second].compactMap(\.self)[...]
            for await _ in signals {
                if Task.isCancelled { return }
                guard let step = steps.popFirst() else { exit(ExitStatus.failed) }
                Task { await step() }
            }
        }
        defer { watcher.cancel() }
        return try await work()
    }

    /// Ends the process when standard input ends: for a server that another program starts, and that must not outlive
    /// it.
    static func followInput() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            exit(ExitStatus.failed)
        }
    }
}
