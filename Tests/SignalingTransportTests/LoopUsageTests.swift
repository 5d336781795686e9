import SignalingProtocol
import Testing

@testable import SignalingTransport

@Suite("How busy a loop is")
struct LoopUsageTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("a turn is the time since the last one without the wait")
    func turns() {
        var usage = LoopUsage()
        usage.noteTurn(now: at(0), idle: .zero)
        #expect(usage.turnCount == 0)
        usage.noteTurn(now: at(100), idle: .milliseconds(90))
        usage.noteTurn(now: at(130), idle: .milliseconds(95))
        #expect(usage.turnCount == 2 && usage.busyTime == .milliseconds(35))
        #expect(usage.longestTurn == .milliseconds(25))
    }

    @Test("the longest turn is forgotten after one to two windows")
    func window() {
        var usage = LoopUsage()
        usage.noteTurn(now: at(0), idle: .zero)
        usage.noteTurn(now: at(500), idle: .zero)
        usage.noteTurn(now: at(31_000), idle: .milliseconds(30_490))
        #expect(usage.longestTurn == .milliseconds(500))
        usage.noteTurn(now: at(62_000), idle: .milliseconds(61_480))
        #expect(usage.longestTurn == .milliseconds(10))
        // A long wait ends both windows.
        usage.noteTurn(now: at(200_000), idle: .milliseconds(199_479))
        #expect(usage.longestTurn == .milliseconds(1))
    }

    @Test("the load is the share of the last 50 to 100 ms, and a long pause is forgotten like other time")
    func load() {
        var usage = LoopUsage()
        #expect(usage.loadPercent == 0)
        usage.noteTurn(now: at(0), idle: .zero)
        // Turns of 1 ms, every 5 ms.
        for turn in 1...10 { usage.noteTurn(now: at(Int64(turn * 5)), idle: .milliseconds(turn * 4)) }
        #expect(usage.loadPercent == 20)
        // From now on without a wait.
        for turn in 11...15 { usage.noteTurn(now: at(Int64(turn * 5)), idle: .milliseconds(40)) }
        #expect(usage.loadPercent == (10 + 25) * 100 / 75)
        #expect(!usage.isBusy)
        for turn in 16...30 { usage.noteTurn(now: at(Int64(turn * 5)), idle: .milliseconds(40)) }
        #expect(usage.loadPercent == 100)
        #expect(usage.isBusy)
        usage.noteTurn(now: at(10_150), idle: .milliseconds(10_039))
        #expect(usage.loadPercent == 0)
        usage.noteTurn(now: at(10_200), idle: .milliseconds(10_079))
        usage.noteTurn(now: at(10_250), idle: .milliseconds(10_119))
        #expect(usage.loadPercent == 20)
    }
}
