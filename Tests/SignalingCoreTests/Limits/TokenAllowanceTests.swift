import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// SIG-11: the connections with one access token share an allowance.
@Suite("Allowances of access tokens")
struct TokenAllowanceTests {
    private let rate = RateLimit(perSecond: 2, burst: 4)

    private func session(resumeSeconds: Int64 = 60) -> SessionState {
        SessionState(
            id: room, epoch: Epoch("e"),
            bounds: SessionState.Bounds(resumeWindow: .seconds(resumeSeconds), signalRate: rate))
    }

    private func join(_ session: inout SessionState, _ name: String, token: UInt64?, at seconds: Double = 0) {
        var effects: [SessionEffect] = []
        var request = JoinRequest(
            connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 0))
        request.token = token.map(TokenFingerprint.init)
        _ = session.handle(.join(request), now: .seconds(seconds), effects: &effects)
    }

    private func leave(_ session: inout SessionState, _ name: String, at seconds: Double = 0) {
        var effects: [SessionEffect] = []
        _ = session.handle(
            .leave(SocketBinding(name), .clientDisconnected), now: .seconds(seconds), effects: &effects)
    }

    /// Sends signals until one is refused.
    ///
    /// - Returns: the number of acknowledged ones; at most 100.
    private func flood(_ session: inout SessionState, from name: String, at seconds: Double = 0) -> Int {
        var effects: [SessionEffect] = []
        for count in 0..<100 {
            let outcome = session.handle(
                .signal(.connection(SocketBinding(name), nil), SignalRequest(type: "chat")), now: .seconds(seconds),
                effects: &effects)
            guard case .signalled = outcome else {
                #expect(outcome.testDescription == "refused 429 OT_RATE_LIMIT_EXCEEDED")
                return count
            }
        }
        return 100
    }

    @Test("LOG-7: under the rules before, connections share no allowance, until a node with newer rules acts")
    func rulesBefore() throws {
        var session = SessionState(
            id: room, epoch: Epoch("e"), bounds: SessionState.Bounds(signalRate: rate), rules: .first)
        for turn in 0..<8 {
            join(&session, "ada\(turn)", token: 1)
            #expect(flood(&session, from: "ada\(turn)") == 4)
        }
        #expect(session.encoded().first == 1)
        var copy = try SessionState(decoding: session.encoded())
        #expect(copy.rules == .first)
        let position = LogPosition(number: 1, id: CommandID(run: RunID(1), counter: 1))
        copy.beginCommand(at: position, by: .tokenAllowances)
        copy.beginCommand(at: position, by: .first)
        #expect(copy.rules == .tokenAllowances, "an entry that was on its way does not bring the older rules back")
        for turn in 8..<16 {
            join(&copy, "ada\(turn)", token: 1)
            #expect(flood(&copy, from: "ada\(turn)") == (turn < 13 ? 4 : 0))
        }
        #expect(copy.encoded().first == 2)
        #expect(try SessionState(decoding: copy.encoded()).encoded() == copy.encoded())
    }

    @Test("SIG-11: a client that leaves and joins again has five bursts, and then the rate of five connections")
    func leavesAndJoins() {
        var session = session()
        join(&session, "bob", token: 2)
        var counts: [Int] = []
        for turn in 0..<8 {
            join(&session, "ada\(turn)", token: 1)
            counts.append(flood(&session, from: "ada\(turn)"))
            leave(&session, "ada\(turn)")
        }
        #expect(counts == [4, 4, 4, 4, 4, 0, 0, 0])
        #expect(flood(&session, from: "bob") == 4, "another token has its own allowance")
        join(&session, "ada", token: 1, at: 0.3)
        #expect(flood(&session, from: "ada", at: 0.3) == 3, "ten per second")
    }

    @Test("SIG-11: several connections at once share the allowance, and each keeps its own limit")
    func together() {
        var session = session()
        for number in 0..<8 { join(&session, "ada\(number)", token: 1) }
        #expect((0..<8).map { flood(&session, from: "ada\($0)") } == [4, 4, 4, 4, 4, 0, 0, 0])
        // The shared bucket is full after 2 s. A refused signal has taken nothing from a connection's own.
        #expect((0..<8).map { flood(&session, from: "ada\(7 - $0)", at: 2) } == [4, 4, 4, 4, 4, 0, 0, 0])
    }

    @Test("SIG-11: connections whose token is not known have their own limits only")
    func withoutToken() {
        var session = session()
        for number in 0..<8 { join(&session, "ada\(number)", token: nil) }
        #expect((0..<8).map { flood(&session, from: "ada\($0)") } == Array(repeating: 4, count: 8))
        #expect(session.signalAllowances == TokenAllowances())
    }

    @Test("SIG-11: an empty session is kept until its tokens have their allowances again, and not longer")
    func emptySession() {
        var session = session()
        join(&session, "ada", token: 1)
        #expect(flood(&session, from: "ada") == 4)
        #expect(session.nextDeadline == nil, "no timer after each signal")
        leave(&session, "ada")
        #expect(session.isEmpty && session.isNeeded)
        #expect(session.nextDeadline == .seconds(0.4))
        session.advance(to: .seconds(0.399))
        #expect(session.isNeeded)
        session.advance(to: .seconds(0.4))
        #expect(!session.isNeeded && session.nextDeadline == nil)
        #expect(session.signalAllowances == TokenAllowances())
    }

    @Test("LOG-5, SIG-11: a session that was written and read goes on with the same allowances")
    func coding() throws {
        var session = session()
        for number in 0..<6 { join(&session, "ada\(number)", token: UInt64(number % 2)) }
        for number in 0..<4 { #expect(flood(&session, from: "ada\(number)") == 4) }
        let bytes = session.encoded()
        #expect(bytes.first == RulesVersion.current.rawValue)
        var copy = try SessionState(decoding: bytes)
        #expect(portrait(copy) == portrait(session))
        for number in 0..<6 {
            #expect(flood(&copy, from: "ada\(number)", at: 1) == flood(&session, from: "ada\(number)", at: 1))
        }
        #expect(copy.encoded() == session.encoded())
    }

    @Test("SIG-11: a changed rate takes effect for tokens, too")
    func changedLimits() {
        var session = session()
        for number in 0..<6 { join(&session, "ada\(number)", token: 1) }
        for number in 0..<5 { #expect(flood(&session, from: "ada\(number)") == 4) }
        var bounds = session.bounds
        bounds.signalRate = RateLimit(perSecond: 1000, burst: 2)
        session.changeLimits(to: bounds, now: .seconds(0))
        #expect(flood(&session, from: "ada5", at: 0.01) == 2, "the bucket of 10 is full after 2 ms")
        bounds.signalRate = nil
        session.changeLimits(to: bounds, now: .seconds(0.01))
        #expect(flood(&session, from: "ada0", at: 0.01) == 100)
        #expect(session.signalAllowances == TokenAllowances())
    }

    @Test("G5, SIG-11: full buckets are forgotten while others are in use")
    func memory() {
        var allowances = TokenAllowances()
        for number in 0..<10_000 {
            var own = TokenBucket()
            let now = MonotonicInstant.seconds(Double(number) / 10)
            #expect(allowances.consume(with: &own, of: TokenFingerprint(UInt64(number)), rate, now: now))
            #expect(allowances.count <= 64)
        }
        #expect(allowances.fullAt == .seconds(1000))
        allowances.expire(upTo: .seconds(999))
        #expect(allowances.fullAt != nil)
        allowances.expire(upTo: .seconds(1000))
        #expect(allowances == TokenAllowances())
    }
}
