import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Rate limits")
struct RateLimitTests {
    @Test("REST-6, G5: each project has its own rate, and a refused request does not count")
    func requests() {
        var rates = RequestRates(limit: RateLimit(perSecond: 2, burst: 3))
        let ada = APIKey("100")
        let waits = [0, 0, 0, 0, 0, 0.5, 0.5].map { rates.admit(ada, now: .seconds($0)) }
        #expect(waits == [nil, nil, nil, .seconds(1), .seconds(1), nil, .seconds(1)])
        #expect(rates.admit(APIKey("101"), now: .seconds(0.5)) == nil)
        var unlimited = RequestRates(limit: nil)
        for _ in 0..<10_000 { #expect(unlimited.admit(ada, now: .seconds(0)) == nil) }
    }

    @Test("REST-6: each 100 items of a list count as a request, and a list never as more than a second's requests")
    func lists() {
        let (ada, bob) = (APIKey("100"), APIKey("101"))
        func admitted(after itemCount: Int) -> Int {
            var rates = RequestRates(limit: RateLimit(perSecond: 10, burst: 50))
            rates.charge(ada, itemCount: itemCount, now: .seconds(0))
            #expect(rates.admit(bob, now: .seconds(0)) == nil)
            return (0..<100).count { _ in rates.admit(ada, now: .seconds(0)) == nil }
        }
        #expect([0, 99, 100, 350, 1_000, 1_000_000].map(admitted) == [50, 50, 49, 47, 40, 40])
        var rates = RequestRates(limit: RateLimit(perSecond: 10, burst: 10))
        // The list was read already, so it counts although the rate is used up. The next request waits for it.
        for _ in 0..<10 { _ = rates.admit(ada, now: .seconds(0)) }
        rates.charge(ada, itemCount: 1_000, now: .seconds(0))
        #expect(rates.admit(ada, now: .seconds(1)) == .seconds(1))
        #expect(rates.admit(ada, now: .seconds(1.1)) == nil)
        var unlimited = RequestRates(limit: nil)
        unlimited.charge(ada, itemCount: .max, now: .seconds(0))
        #expect(unlimited.admit(ada, now: .seconds(0)) == nil)
    }

    // MARK: Signals

    private func outcome(
        _ session: inout SessionState, at seconds: Double = 0, request: Int64? = nil, socket: UInt64 = 1,
        from name: String? = "ada", _ signal: SignalRequest = SignalRequest(type: "chat")
    ) -> String {
        var effects: [SessionEffect] = []
        let sender = name.map { CommandSender.connection(SocketBinding($0, socket), request.map(RequestID.init)) }
        return session.handle(.signal(sender ?? .server, signal), now: .seconds(seconds), effects: &effects)
            .testDescription
    }

    @Test("SIG-11, ERR-2: signals over the limit are refused with 429; other connections and REST are not affected")
    func signals() {
        var session = SessionState(signalRate: RateLimit(perSecond: 1, burst: 2))
        session.join("ada")
        session.join("bob")
        #expect(outcome(&session) == "signalled 3")
        #expect(outcome(&session) == "signalled 4")
        #expect(outcome(&session) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(outcome(&session, from: "bob") == "signalled 5")
        for seq in 6..<20 { #expect(outcome(&session, from: nil) == "signalled \(seq)") }
        #expect(outcome(&session, at: 1) == "signalled 20")
        #expect(outcome(&session, at: 1) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(session.log.lastSeq == Seq(20))
    }

    @Test("SIG-5: the rate is checked first, so that refused signals are limited, too")
    func order() {
        var session = SessionState(signalRate: RateLimit(perSecond: 1, burst: 1))
        session.join("ada", .publisherOnly)
        #expect(outcome(&session) == "refused 403 OT_PERMISSION_DENIED")
        #expect(outcome(&session) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
    }

    @Test(
        "SIG-11, RES-9: a repeated signal is acknowledged again without using the limit, and a resume does not renew it"
    )
    func repeated() {
        var session = SessionState(signalRate: RateLimit(perSecond: 1, burst: 1))
        session.join("ada")
        #expect(outcome(&session, request: 2) == "signalled 2")
        #expect(outcome(&session, request: 3) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        var effects: [SessionEffect] = []
        let back = JoinRequest(
            connectionId: client("fresh"), socket: SocketID(2), role: .publisher, data: "name=ada",
            wallTime: WallTime(milliseconds: 0), secretHash: hash("new"),
            resumption: Resumption(
                connectionId: client("ada"), secretHash: hash("ada-1"), epoch: Epoch("e"), after: Seq(2)))
        #expect(
            session.handle(.join(back), now: .seconds(0.1), effects: &effects).testDescription
                == "joined ada at 2 resumed through 2")
        #expect(outcome(&session, at: 0.1, request: 2, socket: 2) == "signalled 2")
        #expect(outcome(&session, at: 0.1, request: 3, socket: 2) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(outcome(&session, at: 0.1, request: 4, socket: 2) == "refused 429 OT_RATE_LIMIT_EXCEEDED")
        #expect(outcome(&session, at: 1.1, request: 5, socket: 2) == "signalled 3")
    }

    // MARK: Online-only signals

    private func onlineOnly(
        _ session: inout SessionState, at seconds: Double, from name: String = "ada", to target: String? = nil
    ) -> [String] {
        var effects: [SessionEffect] = []
        let request = SignalRequest(type: "typing", to: target.map { client($0) }, isOnlineOnly: true)
        let outcome = session.handle(
            .signal(.connection(SocketBinding(name), nil), request), now: .seconds(seconds), effects: &effects)
        return [outcome.testDescription]
            + effects.map { effect in
                if case .onlineOnly = effect { "relayed" } else { effect.testDescription }
            }
    }

    @Test(
        "SIG-12, SIG-11: online-only signals over their rate are acknowledged and dropped, and do not count as signals")
    func onlineOnlyRate() {
        var session = SessionState(
            signalRate: RateLimit(perSecond: 1, burst: 1), onlineOnlyRate: RateLimit(perSecond: 1, burst: 2))
        session.join("ada")
        session.join("bob")
        #expect(onlineOnly(&session, at: 0) == ["signalled", "relayed"])
        #expect(onlineOnly(&session, at: 0) == ["signalled", "relayed"])
        #expect(onlineOnly(&session, at: 0) == ["signalled", "online-only dropped: tooOften"])
        #expect(onlineOnly(&session, at: 0, from: "bob") == ["signalled", "relayed"])
        #expect(onlineOnly(&session, at: 0, to: "nobody") == ["refused 404 OT_NOT_FOUND"])
        #expect(outcome(&session) == "signalled 3")
        #expect(onlineOnly(&session, at: 1) == ["signalled", "relayed"])
        #expect(session.log.lastSeq == Seq(3))
    }

    @Test("SIG-12: in a session over the limit online-only broadcasts are dropped, and directed signals are relayed")
    func crowd() {
        var session = SessionState(onlineOnlyConnectionCount: 2)
        session.join("ada")
        session.join("bob")
        #expect(onlineOnly(&session, at: 0) == ["signalled", "relayed"])
        session.join("eve")
        #expect(onlineOnly(&session, at: 0) == ["signalled", "online-only dropped: tooManyConnections"])
        #expect(onlineOnly(&session, at: 0, to: "bob") == ["signalled", "relayed"])
        session.leave("eve")
        #expect(onlineOnly(&session, at: 0) == ["signalled", "relayed"])
    }
}
