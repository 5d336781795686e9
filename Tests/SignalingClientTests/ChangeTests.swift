import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("A client changes messages")
struct ChangeTests {
    private static let request = ChangeRequest(Seq(1), .edit(data: "ho", isJSON: false))
    private static let sent = #"send {"op":"change","id":2,"ref":1,"rel":"edit","data":"ho"}"#
    private static let call = ClientState.CallID(rawValue: 7)

    private static func changing() -> Driven {
        var driven = Driven.connected(.resuming())
        #expect(driven.handle(.change(request, call)) == [sent])
        return driven
    }

    private static func comesBack(_ driven: inout Driven, _ welcome: Welcome) -> [String] {
        _ = driven.handle(.socketClosed(code: nil))
        _ = driven.advance(to: 0.125)
        _ = driven.handle(.socketOpened)
        return driven.handle(.received(.connected(RequestID(3), welcome)))
    }

    @Test("CHG-1: a change ends with its acknowledgement, which has its seq, or with an error")
    func answers() {
        var driven = Self.changing()
        #expect(driven.handle(.received(.ack(RequestID(2), Seq(9)))) == ["call 7 done 9"])
        driven = Self.changing()
        let error = SignalingError(.permissionDenied, "not yours")
        #expect(driven.handle(.received(.error(RequestID(2), error))) == ["call 7 failed 403"])
    }

    @Test("CHG-1, RES-9: a change without an answer is sent again after a resume, as a signal is")
    func repeated() {
        var driven = Self.changing()
        #expect(
            Self.comesBack(&driven, .resuming(.resumed, with: [], secret: "s2", through: 4))
                == ["still bob", "reconnected resumed", Self.sent])
    }

    @Test(
        "CHG-1, RES-9: after another connection has taken its place, its fate is unknown",
        arguments: [
            Welcome.Outcome.recovered, .lost,
        ])
    func unknown(_ outcome: Welcome.Outcome) {
        var driven = Self.changing()
        let other = Connection(
            connectionId: ConnectionID("bob2"), creationTime: WallTime(milliseconds: 9), data: "Bob")
        #expect(Self.comesBack(&driven, .resuming(outcome, as: other, seq: 9)).last == "call 7 failed 500")
    }

    @Test("CHG-1: a change waits while the client reconnects, and fails without a connection")
    func waits() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.socketClosed(code: nil))
        #expect(driven.handle(.change(Self.request, Self.call)) == [])
        driven = Driven()
        #expect(driven.handle(.change(Self.request, Self.call)) == ["call 7 failed 500"])
    }

    @Test("CHG-2: a change is an event of the session's order, emitted once, with its author's connection")
    func told() {
        var driven = Driven.connected(.resuming())
        let event = ChangeEvent(
            seq: Seq(5), ref: Seq(1), from: ConnectionID("ada"), change: .edit(data: "ho", isJSON: false))
        #expect(driven.handle(.received(.change(event))) == ["changed 1 at 5 by Ada"])
        #expect(driven.handle(.received(.change(event))) == [])
        let byREST = ChangeEvent(seq: Seq(6), ref: Seq(1), from: nil, change: nil)
        #expect(driven.handle(.received(.change(byREST))) == ["changed 1 at 6 by -"])
    }

    @Test("CHG-3: what the session permits is that of the last connect, and nothing without a connection")
    func permitted() {
        var welcome = Welcome.resuming()
        welcome.changes = [.edit]
        var snapshot = Session.Snapshot(welcome)
        #expect(snapshot.changes == [.edit])
        welcome.changes = []
        snapshot.resume(welcome)
        #expect(snapshot.changes == [])
        welcome.changes = [.erase]
        snapshot.replace(welcome)
        #expect(snapshot.changes == [.erase])
        snapshot.note(.disconnected(.clientDisconnected))
        #expect(snapshot.changes == nil)
    }

    @Test("CHG-1: data over the limit is refused without a request to the server")
    func tooLong() {
        let data = String(repeating: "x", count: Limits.dataLength + 1)
        #expect(throws: SignalingError(.tooLong, "")) {
            try ChangeRequest(Seq(1), .edit(data: data, isJSON: false)).validate()
        }
    }
}
