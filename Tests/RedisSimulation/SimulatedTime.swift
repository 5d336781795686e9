import HeapModule
import SignalingProtocol
import TestSupport

/// Time that passes when the simulation says so, and its randomness.
package protocol SimulatedTime: AnyObject {
    var now: MonotonicInstant { get }
    func schedule(after delay: Duration, _ run: @escaping () -> Void)
    /// A number from 0 up to, and without, `count`.
    func random(below count: Int) -> Int
}

extension SimulatedTime {
    /// True with a probability of 1 in `count`.
    func chance(_ count: Int) -> Bool { random(below: count) == 0 }
}

/// Time for a simulation of nothing but logs. The same seed gives the same run on every machine.
package final class VirtualTime: SimulatedTime {
    private struct Event: Comparable {
        let at: MonotonicInstant
        let number: Int
        let run: () -> Void
        static func < (left: Event, right: Event) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Event, right: Event) -> Bool { left.number == right.number }
    }

    package private(set) var now = MonotonicInstant.seconds(1_000)
    package var generator: SeededGenerator
    private var events = Heap<Event>()
    private var eventCount = 0

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package func schedule(after delay: Duration, _ run: @escaping () -> Void) {
        eventCount += 1
        events.insert(Event(at: now.advanced(by: delay), number: eventCount, run: run))
    }

    package func random(below count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Runs the events of a time.
    package func pass(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = events.min, next.at <= end { runNext(next) }
        now = end
    }

    /// Runs events until the condition holds.
    ///
    /// - Returns: whether it holds within a minute.
    package func pass(until isDone: () -> Bool) -> Bool {
        let end = now.advanced(by: .seconds(60))
        while !isDone() {
            guard let next = events.min, next.at <= end else { return false }
            runNext(next)
        }
        return true
    }

    private func runNext(_ event: Event) {
        events.removeMin()
        now = event.at
        event.run()
    }

    /// Releases everything that events hold.
    package func removeAllEvents() { events = Heap() }
}
