import CoreTestSupport
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("When the loop commits by itself")
struct DirectCommitRuleTests {
    private func command(_ byteCount: Int = 10) -> LogWork {
        let position = LogPosition(number: 1, id: CommandID(run: RunID(1), counter: 1))
        return .append(
            SessionKey(1),
            CommandEntry(
                session: "a", position: position, time: .seconds(0), bytes: [UInt8](repeating: 0, count: byteCount)))
    }

    @Test("LOG-25: a few short commands may be committed on the loop, and nothing that takes longer")
    func permitted() {
        let rules = DirectCommits()
        let key = SessionKey(1)
        let permitted: [[LogWork]] = [
            [command()], [.begin(key, "a"), command()], Array(repeating: command(1_024), count: 16),
            [command(16 << 10)],
        ]
        for work in permitted { #expect(rules.permits(work, now: .seconds(0)), "\(work.count) steps") }
        let refused: [[LogWork]] = [
            Array(repeating: command(), count: 17), [command(16 << 10), command(1)], [.end(key)],
            [.wake(key, "a")], [.scrub(ScrubPass())], [.forget([], at: .seconds(0))],
            [.cover(key, "a", through: .none)],
        ]
        for work in refused { #expect(!rules.permits(work, now: .seconds(0)), "\(work.count) steps") }
    }

    @Test("LOG-25: after a long commit the loop leaves the work to the thread, for a hundred times as long")
    func rest() {
        var rules = DirectCommits()
        func permits(at milliseconds: Int64) -> Bool {
            rules.permits([command()], now: MonotonicInstant(nanoseconds: milliseconds * 1_000_000))
        }
        rules.note(.milliseconds(2), endedAt: .seconds(0))
        #expect(permits(at: 0))
        rules.note(.milliseconds(3), endedAt: .seconds(0))
        #expect(!permits(at: 299))
        #expect(permits(at: 300))
        rules.note(.microseconds(40), endedAt: .seconds(2))
        #expect(permits(at: 2_000))
    }
}
