import Foundation
import UnixSignals

/// Ends a command on SIGINT and SIGTERM as a person expects: it says goodbye first.
enum Interruption {
    /// Runs `work`; on the first signal does `goodbye`, which has to make the work end. A second signal ends the process.
    static func doing<Value>(
        _ goodbye: @escaping @Sendable () async -> Void, _ work: () async throws -> Value
    ) async rethrows -> Value {
        // Trapped before the work begins, so that there is no moment in which a signal ends the process.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            var isLeaving = false
            for await _ in signals {
                if Task.isCancelled { return }
                if isLeaving { exit(ExitStatus.failed) }
                isLeaving = true
                Task { await goodbye() }
            }
        }
        defer { watcher.cancel() }
        return try await work()
    }
}
