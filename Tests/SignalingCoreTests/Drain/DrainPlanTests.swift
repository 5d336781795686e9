import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@Suite("When a stopping server disconnects its clients")
struct DrainPlanTests {
    private func plan(_ count: Int, longest: Double = 5) -> DrainPlan {
        DrainPlan(count: count, longest: .milliseconds(Int(longest * 1000)), startedAt: .seconds(100))
    }

    @Test(
        "LEAVE-5: a few clients go at once, many share the time evenly, and all are gone at its end",
        arguments: [
            (0, 5, 0.0), (1, 5, 0.001), (20, 5, 0.004), (5_000, 5, 1), (25_000, 5, 5), (50_000, 5, 5),
            (5_000, 0.5, 0.5), (50_000, 0, 0),
        ])
    func spread(_ count: Int, _ longest: Double, _ seconds: Double) {
        let plan = plan(count, longest: longest)
        #expect(plan.dueCount(at: .seconds(100 + seconds)) == count)
        if seconds >= 0.5 {
            #expect(plan.dueCount(at: .seconds(100)) == 1)
            #expect(abs(plan.dueCount(at: .seconds(100 + seconds / 2)) - count / 2) <= 1)
            #expect(plan.dueCount(at: .seconds(100 + seconds * 0.99)) < count)
        }
    }

    @Test("each client is due at its moment, and not before")
    func moments() {
        let plan = plan(2_000)
        for index in [0, 1, 2, 999, 1_000, 1_999] {
            let moment = plan.moment(of: index)
            #expect(plan.dueCount(at: moment.advanced(by: .microseconds(1))) > index)
            if index > 0 { #expect(plan.dueCount(at: moment.advanced(by: .microseconds(-1))) <= index) }
        }
    }

    @Test("LEAVE-5: no client is asked back before the last one was disconnected, and they are asked back one by one")
    func returning() {
        let plan = plan(25_000)
        #expect(plan.returnWait(at: .seconds(100), random: 0) == .milliseconds(5_250))
        #expect(plan.returnWait(at: .seconds(100), random: 1) == .milliseconds(10_250))
        #expect(plan.returnWait(at: .seconds(104), random: 0.5) == .milliseconds(3_750))
        #expect(plan.returnWait(at: .seconds(200), random: 0.5) == .milliseconds(2_750))
        // A few clients: as after any lost socket.
        #expect(self.plan(3).returnWait(at: .seconds(101), random: 1) == .milliseconds(250))
        #expect(self.plan(3).returnWait(at: .seconds(101), random: 0) == .zero)
    }

    @Test("RES-13: no wait is longer than clients accept")
    func bound() {
        let plan = plan(1_000_000, longest: 300)
        #expect(plan.returnWait(at: .seconds(100), random: 1) == Limits.longestReconnectWait)
    }

    @Test("hurry makes every client due now")
    func hurry() {
        var plan = plan(25_000)
        plan.hurry()
        #expect(plan.dueCount(at: .seconds(100)) == 25_000)
        #expect(plan.moment(of: 24_999) == .seconds(100))
    }

    @Test(
        "LEAVE-5: clients that are disconnected at once return spread over the time in which a server takes them back",
        arguments: [(1, 250), (1_000, 250), (5_000, 1_000), (1_000_000_000, 60_000)])
    func returnAtOnce(_ count: Int, _ milliseconds: Int) {
        let waits = [0, 0.5, 1].map { DrainPlan.returnWait(ofEach: count, pace: DrainPlan.Pace(), random: $0) }
        #expect(waits == [.zero, .milliseconds(milliseconds / 2), .milliseconds(milliseconds)])
    }
}
