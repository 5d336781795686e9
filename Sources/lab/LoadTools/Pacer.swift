import Foundation
import SignalingProtocol
import Synchronization

/// Sends each signal of a plan at its planned moment, on a thread of its own: a task would wake up milliseconds late.
///
/// A signal whose moment has passed is sent at once. No planned moment is moved or left out.
final class Pacer: Sendable {
    private let isStopped = Atomic(false)

    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Returns when the last signal was sent, or soon after ``stop()``.
    func run(_ plan: LoadPlan, _ rooms: [[LoadMember]], _ record: LoadRecord, start: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for number in 0..<plan.stepCount {
                    let step = plan.step(number)
                    self.wait(until: start + step.at)
                    if self.isStopped.load(ordering: .relaxed) { break }
                    record.sent(plannedAt: step.at, delay: (start + step.at).duration(to: .now))
                    rooms[step.room][step.member].send(plannedAt: step.at, byteCount: plan.bytes)
                }
                continuation.resume()
            }
        }
    }

    private func wait(until moment: ContinuousClock.Instant) {
        // In pieces, so that a stop is noticed.
        while !isStopped.load(ordering: .relaxed) {
            let rest = ContinuousClock.now.duration(to: moment)
            guard rest > .zero else { return }
            let nanoseconds = min(rest, .milliseconds(100)).wholeNanoseconds
            var pause = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
            nanosleep(&pause, nil)
        }
    }
}
