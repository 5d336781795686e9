import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Restrictions and the socket")
struct ModeratedConnectionTests {
    @Test("MOD-3: a banned client gets 1570 with the restriction, and close code 4501")
    func banned() {
        var state = Phase.joining.state
        let error = SignalingError(.userBanned, "banned", restriction: Restriction(.ban, reason: "Spam"))
        let effects = state.handle(.answered(RequestID(1), .refused(error)), now: .seconds(2))
        guard case .send(.error(RequestID(1), let sent))? = effects.first else {
            Issue.record("\(effects.map(\.testDescription))")
            return
        }
        #expect(sent.code == .userBanned && sent.restriction == Restriction(.ban, reason: "Spam"))
        #expect(effects.map(\.testDescription).last == "close 4501" && state.isClosing)
    }

    @Test("MOD-5, USR-1: the join has the token's user, and connected what holds")
    func join() throws {
        var state = Phase.authenticating.state
        var admission = ConnectionState.Admission.test
        admission.user = "u-17"
        let asked = state.handle(.authenticated(.success(admission)), now: .seconds(1))
        guard case .submit(.join(let request), _, _)? = asked.first else {
            Issue.record("\(asked.map(\.testDescription))")
            return
        }
        #expect(request.user == "u-17")
        var result = JoinResult.test
        result.restrictions = [Restriction(.mute), Restriction(.freeze)]
        let effects = state.handle(.answered(RequestID(1), .joined(result)), now: .seconds(1))
        guard case .enter(_, let welcome, _)? = effects.first else {
            Issue.record("\(effects.map(\.testDescription))")
            return
        }
        #expect(welcome.restrictions == result.restrictions)
    }

    @Test("MOD-6, WIRE-15: an answer with many restrictions counts for each 1,024 bytes")
    func charged() {
        let restriction = Restriction(.ban, reason: String(repeating: "x", count: 200))
        let record = RestrictionRecord(
            ref: Seq(1), subject: .user("u"), restriction: restriction, time: WallTime(milliseconds: 1), by: nil)
        for (count, isPaused) in [(1, false), (64, true)] {
            var state = ConnectionState(openedAt: .seconds(0), inputRate: RateLimit(perSecond: 1, burst: 10))
            _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
            _ = state.handle(.authenticated(.success(.test)), now: .seconds(1))
            _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1))
            _ = state.handle(.received(.restrictions(RequestID(2))), now: .seconds(1))
            let records = Array(repeating: record, count: count)
            _ = state.handle(.answered(RequestID(2), .restrictions(records)), now: .seconds(1))
            #expect(state.isReadingPaused == isPaused)
        }
    }
}
