import Foundation

/// A loop that runs when the test says so, on the test's thread. Others post work to it from any thread.
public final class TestLoop: Sendable {
    public struct TimedOut: Error {}

    private let condition = NSCondition()
    // Guarded by `condition`.
    private nonisolated(unsafe) var work: [@Sendable () -> Void] = []
    private nonisolated(unsafe) var count = 0

    public init() {}

    /// The posts so far.
    public var postCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return count
    }

    public var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [self] item in
            condition.lock()
            work.append(item)
            count += 1
            condition.signal()
            condition.unlock()
        }
    }

    /// Swift's tests run all at once, so that the work of one may wait for minutes on a busy machine.
    private static let patience: TimeInterval = 300

    /// Runs posted work until the condition holds. Throws after five minutes.
    public func run(until isDone: () -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while !isDone() { try runNext(before: deadline) }
    }

    /// Waits for posted work and runs it. Throws after five minutes.
    public func runNext() throws { try runNext(before: Date(timeIntervalSinceNow: Self.patience)) }

    private func runNext(before deadline: Date) throws {
        condition.lock()
        while work.isEmpty {
            guard condition.wait(until: deadline) else {
                condition.unlock()
                throw TimedOut()
            }
        }
        let items = work
        work = []
        condition.unlock()
        for item in items { item() }
    }
}
