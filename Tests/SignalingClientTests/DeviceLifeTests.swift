import SignalingProtocol
import Testing

@testable import SignalingClient

/// The shared scripts have the common case (`Tests/Vectors/client/suspended-until-shown.json`).
@Suite("A client on a device that sleeps and changes networks")
struct DeviceLifeTests {
    private static func sentAway(for milliseconds: Int64) -> ServerMessage {
        .disconnected(.networkDisconnected, .after(.milliseconds(milliseconds)))
    }

    @Test("RES-13: neither the network's return nor the app's shortens a wait that the server has asked for")
    func serversWait() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.received(Self.sentAway(for: 30_000)))
        #expect(driven.state.nextDeadline == at(30))
        #expect(driven.handle(.networkBack).isEmpty)
        #expect(driven.handle(.suspended).isEmpty)
        #expect(driven.state.nextDeadline == nil, "no attempt runs in the background")
        _ = driven.advance(to: 10)
        #expect(driven.handle(.awake).isEmpty)
        #expect(driven.state.nextDeadline == at(30))
        #expect(driven.handle(.awake).isEmpty)
        #expect(driven.advance(to: 30) == ["open"])
    }

    @Test("RES-13: a wait of the server that ended in the background is over")
    func waitIsOver() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.received(Self.sentAway(for: 30_000)))
        _ = driven.handle(.suspended)
        #expect(driven.advance(to: 31).isEmpty)
        #expect(driven.handle(.awake) == ["open"])
    }

    @Test("the time in the background does not count: the server decides whether the connection can resume")
    func windowBeginsAnew() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.suspended)
        _ = driven.advance(to: 86_400)
        #expect(driven.handle(.awake) == ["open"])
        _ = driven.handle(.socketFailed(SignalingError(.connectFailed, "")))
        #expect(driven.state.phase.giveUpAt == at(86_400 + 300))
    }

    @Test("a first connect goes on in the background")
    func firstConnect() {
        var driven = Driven()
        _ = driven.handle(.connect(.test))
        #expect(driven.handle(.suspended).isEmpty)
        #expect(driven.handle(.socketOpened).count == 1)
    }

    @Test("a connection that cannot be resumed keeps its socket in the background")
    func withoutResume() {
        var driven = Driven.connected()
        #expect(driven.handle(.suspended).isEmpty)
        #expect(driven.handle(.received(event(3, "still here"))).count == 1)
    }

    @Test("HB-3: when the network changes while a ping is overdue, the socket has 2 s left")
    func overdue() {
        var driven = Driven.connected(.resuming())
        _ = driven.advance(to: 9)
        #expect(driven.handle(.networkBack).isEmpty)
        #expect(driven.state.nextDeadline == at(20), "no ping is overdue yet")
        _ = driven.advance(to: 11)
        #expect(driven.handle(.networkBack).isEmpty)
        #expect(driven.state.nextDeadline == at(13))
        _ = driven.advance(to: 12)
        #expect(driven.handle(.awake).isEmpty)
        #expect(driven.state.nextDeadline == at(13), "it is not put off")
        #expect(driven.handle(.received(.ping(Seq(2)))) == ["send {\"op\":\"pong\"}"])
        #expect(driven.state.nextDeadline == at(32))
    }

    @Test("nothing happens without a connection")
    func disconnected() {
        var driven = Driven()
        for input in [.suspended, .awake, .networkBack] as [ClientState.Input] {
            #expect(driven.handle(input).isEmpty)
        }
    }
}

extension ClientState.Phase {
    fileprivate var giveUpAt: MonotonicInstant? {
        if case .reconnecting(_, let reconnection) = self { reconnection.giveUpAt } else { nil }
    }
}
