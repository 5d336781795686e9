import SignalingProtocol
import SignalingTransport
import Testing

@Suite("A timing wheel")
struct TimingWheelTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("expires exactly what is due, not a nanosecond early")
    func exact() {
        var wheel = TimingWheel<String>(resolution: .milliseconds(10), slotCount: 8)
        wheel.schedule("a", at: MonotonicInstant(nanoseconds: 5_000_001))
        #expect(wheel.nextDeadline == MonotonicInstant(nanoseconds: 5_000_001))
        #expect(wheel.expire(upTo: MonotonicInstant(nanoseconds: 5_000_000)) == [])
        #expect(wheel.expire(upTo: MonotonicInstant(nanoseconds: 5_000_001)) == ["a"])
        #expect(wheel.isEmpty && wheel.nextDeadline == nil)
    }

    @Test("a key has one deadline, the last one it was given")
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
        var random = SplitMix(state: seed)
        var wheel = TimingWheel<Int>(
            resolution: .milliseconds([1, 7, 100][Int(seed % 3)]), slotCount: [2, 8, 64][Int(seed / 3 % 3)])
        var model: [Int: Int64] = [:]
        var now: Int64 = random.next(below: 2) == 0 ? -3_000_000_000 : 1_000_000_000
        for _ in 0..<2000 {
            let key = Int(random.next(below: 60))
            switch random.next(below: 10) {
            case 0..<5:
                let deadline = now + Int64(random.next(below: 3_000_000_000)) - 50_000_000
                wheel.schedule(key, at: MonotonicInstant(nanoseconds: deadline))
                model[key] = deadline
            case 5:
                wheel.cancel(key)
                model[key] = nil
            default:
                now += Int64(random.next(below: random.next(below: 10) == 0 ? 5_000_000_000 : 30_000_000))
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

/// A small generator with a seed, so that a failure can be seen again.
struct SplitMix {
    var state: UInt64

    mutating func next(below bound: UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return (value ^ (value >> 31)) % bound
    }
}
