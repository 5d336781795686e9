import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Presence that observers outside of a session have not been told of")
struct UntoldPresenceTests {
    private func session(_ count: Int) -> SessionState {
        var bounds = SessionState.Bounds(resumeWindow: .seconds(10), recoveryWindow: .zero)
        bounds.untoldEventCount = count
        return SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
    }

    private func described(_ session: SessionState) -> [String] {
        session.untold.map {
            "\($0.commandNumber).\($0.index) at \($0.time.nanoseconds / 1_000_000_000): "
                + SessionEffect.presence($0.event).testDescription
        }
    }

    @Test("LOG-11: events are kept with the command and the index that identify them, until they are told")
    func identified() {
        var session = session(10)
        var effects: [SessionEffect] = []
        session.commandNumber = 2
        session.join("ada")
        session.commandNumber = 3
        session.signal(from: "ada")
        session.commandNumber = 4
        session.join("bob")
        session.commandNumber = 5
        _ = session.handle(.leave(client("ada"), .clientDisconnected), now: .seconds(3), effects: &effects)
        session.commandNumber = 6
        _ = session.handle(.leave(client("bob"), .networkDisconnected), now: .seconds(4), effects: &effects)
        let all = [
            "2.0 at 0: sessionCreated", "2.1 at 0: connectionCreated ada", "4.0 at 0: connectionCreated bob",
            "5.0 at 3: connectionDestroyed ada clientDisconnected",
            "6.0 at 4: connectionDestroyed bob networkDisconnected", "6.1 at 4: sessionDestroyed",
        ]
        #expect(described(session) == all)
        session.told(through: 1)
        #expect(described(session) == all)
        session.told(through: 4)
        #expect(described(session) == Array(all[3...]))
        session.told(through: 3)
        #expect(described(session) == Array(all[3...]), "an older mark changes nothing")
        #expect(session.isNeeded, "the session must not end before they are told")
        session.told(through: 6)
        #expect(session.untold.isEmpty && !session.isNeeded)
    }

    @Test("LOG-11: what is due is reported with the command that carries it out")
    func due() {
        var session = session(10)
        session.commandNumber = 1
        session.join("ada")
        session.commandNumber = 2
        var effects: [SessionEffect] = []
        _ = session.handle(.detach(SocketBinding("ada")), now: .seconds(0), effects: &effects)
        session.told(through: 2)
        session.commandNumber = 3
        session.advance(to: .seconds(60))
        #expect(
            described(session) == [
                "3.0 at 60: connectionDestroyed ada networkDisconnected", "3.1 at 60: sessionDestroyed",
            ])
    }

    @Test("LOG-11, G5: the oldest events are dropped over the limit, and the others keep their index")
    func bounded() {
        var session = session(3)
        session.commandNumber = 1
        session.join("ada")
        session.commandNumber = 2
        session.join("bob")
        session.leave("bob")
        #expect(
            described(session) == [
                "1.1 at 0: connectionCreated ada", "2.0 at 0: connectionCreated bob",
                "2.1 at 0: connectionDestroyed bob clientDisconnected",
            ])
    }

    @Test("LOG-11: a lower limit drops the oldest, and without a limit nothing is kept or needed")
    func changedLimit() {
        var session = session(3)
        session.join("ada")
        session.leave("ada")
        var bounds = session.bounds
        bounds.untoldEventCount = 1
        session.changeLimits(to: bounds, now: .seconds(0))
        #expect(described(session) == ["0.3 at 0: sessionDestroyed"])
        #expect(session.isNeeded)
        session.changeLimits(to: .init(), now: .seconds(0))
        #expect(session.untold.isEmpty && !session.isNeeded)
        session.join("bob")
        #expect(session.untold.isEmpty)
    }
}
