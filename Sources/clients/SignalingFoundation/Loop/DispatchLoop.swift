import Dispatch
import Foundation
import SignalingProtocol

/// One serial queue with a clock: the loop of all sockets that this module opens.
package final class DispatchLoop: Sendable {
    package let queue: DispatchQueue
    private let begin = ContinuousClock.now

    package init(label: String) { queue = DispatchQueue(label: label) }

    /// The time since the loop was made. It goes on while a phone sleeps: the server counts a connection's absence in
    /// that time, too (RES-12).
    package var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: begin.duration(to: .now).wholeNanoseconds)
    }

    /// The system's date.
    package var wallTime: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Runs `work` on the loop after the current callback. Keeps the order of all posts.
    package func post(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

/// Calls its handler once, on the loop, at a deadline or soon after it; never before. Confined to its loop.
package final class DispatchTimer {
    private let loop: DispatchLoop
    private let source: any DispatchSourceTimer
    private let fire: () -> Void
    private var deadline: MonotonicInstant?

    package init(loop: DispatchLoop, fire: @escaping () -> Void) {
        self.loop = loop
        self.fire = fire
        source = DispatchSource.makeTimerSource(queue: loop.queue)
        // A source does not fire before its first schedule, and must not be released while it is suspended.
        source.setEventHandler { [weak self] in self?.fired() }
        source.activate()
    }

    deinit { source.cancel() }

    /// Replaces an earlier deadline.
    package func schedule(at deadline: MonotonicInstant) {
        self.deadline = deadline
        arm(deadline)
    }

    package func cancel() {
        deadline = nil
        source.schedule(deadline: .distantFuture)
    }

    private func arm(_ deadline: MonotonicInstant) {
        let rest = max(.zero, deadline.duration(since: loop.now))
        // Without the sum, which overflows: a deadline may be the end of time.
        let wait = DispatchTimeInterval.nanoseconds(Int(clamping: min(rest, .seconds(86_400)).wholeNanoseconds))
        source.schedule(deadline: .now() + wait)
    }

    private func fired() {
        guard let deadline else { return }
        guard loop.now >= deadline else { return arm(deadline) }
        self.deadline = nil
        fire()
    }
}
