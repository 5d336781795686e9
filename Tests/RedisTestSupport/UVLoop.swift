import EventLoop
import Foundation
import SignalingProtocol

/// A libuv loop that runs when the test says so, on the test's thread.
package final class UVLoop {
    package struct TimedOut: Error {}
    package let eventLoop: EventLoop

    package init() throws { eventLoop = try EventLoop() }

    deinit {
        precondition(
            eventLoop.runOut(within: .seconds(60)) && eventLoop.close(), "a handle of the log was not closed")
    }

    package var now: MonotonicInstant { EventLoop.now }

    /// Runs the loop until the condition holds. Throws after 60 s. Logs tick, so the loop never waits for long.
    package func run(until isDone: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while try !isDone() {
            if Date() >= deadline { throw TimedOut() }
            runOnce()
        }
    }

    /// One turn of the loop. With a log it ends with the next tick at the latest.
    package func runOnce() {
        // Without a log nothing ticks.
        if eventLoop.hasHandles { eventLoop.runOnce() } else { usleep(1_000) }
    }

    /// Runs the loop for some time: for tests that something does not happen.
    package func run(for duration: Duration) throws {
        let end = now.advanced(by: duration)
        try run { now >= end }
    }
}
