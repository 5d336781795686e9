import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: the registry of nodes, and the places of sessions")
struct NodeRegistryTests {
    private let run = RunID(1)

    @Test("LOG-32: a missing sign of life means a death only if Redis has answered without a pause")
    func registry() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        func second(_ value: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: value * 1_000_000_000) }
        let absent = NodeRegistry.Listed(run: run, lostAt: nil, hasSignOfLife: false, hasSessions: false)
        func overdue(after beats: some Sequence<Int64>) -> [RunID] {
            var last: Int64 = 0
            for beat in beats {
                _ = registry.update([absent], now: second(beat), logTime: second(beat))
                last = beat
            }
            return registry.overdue(now: second(last))
        }
        let early = overdue(after: 0...14)
        #expect(early.isEmpty)
        let late = overdue(after: 15...15)
        #expect(late == [run])
        // A pause of five seconds.
        let afterPause = overdue(after: 20...20)
        #expect(afterPause.isEmpty)
        let later = overdue(after: 21...35)
        #expect(later == [run])
        registry.interrupt()
        #expect(registry.overdue(now: second(35)).isEmpty)
        let lost = NodeRegistry.Listed(run: run, lostAt: second(9), hasSignOfLife: false, hasSessions: false)
        let news = registry.update([lost], now: second(36), logTime: second(36))
        #expect(news == [run])
        let old = registry.update([lost], now: second(37), logTime: second(37))
        #expect(old.isEmpty)
        #expect(registry.losses[run] == second(9))
    }

    @Test("LOG-32, G5: a loss that Redis has forgotten after a week is forgotten here, too")
    func oldLosses() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        let week = Duration.seconds(7 * 86_400)
        let lostAt = MonotonicInstant(nanoseconds: 0)
        let lost = NodeRegistry.Listed(run: run, lostAt: lostAt, hasSignOfLife: false, hasSessions: false)
        _ = registry.update([lost], now: lostAt, logTime: lostAt.advanced(by: week))
        #expect(registry.losses[run] != nil)
        _ = registry.update([], now: lostAt, logTime: lostAt.advanced(by: week + .seconds(1)))
        #expect(registry.losses.isEmpty)
    }

    @Test("LOG-32: a run that Redis has forgotten, or does not know, is suspected until it registers or is lost")
    func forgottenRuns() {
        var registry = NodeRegistry(times: NodeRegistry.Times())
        func second(_ value: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: value * 1_000_000_000) }
        let alive = NodeRegistry.Listed(run: run, lostAt: nil, hasSignOfLife: true, hasSessions: true)
        let unknown = RunID(77)
        _ = registry.update([alive], now: second(0), logTime: second(0))
        for beat in 1...20 { _ = registry.update([], now: second(Int64(beat)), logTime: second(Int64(beat))) }
        registry.suspect(unknown)
        #expect(registry.overdue(now: second(20)) == [run, unknown].sorted { $0.rawValue < $1.rawValue })
        _ = registry.update([alive], now: second(21), logTime: second(21))
        #expect(registry.overdue(now: second(21)) == [unknown])
        let isNews = registry.lose(unknown, at: second(22))
        #expect(isNews)
        registry.suspect(unknown)
        _ = registry.update([alive], now: second(23), logTime: second(23))
        #expect(registry.overdue(now: second(23)).isEmpty)
    }

    @Test("LOG-36: a further Redis moves only its share of the sessions")
    func jumpHash() {
        let sessions = (0..<10_000).map { SessionID(rawValue: "session-\($0)") }
        for count in 1...5 {
            let before = sessions.map { JumpHash.bucket(of: $0, count: count) }
            let after = sessions.map { JumpHash.bucket(of: $0, count: count + 1) }
            #expect(Set(before) == Set(0..<count))
            let moved = zip(before, after).filter { $0 != $1 }
            #expect(moved.allSatisfy { $0.1 == count })
            #expect(abs(moved.count - 10_000 / (count + 1)) < 500)
        }
        // The same in every process and version.
        #expect(JumpHash.fnv1a("session-1") == 0x1688_595d_cf49_184d)
    }
}
