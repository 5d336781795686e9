import SignalingProtocol
import Testing

@testable import SignalingClient

@Suite("A client reacts to messages, and says what it has read")
struct ReactionTests {
    private static let call = ClientState.CallID(rawValue: 7)
    private static let request = ReactRequest(Seq(1), keys: ["👍"])
    private static let sent = #"send {"op":"react","id":2,"ref":1,"keys":["👍"]}"#
    private static let own = OwnReactions(ref: Seq(1), keys: ["👍"])

    private static func comesBack(_ driven: inout Driven, _ welcome: Welcome) -> [String] {
        _ = driven.advance(to: 0.125)
        _ = driven.handle(.socketOpened)
        return driven.handle(.received(.connected(RequestID(3), welcome)))
    }

    @Test("CHG-11: a reaction ends with its acknowledgement, which has no seq, or with an error")
    func answers() {
        var driven = Driven.connected(.resuming())
        #expect(driven.handle(.react(Self.request, Self.call)) == [Self.sent])
        #expect(driven.handle(.received(.ack(RequestID(2), nil))) == ["call 7 done"])
        driven = Driven.connected(.resuming())
        _ = driven.handle(.react(Self.request, Self.call))
        let error = SignalingError(.permissionDenied, "a guest")
        #expect(driven.handle(.received(.error(RequestID(2), error))) == ["call 7 failed 403"])
    }

    @Test("CHG-11, RES-9: a reaction without an answer is sent again after a resume, and after another outcome fails")
    func repeated() {
        var driven = Driven.connected(.resuming())
        _ = driven.handle(.react(Self.request, Self.call))
        #expect(driven.handle(.socketClosed(code: nil)) == ["reconnecting"])
        var other = driven
        #expect(
            Self.comesBack(&driven, .resuming(.resumed, with: [], secret: "s2", through: 4))
                == ["still bob", "reconnected resumed", Self.sent])
        let bob2 = Connection(
            connectionId: ConnectionID("bob2"), creationTime: WallTime(milliseconds: 9), data: "Bob")
        #expect(Self.comesBack(&other, .resuming(.lost, as: bob2, seq: 9)).last == "call 7 failed 500")
    }

    @Test("READ-1: a read marker is not repeated: it fails with the socket, and while the client reconnects")
    func markerIsNotRepeated() {
        var driven = Driven.connected(.resuming())
        #expect(driven.handle(.read(Seq(4), Self.call)) == [#"send {"op":"read","id":2,"through":4}"#])
        #expect(driven.handle(.socketClosed(code: nil)) == ["reconnecting", "call 7 failed 500"])
        #expect(driven.handle(.read(Seq(4), Self.call)) == ["call 7 failed 500"])
    }

    @Test("CHG-14: who has reacted is asked anew on the next socket, and only an answer of that kind is one")
    func reactors() {
        var driven = Driven.connected(.resuming())
        let sent = #"send {"op":"reactors","id":2,"ref":1,"key":"👍"}"#
        #expect(driven.handle(.reactors(ReactorsRequest(Seq(1), key: "👍"), Self.call)) == [sent])
        _ = driven.handle(.socketClosed(code: nil))
        #expect(
            Self.comesBack(&driven, .resuming(.resumed, with: [], secret: "s2", through: 4)).last
                == #"send {"op":"reactors","id":4,"ref":1,"key":"👍"}"#)
        let reactors = [Reactors(key: "👍", count: 2, users: [UserID("ada")])]
        #expect(driven.handle(.received(.reactors(RequestID(4), Seq(1), reactors))) == ["call 7 read 1"])
        _ = driven.handle(.react(Self.request, Self.call))
        #expect(driven.handle(.received(.reactors(RequestID(5), Seq(1), reactors))) == ["call 7 failed 2001"])
    }

    @Test("CHG-12, READ-3: reactions are events of the session's order, emitted once; a read marker has no seq")
    func told() {
        var driven = Driven.connected(.resuming())
        let event = ReactionsEvent(seq: Seq(5), ref: Seq(1), counts: [ReactionCount("👍", 2)])
        #expect(driven.handle(.received(.reactions(event))) == [#"reactions of 1 at 5: ["👍"]"#])
        #expect(driven.handle(.received(.reactions(event))) == [])
        #expect(driven.handle(.received(.reacted(Seq(6), Self.own))) == [#"reacted to 1 at 6: ["👍"]"#])
        #expect(driven.handle(.received(.reacted(Seq(6), Self.own))) == [])
        let marker = ReadMarker(UserID("ada"), through: Seq(4))
        #expect(driven.handle(.received(.read(marker))) == ["ada has read 4"])
        #expect(driven.handle(.received(.read(marker))) == ["ada has read 4"])
    }

    @Test("READ-3: the read state is that of the last connect, and of what was read since")
    func readState() {
        var welcome = Welcome.resuming(
            as: Connection(
                connectionId: ConnectionID("bob"), creationTime: WallTime(milliseconds: 2), data: "Bob",
                user: UserID("bob")))
        let ada = ReadMarker(UserID("ada"), through: Seq(3))
        welcome.read = ReadState(markers: .shared, through: Seq(2), unread: 5, readers: [ada])
        var snapshot = Session.Snapshot(welcome)
        #expect(snapshot.readState == welcome.read)
        snapshot.note(.read(ReadMarker(UserID("bob"), through: Seq(1))))
        #expect(snapshot.readState == welcome.read, "a marker never falls")
        snapshot.note(.read(ReadMarker(UserID("bob"), through: Seq(4))))
        snapshot.note(.read(ReadMarker(UserID("ada"), through: Seq(2))))
        snapshot.note(.read(ReadMarker(UserID("eve"), through: Seq(1))))
        #expect(
            snapshot.readState
                == ReadState(
                    markers: .shared, through: Seq(4),
                    readers: [ada, ReadMarker(UserID("eve"), through: Seq(1))]))
        snapshot.note(.erased(.user(UserID("ada"))))
        #expect(snapshot.readState?.readers?.map(\.user) == [UserID("eve")])
        welcome.read = ReadState(markers: .own, through: Seq(9), unread: 0)
        snapshot.resume(welcome)
        #expect(snapshot.readState == welcome.read)
        welcome.read = nil
        snapshot.replace(welcome)
        #expect(snapshot.readState == nil)
    }

    @Test("CHG-11: keys that no server takes are refused without a request")
    func keys() {
        for (keys, code) in [
            ([""], SignalingError.Code.invalidParameter), ([String(repeating: "x", count: 33)], .tooLong),
        ] {
            #expect(throws: SignalingError(code, "")) { try ReactRequest(Seq(1), keys: keys).validate() }
        }
    }
}
