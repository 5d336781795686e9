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

    /// Runs posted work until the condition holds. Throws after a minute.
    public func run(until isDone: () -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !isDone() { try runNext(before: deadline) }
    }

    /// Waits for posted work and runs it. Throws after a minute.
    public func runNext() throws { try runNext(before: Date(timeIntervalSinceNow: 60)) }

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
