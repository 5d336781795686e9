import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

@Suite("Limits that change while a session lasts")
struct ChangedLimitsTests {
    private func bounds(connections: Int = 10, rate: RateLimit? = nil) -> SessionState.Bounds {
        SessionState.Bounds(connectionCount: connections, signalRate: rate)
    }

    private func session(_ bounds: SessionState.Bounds, clients: [String]) -> SessionState {
        var state = SessionState(id: room, epoch: Epoch("e"), bounds: bounds)
        for (index, name) in clients.enumerated() { join(name, SocketID(UInt64(index + 1)), &state) }
        return state
    }

    @discardableResult
    private func join(_ name: String, _ socket: SocketID, _ state: inout SessionState) -> SessionOutcome {
        var effects: [SessionEffect] = []
        let request = JoinRequest(
            connectionId: client(name), socket: socket, role: .publisher, data: "", wallTime: WallTime(milliseconds: 1),
            secretHash: hash(name))
        return state.handle(.join(request), now: .seconds(1), effects: &effects)
    }

    private func signal(_ state: inout SessionState, at second: Double) -> Bool {
        var effects: [SessionEffect] = []
        let sender = CommandSender.connection(SocketBinding(client("ada"), SocketID(1)), nil)
        let outcome = state.handle(.signal(sender, SignalRequest()), now: .seconds(second), effects: &effects)
        if case .signalled = outcome { return true } else { return false }
    }

    @Test("a lower number of connections ends none, and refuses the next one")
    func connections() {
        var state = session(bounds(connections: 2), clients: ["ada", "bob"])
        state.changeLimits(to: bounds(connections: 1), now: .seconds(1))
        #expect(state.connectionCount == 2)
        guard case .refused = join("cy", SocketID(3), &state) else {
            Issue.record("the session takes a third connection")
            return
        }
        state.changeLimits(to: bounds(connections: 3), now: .seconds(1))
        guard case .joined = join("cy", SocketID(3), &state) else {
            Issue.record("the session takes no third connection")
            return
        }
    }

    @Test("SIG-11: a higher rate takes effect at once, although the allowance of the old one was used up")
    func higherRate() {
        var state = session(bounds(rate: RateLimit(perSecond: 1, burst: 100)), clients: ["ada"])
        for _ in 0..<100 { #expect(signal(&state, at: 1)) }
        #expect(!signal(&state, at: 1))
        // Under the old rate the allowance would be full again after 100 s.
        state.changeLimits(to: bounds(rate: RateLimit(perSecond: 1000, burst: 10)), now: .seconds(1))
        #expect(signal(&state, at: 2))
        state.changeLimits(to: bounds(), now: .seconds(2))
        for _ in 0..<1000 { #expect(signal(&state, at: 2)) }
    }

    @Test("SIG-11: a lower rate takes effect at once")
    func lowerRate() {
        var state = session(bounds(), clients: ["ada"])
        for _ in 0..<100 { #expect(signal(&state, at: 1)) }
        state.changeLimits(to: bounds(rate: RateLimit(perSecond: 1, burst: 2)), now: .seconds(1))
        #expect([signal(&state, at: 1), signal(&state, at: 1), signal(&state, at: 1)] == [true, true, false])
    }

    @Test("in a running server the log and the windows stay")
    func windows() {
        var new = bounds()
        new.changeRunning(
            to: SessionState.Bounds(
                connectionCount: 7, logEventCount: 1, resumeWindow: .zero, recoveryWindow: .zero))
        #expect(new.connectionCount == 7)
        #expect(new.resumeWindow == bounds().resumeWindow)
        #expect(new.recoveryWindow == bounds().recoveryWindow)
        #expect(new.log.eventCount == bounds().log.eventCount)
    }

    @Test("LOG-6, G4: another server's bounds drop events and tickets that are over them")
    func otherServer() {
        var state = session(bounds(), clients: ["ada", "bob", "eve"])
        for _ in 0..<10 { #expect(signal(&state, at: 1)) }
        for name in ["bob", "eve"] {
            var effects: [SessionEffect] = []
            _ = state.handle(.forceDisconnect(.server, client(name)), now: .seconds(1), effects: &effects)
        }
        var new = SessionState.Bounds(
            logEventCount: 4, resumeWindow: .seconds(10), recoveryWindow: .seconds(20), recoverableCount: 1)
        state.changeLimits(to: new, now: .seconds(2))
        #expect(state.log.entries.count == 4)
        #expect(state.log.byteCount == state.log.entries.reduce(0) { $0 + $1.line.byteCount })
        #expect(state.forceDisconnectedTickets.tickets.map(\.ticket.connectionId) == [client("eve")])
        #expect(state.forceDisconnectedTickets.neededUntil == .seconds(21))
        new.recoverableCount = 0
        state.changeLimits(to: new, now: .seconds(2))
        #expect(state.forceDisconnectedTickets.tickets.isEmpty)
    }
}
