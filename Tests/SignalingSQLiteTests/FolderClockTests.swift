import SignalingProtocol
import Synchronization
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("LOG-4: the log's time")
struct FolderClockTests {
    @Test("LOG-4: time begins at the wall clock and follows the monotonic clock")
    func beginsAtTheWallClock() {
        let clock = FolderClock(
            opened: .seconds(100), wallTime: WallTime(milliseconds: 5_000), lastKept: .seconds(3))
        #expect(clock.time(at: .seconds(100)) == .seconds(5))
        #expect(clock.time(at: .seconds(102)) == .seconds(7))
    }

    @Test("LOG-4: a wall clock that was set back does not move time backwards")
    func neverBehindTheLastKeptTime() {
        let clock = FolderClock(
            opened: .seconds(100), wallTime: WallTime(milliseconds: 5_000), lastKept: .seconds(3_600))
        #expect(clock.time(at: .seconds(101)) == .seconds(3_601))
    }

    @Test("HIS-6, MOD-2: a state that takes seconds to open does not set the log's time back")
    func longOpening() throws {
        let bench = try LogBench()
        let calls = Mutex(0)
        try bench.start(
            wallTime: 1_000_000,
            clock: {
                calls.withLock { calls in
                    calls += 1
                    return .seconds(calls == 1 ? 10 : 15)
                }
            })
        #expect(try bench.open.time(at: .seconds(15)) == .seconds(1_005))
    }

    @Test("LOG-4: stamps do not decrease when the caller's instants do")
    func stampsDoNotDecrease() {
        var clock = FolderClock(opened: .seconds(100), wallTime: WallTime(milliseconds: 5_000), lastKept: .seconds(0))
        expectEqual(clock.stamp(.seconds(110)), .seconds(15))
        expectEqual(clock.stamp(.seconds(109)), .seconds(15))
        expectEqual(clock.stamp(.seconds(111)), .seconds(16))
    }

    @Test("LOG-4: times at the ends of the clock saturate", arguments: [Int64.min, .max])
    func saturates(milliseconds: Int64) {
        var clock = FolderClock(
            opened: .seconds(0), wallTime: WallTime(milliseconds: milliseconds),
            lastKept: MonotonicInstant(nanoseconds: .max))
        expectEqual(clock.stamp(.seconds(10)), MonotonicInstant(nanoseconds: .max))
    }
}
