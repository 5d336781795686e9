import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("A newer token of a connected client")
struct TokenRefreshTests {
    private func refresh(
        _ session: inout SessionState, _ name: String = "ada", socket: UInt64 = 1, role: Role = .publisher,
        data: String = "name=ada", until milliseconds: Int64
    ) -> String {
        let claims = TokenClaims(role: role, data: data, expiresAt: WallTime(milliseconds: milliseconds))
        return session.handle(.refreshToken(SocketBinding(name, socket), claims)).testDescription
    }

    @Test("CON-12: the session remembers the latest expiry, and refuses another role or other connection data")
    func expiry() {
        var session = SessionState()
        session.join("ada")
        #expect(refresh(&session, until: 5_000) == "refreshed")
        #expect(refresh(&session, until: 4_000) == "refreshed", "an older token changes nothing")
        #expect(session.tokenExpiry(of: client("ada")) == WallTime(milliseconds: 5_000))
        #expect(refresh(&session, role: .moderator, until: 9_000) == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(refresh(&session, data: "name=bob", until: 9_000) == "refused 1004 OT_AUTHENTICATION_ERROR")
        #expect(session.tokenExpiry(of: client("ada")) == WallTime(milliseconds: 5_000))
        #expect(refresh(&session, socket: 2, until: 9_000) == "refused 500 OT_NOT_CONNECTED", "an older socket")
        #expect(session.log.lastSeq == Seq(1), "a refresh is no event")
    }

    @Test("CON-12: a resume shows its token, too")
    func resume() {
        var session = SessionState()
        session.join("ada")
        _ = refresh(&session, until: 5_000)
        for (socket, shown, expected) in [(UInt64(2), Int64(7_000), Int64(7_000)), (3, 6_000, 7_000)] {
            var request = JoinRequest(
                connectionId: client("new"), socket: SocketID(socket), role: .publisher, data: "name=ada",
                wallTime: WallTime(milliseconds: 0), tokenExpiresAt: WallTime(milliseconds: shown),
                secretHash: hash("\(socket)"))
            request.resumption = Resumption(
                connectionId: client("ada"), secretHash: hash(socket == 2 ? "ada-1" : "2"), epoch: Epoch("e"),
                after: Seq(1))
            #expect(session.handle(.join(request)).testDescription.contains("resumed"))
            #expect(session.tokenExpiry(of: client("ada")) == WallTime(milliseconds: expected))
        }
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
        let claims = TokenClaims(role: .publisher, data: "name=Ada", expiresAt: WallTime(milliseconds: 5))
        #expect(
            state.handle(.verified(RequestID(9), .success(claims)), now: .seconds(1)).map(\.testDescription)
                == ["submit refreshToken of ada until 5 to 1_room as 9"])
        #expect(
            state.handle(.answered(RequestID(9), .refreshed), now: .seconds(1)).map(\.testDescription)
                == ["send ack 9", "send error 10 400 OT_INVALID_PARAMETER"])
        _ = state.handle(.received(.refreshToken(RequestID(11), token: "T3")), now: .seconds(2))
        let refused = SignalingError(.invalidSession, "another session")
        #expect(
            state.handle(.verified(RequestID(11), .failure(refused)), now: .seconds(2)).map(\.testDescription)
                == ["send error 11 1004 OT_AUTHENTICATION_ERROR"])
        #expect(!state.isClosing, "the connection continues")
    }
}
