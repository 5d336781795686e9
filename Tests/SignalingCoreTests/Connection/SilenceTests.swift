import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

/// HB-3: a client is not judged by the time in which the server itself did not run.
@Suite("Silence")
struct SilenceTests {
    /// A client that was pinged a heartbeat after it joined. Its join is at 0 s of these tests.
    private func pinged() -> ConnectionState {
        var state = Phase.connected.state
        #expect(said(&state, at: 10) == ["ping"])
        return state
    }

    private func answered() -> ConnectionState {
        var state = pinged()
        answer(&state, at: 10.1)
        return state
    }

    private func moment(_ seconds: Double) -> MonotonicInstant { .seconds(1 + seconds) }

    private func said(_ state: inout ConnectionState, at seconds: Double) -> [String] {
        state.advance(to: moment(seconds)).map(\.testDescription)
    }

    private func answer(_ state: inout ConnectionState, at seconds: Double) {
        _ = state.handle(.received(.pong), now: moment(seconds))
    }

    @Test(
        "HB-3: a server that was suspended sends its overdue ping, and listens for one more heartbeat",
        arguments: [21.0, 29.9, 30.1, 36, 100, 100_000])
    func suspended(until end: Double) {
        var state = answered()
        #expect(said(&state, at: end) == ["ping"])
        #expect(said(&state, at: end + 9.999).isEmpty)
        answer(&state, at: end + 9.999)
        #expect(said(&state, at: end + 10) == ["ping"], "the client is heard, and stays")
    }

    @Test("HB-3: the answer to the last ping may wait in the system's buffers until the server runs again")
    func unreadAnswer() {
        var state = pinged()
        // Suspended from here on, before it could read the answer. Its timers fire before it reads.
        #expect(said(&state, at: 35) == ["ping"])
        answer(&state, at: 35)
        #expect(said(&state, at: 45) == ["ping"])
        #expect(said(&state, at: 54.999).isEmpty)
        #expect(said(&state, at: 55).last == "close 4001", "silent for two heartbeats of a server that ran")
    }

    @Test("HB-3: a client that stays silent after the suspension is closed a heartbeat later")
    func stillSilent() {
        var state = answered()
        #expect(said(&state, at: 36) == ["ping"])
        #expect(state.nextDeadline == moment(46))
        #expect(said(&state, at: 46).last == "close 4001")
    }

    @Test("HB-3: one excuse for each silence: a server that is always late closes dead clients, too")
    func alwaysLate() {
        var state = answered()
        #expect(said(&state, at: 33) == ["ping"])
        #expect(said(&state, at: 46).last == "close 4001")
    }

    @Test("HB-3: a timer that fires a little late excuses nothing", arguments: [0.0, 0.5, 0.999])
    func aLittleLate(by lateness: Double) {
        var state = pinged()
        #expect(said(&state, at: 20 + lateness).last == "close 4001")
    }
}
