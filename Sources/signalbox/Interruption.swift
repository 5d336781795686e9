import Foundation
import UnixSignals

/// Ends a command on SIGINT and SIGTERM as a person expects: it says goodbye first.
enum Interruption {
    /// Runs `work`; on the first signal does `goodbye`, which has to make the work end. The next one does `hurry`, if there
    /// is that, and the one after it ends the process.
    static func doing<Value>(
        _ goodbye: @escaping @Sendable () async -> Void, hurry: (@Sendable () async -> Void)? = nil,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        // Trapped before the work begins, so that there is no moment in which a signal ends the process.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            var steps = [goodbye, hurry].compactMap(\.self)[...]
            for await _ in signals {
                if Task.isCancelled { return }
                guard let step = steps.popFirst() else { exit(ExitStatus.failed) }
                Task { await step() }
            }
        }
        defer { watcher.cancel() }
        return try await work()
    }

    /// Ends the process at once when standard input does: for a server that is part of another program's work, and must not
    /// outlive it however it ends.
    static func followInput() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            exit(ExitStatus.failed)
        }
    }
}
