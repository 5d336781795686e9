import Foundation

/// Runs work that blocks on a thread of its own.
///
/// Tasks share as many threads as there are processors. If servers that start slowly held them, no client would make
/// progress, and nothing would handle Ctrl-C.
func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}
