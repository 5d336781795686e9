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
}
