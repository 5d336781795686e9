import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@Suite("HIS-2: the time by which messages become too old")
struct TrimmingClockTests {
    private static let day: Int64 = 86_400_000
    private let start = WallTime(milliseconds: 1_700_000_000_000)

    /// The times of sweeps, one a minute, as days after the start. `offset` is that of the wall clock in each minute.
    private func sweeps(_ clock: inout TrimmingClock, _ offsets: [Int64]) -> [Double] {
        offsets.enumerated().map { minute, offset in
            let elapsed = Int64(minute + 1) * 60_000
            let wall = WallTime(milliseconds: start.milliseconds + elapsed + offset)
            let time = clock.step(wall, at: .seconds(Double(60 * (minute + 1))))
            return Double(time.milliseconds - start.milliseconds) / Double(Self.day)
        }
    }

    @Test("HIS-2: the time of a sweep is that of a wall clock that does not jump")
    func follows() {
        var clock = TrimmingClock(start, at: .seconds(0))
        let times = sweeps(&clock, [0, 0, 0])
        #expect(times == [1, 2, 3].map { Double($0) / 1_440 })
        #expect(!clock.isBehind)
    }

    @Test("HIS-2: a wall clock that is 31 days ahead for a minute makes nothing a day older")
    func jump() {
        var clock = TrimmingClock(start, at: .seconds(0))
        let times = sweeps(&clock, [0, 31 * Self.day, 0, 0])
        #expect(times.allSatisfy { $0 < 0.05 })
        #expect(!clock.isBehind)
    }

    @Test("HIS-2: the time catches up with a wall clock that stays ahead, and says so meanwhile")
    func catchesUp() {
        var clock = TrimmingClock(start, at: .seconds(0))
        let times = sweeps(&clock, Array(repeating: 10 * Self.day, count: 60))
        #expect(times.last.map { (0.9...1.1).contains($0) } == true)
        #expect(clock.isBehind)
        let later = start.milliseconds + 10 * Self.day + 11 * 3_600_000
        let wall = WallTime(milliseconds: later)
        #expect(clock.step(wall, at: .seconds(11 * 3_600)) == wall)
        #expect(!clock.isBehind)
    }

    @Test("HIS-2: a wall clock that is set back keeps more, and is believed again when it is right")
    func setBack() {
        var clock = TrimmingClock(start, at: .seconds(0))
        let times = sweeps(&clock, [0, -31 * Self.day, 0])
        #expect(times[1] < -30)
        #expect(times[2] == 3.0 / 1_440)
    }

    @Test("HIS-2: no clock makes the time overflow", arguments: [Int64.min, .max])
    func extremes(wall: Int64) {
        var clock = TrimmingClock(WallTime(milliseconds: wall == .min ? .max : .min), at: .seconds(0))
        let time = clock.step(WallTime(milliseconds: wall), at: .seconds(60))
        #expect(time.milliseconds <= max(wall, .min + 86_400_000))
        #expect(clock.isBehind == (wall == .max))
    }
}
