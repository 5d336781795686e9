import SignalingProtocol
import Testing

@Suite("A server whose clock is set back")
struct ClockStepTests {
    @Test(
        "RES-7: a client resumes with the token that the server has accepted before, and begins no connection with it")
    func resumes() throws {
        let room = HubRoom()
        defer { room.tearDown() }
        let token = try room.token(for: Tokens.session)
        let first = try #require(room.connect(to: Tokens.session, token: token).welcome)
        room.world.clockError -= 100_000
        func claim(secret: String) -> String {
            #"{"connectionId":"\#(first.connection.connectionId)","secret":"\#(secret)","epoch":"\#(first.epoch)","#
                + #""after":\#(first.seq)}"#
        }
        let secret = first.resume.secret
        let forged = room.connect(to: Tokens.session, token: token, resume: claim(secret: secret.rawValue.shuffledHex))
        #expect(forged.refusal == "the token is refused: it is not valid yet; the clock of its issuer may be ahead")
        #expect(
            room.connect(to: Tokens.session, token: token).refusal
                == "the token is refused: it is not valid yet; the clock of its issuer may be ahead")
        let resumed = room.connect(to: Tokens.session, token: token, resume: claim(secret: secret.rawValue))
        #expect(resumed.welcome?.outcome == .resumed)
    }
}

extension String {
    /// Another text of the same digits.
    fileprivate var shuffledHex: String { String(map { $0 == "0" ? "1" : "0" }) }
}

extension RecordingSocket {
    fileprivate var welcome: Welcome? {
        messages.lazy.compactMap { if case .connected(_, let welcome) = $0 { welcome } else { nil } }.first
    }

    /// The text of the error that the client got.
    fileprivate var refusal: String? {
        messages.lazy.compactMap { if case .error(_, let error) = $0 { error.message } else { nil } }.first
    }
}
