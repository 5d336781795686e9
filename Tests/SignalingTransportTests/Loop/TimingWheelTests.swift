import SignalingProtocol
import SignalingTransport
import TestSupport
import Testing

@Suite("A timing wheel")
struct TimingWheelTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("expires exactly the keys that are due, and none a nanosecond early")
    func exact() {
        var wheel = TimingWheel<String>(resolution: .milliseconds(10), slotCount: 8)
        wheel.schedule("a", at: MonotonicInstant(nanoseconds: 5_000_001))
        #expect(wheel.nextDeadline == MonotonicInstant(nanoseconds: 5_000_001))
        #expect(wheel.expire(upTo: MonotonicInstant(nanoseconds: 5_000_000)) == [])
        #expect(wheel.expire(upTo: MonotonicInstant(nanoseconds: 5_000_001)) == ["a"])
        #expect(wheel.isEmpty && wheel.nextDeadline == nil)
    }

    @Test("a key has one deadline: the one that was set last")
    func reschedule() {
        var wheel = TimingWheel<Int>(resolution: .milliseconds(10), slotCount: 8)
        wheel.schedule(1, at: at(5))
        wheel.schedule(1, at: at(500))
        #expect(wheel.count == 1)
        #expect(wheel.expire(upTo: at(499)) == [])
        wheel.schedule(1, at: at(400))  // in the past by now
        #expect(wheel.expire(upTo: at(499)) == [1])
        wheel.schedule(2, at: at(600))
        wheel.cancel(2)
        wheel.cancel(2)
        #expect(wheel.expire(upTo: at(10_000)) == [])
    }

    @Test("agrees with a plain dictionary over random operations", arguments: 0..<40)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var wheel = TimingWheel<Int>(
            resolution: .milliseconds([1, 7, 100][Int(seed % 3)]), slotCount: [2, 8, 64][Int(seed / 3 % 3)])
        var model: [Int: Int64] = [:]
        var now: Int64 = Bool.random(using: &random) ? -3_000_000_000 : 1_000_000_000
        for _ in 0..<2000 {
            let key = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let deadline = now + Int64.random(in: 0..<3_000_000_000, using: &random) - 50_000_000
                wheel.schedule(key, at: MonotonicInstant(nanoseconds: deadline))
                model[key] = deadline
            case 5:
                wheel.cancel(key)
                model[key] = nil
            default:
                let isLeap = Int.random(in: 0..<10, using: &random) == 0
                now += Int64.random(in: 0..<(isLeap ? 5_000_000_000 : 30_000_000), using: &random)
                let expired = Set(wheel.expire(upTo: MonotonicInstant(nanoseconds: now)))
                let expected = Set(model.filter { $0.value <= now }.keys)
                #expect(expired == expected, "seed \(seed)")
                for key in expected { model[key] = nil }
            }
            #expect(wheel.count == model.count)
            #expect(wheel.nextDeadline?.nanoseconds == model.values.min(), "seed \(seed)")
            #expect(wheel.contains(key) == (model[key] != nil))
        }
    }
}
