import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

@Suite("Redis log: invariants")
struct FollowedInvariantTests {
    private static let breaks: [(rule: String, change: @Sendable (inout FollowedSession) -> Void)] = [
        ("LOG-10", { $0.stage = .opening }),
        (
            "LOG-3",
            {
                $0.own.append(counter: 4, bytes: [7], now: .seconds(1))
                $0.own.append(counter: 4, bytes: [7], now: .seconds(1))
            }
        ),
        ("LOG-33", { _ = $0.inbox.receive(SessionBench.entry(4), now: .seconds(1)) }),
        ("LOG-35", { $0.catchUps.append(.until(3)) }),
    ]

    @Test("a broken session names the rule", arguments: breaks.indices)
    func brokenSession(index: Int) {
        let bench = SessionBench.followed(.verified)
        #expect(bench.session.violation == nil)
        Self.breaks[index].change(&bench.session)
        let violation = bench.session.violation
        #expect(violation?.hasPrefix(Self.breaks[index].rule + ": ") == true, "\(violation ?? "none")")
    }
}
