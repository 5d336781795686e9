import Testing

@testable import LoadTools

@Suite("The plan of a load")
struct LoadPlanTests {
    private func plan(
        rooms: Int = 2, members: Int = 3, rate: Int = 5, bytes: Int = 128, seconds: Int = 2, warmUp: Int = 1,
        limit: Int = 250
    ) -> LoadPlan {
        LoadPlan(
            rooms: rooms, members: members, rate: rate, bytes: bytes, seconds: seconds, warmUpSeconds: warmUp,
            limitMilliseconds: limit)
    }

    @Test("every number outside of its range is refused with its name and the range")
    func ranges() {
        #expect(plan().problem == nil)
        let wrong: [(LoadPlan, String)] = [
            (plan(rooms: 0), "--rooms is 0. Use a number from 1 to 2000."),
            (plan(members: 2_001), "--members is 2001. Use a number from 1 to 2000."),
            (plan(rate: -1), "--rate is -1. Use a number from 0 to 2000."),
            (plan(bytes: 31), "--bytes is 31. Use a number from 32 to 8192."),
            (plan(seconds: 601), "--seconds is 601. Use a number from 1 to 600."),
            (plan(warmUp: 61), "--warm-up is 61. Use a number from 0 to 60."),
            (plan(limit: 0), "--limit is 0. Use a number from 1 to 10000."),
        ]
        for (plan, text) in wrong { #expect(plan.problem == text) }
    }

    @Test("the sums over all rooms have bounds, too")
    func sums() {
        #expect(plan(rooms: 101, members: 200).problem?.contains("20200 members") == true)
        #expect(plan(rooms: 201, members: 1, rate: 100).problem?.contains("20100 signals per second") == true)
        #expect(plan(rooms: 1, members: 2_000, rate: 251).problem?.contains("502000 deliveries per second") == true)
        #expect(plan(rooms: 1, members: 2_000, rate: 250).problem == nil)
        #expect(plan(rooms: 2_000, members: 10, rate: 0).problem == nil)
    }

    @Test("signals are evenly spaced, and each room and member gets its turn")
    func steps() {
        let plan = plan()
        #expect(plan.stepCount == 30)
        let steps = (0..<plan.stepCount).map { plan.step($0) }
        #expect(steps.map(\.at) == (0..<30).map { .milliseconds($0 * 100) })
        #expect(steps.prefix(7).map(\.room) == [0, 1, 0, 1, 0, 1, 0])
        #expect(steps.prefix(7).map(\.member) == [0, 0, 1, 1, 2, 2, 0])
    }

    @Test("a rate that does not divide a second does not drift")
    func noDrift() {
        let plan = plan(rooms: 7, rate: 1)
        #expect(plan.step(7).at == .seconds(1) && plan.step(20).at < .seconds(3) && plan.step(14).at == .seconds(2))
    }
}
