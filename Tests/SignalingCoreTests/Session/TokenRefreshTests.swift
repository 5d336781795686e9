import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("A newer token of a connected client")
struct TokenRefreshTests {
    private static func end(at seconds: Int64) -> TokenExpiry {
        TokenExpiry(
            .end, validUntil: WallTime(milliseconds: seconds * 1_000), wallTime: WallTime(milliseconds: 0),
            now: .seconds(0))
    }

    private func refresh(
        _ session: inout SessionState, _ name: String = "ada", socket: UInt64 = 1, role: Role = .publisher,
        data: String = "name=ada"
    ) -> String {
        let claims = TokenClaims(role: role, data: data, expiry: Self.end(at: 50))
        return session.handle(.refreshToken(SocketBinding(name, socket), claims)).testDescription
    }

    @Test("CON-12: the session refuses another role or other connection data")
    func claims() {
        var session = SessionState()
        session.join("ada")
        #expect(refresh(&session) == "refreshed")
        #expect(refresh(&session, role: .moderator) == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(refresh(&session, data: "name=bob") == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(refresh(&session, socket: 2) == "refused 500 OT_NOT_CONNECTED", "an older socket")
        #expect(session.log.lastSeq == Seq(1), "a refresh is no event")
    }

    @Test("TOK-9, CON-12: a newer token ends the connection later, and never earlier")
    func expiry() {
        var state = ConnectionState(openedAt: .seconds(0), heartbeat: .seconds(1_000))
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(0))
        var admission = ConnectionState.Admission.test
        admission.tokenExpiry = Self.end(at: 20)
        _ = state.handle(.authenticated(.success(admission)), now: .seconds(0))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(0))
        for (id, seconds) in [(Int64(2), Int64(40)), (3, 30)] {
            _ = state.handle(.received(.refreshToken(RequestID(id), token: "T")), now: .seconds(1))
            let claims = TokenClaims(role: .publisher, data: "name=Ada", expiry: Self.end(at: seconds))
            _ = state.handle(.verified(RequestID(id), .success(claims)), now: .seconds(1))
            _ = state.handle(.answered(RequestID(id), .refreshed(claims.expiry)), now: .seconds(1))
        }
        _ = state.advance(to: .seconds(39))
        #expect(!state.isClosing)
        _ = state.advance(to: .seconds(40))
        #expect(state.isClosing)
    }

    @Test("CON-12, WIRE-8: a connected client's token is checked, and the answer keeps its place; before, it gets 500")
    func connection() {
        var state = ConnectionState(openedAt: .seconds(0))
        let refresh = ConnectionState.Input.received(.refreshToken(RequestID(9), token: "T2"))
        #expect(state.handle(refresh, now: .seconds(0)).map(\.testDescription) == ["send error 9 500 OT_NOT_CONNECTED"])
        _ = state.handle(.received(.connect(RequestID(1), .test)), now: .seconds(0))
        _ = state.handle(.authenticated(.success(.test)), now: .seconds(0))
        _ = state.handle(.answered(RequestID(1), .joined(.test)), now: .seconds(0))
        #expect(state.handle(refresh, now: .seconds(1)).map(\.testDescription) == ["verify T2 for 1_room as 9"])
        let malformed = ClientMessageError(id: RequestID(10), SignalingError(.invalidParameter, "no"))
        #expect(state.handle(.receivedMalformed(malformed), now: .seconds(1)).isEmpty, "it waits for the refresh")
        let claims = TokenClaims(role: .publisher, data: "name=Ada", expiry: Self.end(at: 5))
        #expect(
            state.handle(.verified(RequestID(9), .success(claims)), now: .seconds(1)).map(\.testDescription)
                == ["submit refreshToken of ada to 1_room as 9"])
        #expect(
            state.handle(.answered(RequestID(9), .refreshed(claims.expiry)), now: .seconds(1)).map(\.testDescription)
                == ["send ack 9", "send error 10 400 OT_INVALID_PARAMETER"])
        _ = state.handle(.received(.refreshToken(RequestID(11), token: "T3")), now: .seconds(2))
        let refused = SignalingError(.invalidSession, "another session")
        #expect(
            state.handle(.verified(RequestID(11), .failure(refused)), now: .seconds(2)).map(\.testDescription)
                == ["send error 11 1004 OT_AUTHENTICATION_ERROR"])
        #expect(!state.isClosing, "the connection continues")
    }
}
