import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@Suite("A drain, step by step")
struct DrainTests {
    /// Disconnects `count` clients over as many seconds.
    private func drain(_ count: Int, sliceCount: Int = 100) -> Drain {
        let pace = DrainPlan.Pace(perClient: .seconds(1), sliceCount: sliceCount, closingTime: .seconds(2))
        return Drain(
            sockets: (0..<count).map { UInt64($0 + 1) }, longest: .seconds(60), pace: pace, now: .seconds(100))
    }

    @Test("LEAVE-5: clients are disconnected one after the other, once each, then the drain waits for their sockets")
    func spread() {
        var drain = drain(3)
        #expect(step(&drain, at: 100) == .disconnect([1], askAgainAt: .seconds(101)))
        #expect(step(&drain, at: 100.5) == .disconnect([], askAgainAt: .seconds(101)), "early: nothing is due")
        #expect(step(&drain, at: 101) == .disconnect([2], askAgainAt: .seconds(102)))
        #expect(!drain.awaitsClosing)
        #expect(step(&drain, at: 102) == .disconnect([3], askAgainAt: nil))
        #expect(step(&drain, at: 102) == .awaitClosing(until: .seconds(104)))
        #expect(drain.awaitsClosing)
        #expect(step(&drain, at: 103) == .awaitClosing(until: .seconds(104)))
    }

    @Test("LEAVE-5: the drain is over when the last socket has closed, or after its closing time; once")
    func end() {
        var drain = drain(1)
        #expect(step(&drain, at: 100) == .disconnect([1], askAgainAt: nil))
        #expect(step(&drain, at: 100) == .awaitClosing(until: .seconds(102)))
        var other = drain
        #expect(step(&drain, at: 101, hasOpenSockets: false) == .finish)
        #expect(step(&other, at: 102) == .finish)
        #expect(step(&other, at: 103) == .none)
        #expect(!other.awaitsClosing)
    }

    @Test("without clients a drain is over at once")
    func empty() {
        var drain = drain(0)
        #expect(step(&drain, at: 100, hasOpenSockets: false) == .finish)
    }

    @Test("a slice bounds what one turn does; the next slice is due at once")
    func slices() {
        var drain = drain(5, sliceCount: 2)
        drain.hurry()
        #expect(step(&drain, at: 100) == .disconnect([1, 2], askAgainAt: .seconds(100)))
        #expect(step(&drain, at: 100) == .disconnect([3, 4], askAgainAt: .seconds(100)))
        #expect(step(&drain, at: 100) == .disconnect([5], askAgainAt: nil))
    }

    private func step(_ drain: inout Drain, at seconds: Double, hasOpenSockets: Bool = true) -> Drain.Step {
        drain.nextStep(now: .seconds(seconds), hasOpenSockets: hasOpenSockets)
    }
}
