import Synchronization

/// The stages that were started, so that an interrupted run leaves nothing behind.
final class RunningStages: Sendable {
    private let isOver = Atomic(false)
    /// Held while a stage starts.
    private let state = Mutex<(stages: [Stage], failure: (any Error)?)>(([], nil))

    /// Starts a stage. Fails after ``tearDown()``, and like the stage before it.
    ///
    /// - Parameter make: starts the servers, and gives up when its parameter is true.
    func add(
        _ make: @escaping @Sendable (_ isOver: @escaping @Sendable () -> Bool) throws -> Stage
    ) async throws -> Stage {
        try await onOwnThread {
            try self.state.withLock { state in
                let isOver: @Sendable () -> Bool = { self.isOver.load(ordering: .relaxed) }
                if isOver() { throw CancellationError() }
                if let failure = state.failure { throw failure }
                do {
                    let stage = try make(isOver)
                    state.stages.append(stage)
                    return stage
                } catch {
                    state.failure = error
                    throw error
                }
            }
        }
    }

    func tearDown() {
        // First, so that a server that is about to start does not hold the lock for long.
        isOver.store(true, ordering: .relaxed)
        state.withLock { for stage in $0.stages { stage.tearDown() } }
    }
}

/// Why a verification failed to run.
package struct VerificationError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        case serverNotStarted
        case clientNotConnected
        /// A server did not stop or did not start again in the middle of the run: it broke RES-15.
        case serverNotRestarted
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// A count that many tasks add to.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}

/// A random number generator with a seed, so that a run can be repeated (SplitMix64: Steele, Lea and Flood, 2014).
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
