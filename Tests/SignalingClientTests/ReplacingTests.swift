import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("A connect that replaces the connection of an earlier run")
struct ReplacingTests {
    private static let claim = ConnectionClaim(
        connectionId: ConnectionID("old"), secret: ResumeSecret(rawValue: "s0"), epoch: Epoch(rawValue: "e"),
        seq: Seq(7))

    private static func opened() -> (Driven, [String]) {
        var driven = Driven()
        var request = ConnectRequest.test
        request.resume = claim.replacement
        _ = driven.handle(.connect(request))
        let sent = driven.handle(.socketOpened)
        return (driven, sent)
    }

    @Test("RES-3, RES-12: it names a seq that no session has, so the server ends that connection and resumes nothing")
    func claims() throws {
        let (_, sent) = Self.opened()
        let line = try #require(sent.first)
        #expect(
            line.contains(#""resume":{"connectionId":"old","secret":"s0","epoch":"e","after":9007199254740991}"#))
        #expect(sent.count == 1)
        #expect(!"\(Self.claim)".contains("s0"), "no log has the secret")
    }

    @Test("later reconnects resume the new connection")
    func resumesTheNewOne() {
        var (driven, _) = Self.opened()
        _ = driven.handle(.received(.connected(RequestID(1), .resuming(.lost))))
        _ = driven.handle(.socketClosed(code: nil))
        _ = driven.advance(to: 1)
        #expect(driven.handle(.socketOpened).first?.contains(#""connectionId":"bob""#) == true)
    }

    @Test("RES-10: a former connection that was forced to disconnect does not keep the new one out, once")
    func forced() {
        var (driven, _) = Self.opened()
        let dismissed = ClientState.Input.received(.disconnected(.forceDisconnected, .never))
        #expect(driven.handle(dismissed) == ["close 1000", "open"])
        let again = driven.handle(.socketOpened)
        #expect(again.count == 1)
        #expect(again.first?.contains("resume") == false)
        #expect(driven.handle(dismissed).last?.contains("1006") == true)
    }
}
