import SignalingProtocol

@testable import SignalingClient
@testable import SignalingServer

/// A timer in virtual time, for the hub and for clients. Like the real one, it counts whole milliseconds, rounded up.
final class VirtualTimer: HubTimer, ClientTimer {
    private unowned let world: World
    private let fire: () -> Void
    private(set) var deadline: MonotonicInstant?
    /// The queued event for this timer: it may be earlier than the deadline, never later.
    private var eventAt: MonotonicInstant?

    init(world: World, fire: @escaping () -> Void) {
        self.world = world
        self.fire = fire
    }

    func schedule(at deadline: MonotonicInstant) {
        let milliseconds = (max(0, deadline.nanoseconds) + 999_999) / 1_000_000
        self.deadline = max(world.now, MonotonicInstant(nanoseconds: milliseconds * 1_000_000))
        enqueue()
    }

    func cancel() { deadline = nil }

    private func enqueue() {
        guard let deadline else { return }
        if let eventAt, eventAt <= deadline { return }
        eventAt = deadline
        world.schedule(at: deadline) { [weak self] in self?.eventDue(deadline) }
    }

    private func eventDue(_ moment: MonotonicInstant) {
        guard eventAt == moment else { return }
        eventAt = nil
        guard let deadline else { return }
        guard deadline <= world.now else { return enqueue() }
        self.deadline = nil
        fire()
    }
}
