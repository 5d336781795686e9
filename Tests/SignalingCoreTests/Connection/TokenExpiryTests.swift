import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("TOK-9: the end of a token")
struct TokenExpiryTests {
    private static func expiry(_ policy: TokenExpiry.Policy, validUntil: Int64, wallTime: Int64) -> TokenExpiry {
        TokenExpiry(
            policy, validUntil: WallTime(milliseconds: validUntil), wallTime: WallTime(milliseconds: wallTime),
            now: .seconds(1))
    }

    private func state(_ expiry: TokenExpiry) -> ConnectionState {
        var admission = ConnectionState.Admission.test
        admission.tokenExpiry = expiry
        var state = ConnectionState(openedAt: .seconds(0))
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(1))
        _ = state.handle(.authenticated(.success(admission)), now: .seconds(1))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(1))
        return state
    }

    @Test("TOK-9: with keep a connection has no end, with end it ends when the token is no longer valid")
    func deadlines() {
        #expect(Self.expiry(.keep, validUntil: 5000, wallTime: 0).deadline == nil)
        #expect(Self.expiry(.end, validUntil: 5000, wallTime: 2000).deadline == .seconds(4))
        #expect(Self.expiry(.end, validUntil: 5000, wallTime: 5000).deadline == .seconds(1))
        // A token that expired while the client connected.
        #expect(Self.expiry(.end, validUntil: 5000, wallTime: 9000).deadline == .seconds(1))
    }

    @Test("moments that no clock can show do not trap", arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, 0, .max])
    func extremes(validUntil: Int64, wallTime: Int64) {
        let deadline = Self.expiry(.end, validUntil: validUntil, wallTime: wallTime).deadline
        #expect(deadline.map { $0 >= .seconds(1) } ?? true)
    }

    @Test("RES-7: an expired token may resume with keep, and not with end")
    func resume() {
        #expect(TokenExpiry.Policy.keep.admitsExpiredToken)
        #expect(!TokenExpiry.Policy.end.admitsExpiredToken)
    }

    @Test("TOK-9, LEAVE-4: the connection ends with 4505 at the expiry, not before, and its client may not come back")
    func ends() {
        var state = state(Self.expiry(.end, validUntil: 5000, wallTime: 0))
        #expect(state.nextDeadline == .seconds(6))
        #expect(state.advance(to: MonotonicInstant(nanoseconds: 5_999_999_999)).isEmpty)
        #expect(
            state.advance(to: .seconds(6)).map(\.testDescription) == [
                "submit leave ada networkDisconnected to 1_room", "send disconnected networkDisconnected",
                "close 4505",
            ])
        #expect(state.isClosing && state.nextDeadline == nil)
        #expect(!CloseReason.tokenExpired.shouldReconnect)
    }

    @Test("TOK-9: what the client sends does not move the end; the next ping still comes first")
    func pings() {
        var state = state(Self.expiry(.end, validUntil: 15_000, wallTime: 0))
        #expect(state.nextDeadline == .seconds(11))
        #expect(state.advance(to: .seconds(11)).map(\.testDescription) == ["ping"])
        _ = state.handle(.received(.pong), now: .seconds(12))
        #expect(state.nextDeadline == .seconds(16))
    }

    @Test("TOK-9: without an end the deadlines are those of the heartbeat")
    func keeps() {
        var state = state(.none)
        for second in stride(from: 11.0, through: 1000, by: 10) {
            #expect(state.nextDeadline == .seconds(second))
            #expect(state.advance(to: .seconds(second)).map(\.testDescription) == ["ping"])
            _ = state.handle(.received(.pong), now: .seconds(second))
        }
    }
}
