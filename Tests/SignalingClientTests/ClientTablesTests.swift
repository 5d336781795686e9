import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingClient

/// Compares the tables of the client in section 8 of `docs/PROTOCOL.md` with ``ClientState``.
@Suite("The client's tables in the specification equal the code")
struct ClientTablesTests {
    private let text: ProtocolText
    init() throws { text = try ProtocolText.load() }

    /// The name of the state in the specification, which does not tell a socket that opens from a connect that waits.
    private func name(_ phase: ClientState.Phase) -> String {
        switch phase {
        case .disconnected: "disconnected"
        case .opening, .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        case .disconnecting: "disconnecting"
        }
    }

    @Test("RES-13, LEAVE-1: the table of states has the client's states, in the order of a connection's life")
    func states() {
        let welcome = Welcome(
            connection: bob, connections: [bob], role: .publisher, epoch: Epoch("e"), seq: Seq(2), outcome: .new,
            resume: ResumeOffer(secret: ResumeSecret("s"), resumeWindow: .seconds(60), recoveryWindow: .zero))
        var driven = Driven()
        var names = [name(driven.state.phase)]
        for input in [
            .connect(.test), .socketOpened, .received(.connected(RequestID(1), welcome)), .socketClosed(code: nil),
        ] as [ClientState.Input] {
            _ = driven.handle(input)
            names.append(name(driven.state.phase))
        }
        var leaving = Driven.connected()
        _ = leaving.handle(.disconnect)
        names.append(name(leaving.state.phase))
        let states = names.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        #expect(text.table(after: "The client's states:").map { $0[0] } == states)
    }

    @Test("RES-13, HB-3: the table of timers has the client's lengths")
    func timers() {
        let rows = text.table(after: "The client's timers:").map { [$0[0], $0[2]] }
        let answer = "\(ClientState.answerTimeout.components.seconds) s"
        let longest = ReconnectPolicy.longest.components.seconds
        let requested = Limits.longestReconnectWait.components.seconds
        let lengths = [
            ["first attempt", answer], ["silence", "\(ClientState.silentHeartbeats) heartbeats"],
            [
                "wait",
                "up to \(ReconnectPolicy.base.wholeMilliseconds) ms × 2ⁿ, at most \(longest) s; "
                    + "or `reconnectAfter`, at most \(requested) s",
            ],
            ["attempt", answer], ["return", "the longer of `resumeSeconds` and `recoverySeconds"],
            ["answer to `disconnect", answer],
        ]
        #expect(rows == lengths)
    }
}
