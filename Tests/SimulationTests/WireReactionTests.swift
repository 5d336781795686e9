import SignalingProtocol
import SignalingVerification
import Testing

/// Each wire breaks one promise of reactions and read markers (CHG-11 to CHG-15, section 21), and only that one.
@Suite("the judge of the wire: reactions and read markers")
struct WireReactionTests {
    /// Ada (user `u`, socket 1) says "a" at 3, and Bob (user `v`, socket 2) reacts to it.
    private static func ofTwo(_ markers: String? = nil) -> Wire {
        var wire = Wire()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil, markers: markers)
        wire.users = ["ada": "u", "bob": "v"]
        for (token, user) in [("ta", "u"), ("tb", "v")] {
            wire.judge.issued(token, role: "publisher", data: "d", user: user)
        }
        wire.connect(1, as: "ada", seq: 1, keepsHistory: true, data: "d", token: "ta")
        wire.judge.opened(2, at: wire.now)
        wire.up(2, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"tb"}"#)
        wire.down(2, welcome(in: wire))
        wire.down(1, #"{"ev":"connectionCreated","seq":2,"connection":\#(bob)}"#)
        wire.exchange("a", seq: 3, id: 2)
        return wire
    }

    private static let bob = details("bob", data: "d", user: "v")
    private static func welcome(in wire: Wire) -> String {
        wire.connected("bob", seq: 2, "new", keepsHistory: true, data: "d")
            .replacing(#""connections":["#, with: #""connections":[\#(details("ada", data: "d", user: "u")),"#)
    }

    private static func reacted(_ keys: [String] = ["x"], told counts: String = #"{"key":"x","count":1}"#) -> Wire {
        var wire = ofTwo()
        wire.up(2, react(9, keys))
        for socket in [1, 2] { wire.down(socket, told(4, counts)) }
        wire.down(2, ack(9, nil))
        return wire
    }

    /// Ada's message in a page.
    private static func shown(_ members: String) -> String {
        message("a", 3, members: members)
            .replacing(#"{"connectionId":"ada"}"#, with: details("ada", data: "d", user: "u"))
    }

    private func expect(_ promises: [Violation.Promise], _ wire: inout Wire, _ what: String = "") {
        let found = wire.violations()
        #expect(Set(found.map(\.promise)) == Set(promises), "\(what): \(found)")
    }

    @Test("CHG-11 to CHG-15: counts, own sets, pages and lists are no violation")
    func good() {
        var wire = Self.reacted()
        wire.pass(1)
        wire.up(2, ask(70), ask(71, #""changedAfter":3"#))
        let counts = #","reactions":[{"key":"x","count":1}],"reacted":4"#
        let message = Self.shown(counts)
        wire.down(2, page(70, [message], 3...3).replacing(#""messages""#, with: mine(["x"]) + #""messages""#))
        wire.down(2, list(71, [message], through: 4))
        wire.up(2, react(10, []))
        for socket in [1, 2] { wire.down(socket, told(5, "")) }
        wire.down(2, ack(10, nil), #"{"ev":"reacted","seq":6,"ref":3,"keys":[]}"#)
        wire.up(1, #"{"op":"erase","id":11,"ref":3}"#)
        for socket in [1, 2] { wire.down(socket, erased(7, #""ref":3"#)) }
        wire.down(1, ack(11, 7))
        expect([], &wire)
    }

    @Test("G1, CHG-12: two clients see different counts at one seq")
    func different() {
        var wire = Self.reacted()
        wire.up(2, react(10, []))
        wire.down(1, told(5, ""))
        wire.down(2, told(5, #"{"key":"x","count":2}"#), ack(10, nil))
        #expect(wire.violations().contains { $0.promise == .g1 })
    }

    @Test("C1, C2, CHG-12: the last counts are not those of what users have chosen")
    func counts() {
        for (counts, promise) in [
            (#"{"key":"x","count":2}"#, Violation.Promise.c2), ("", .c1),
            (#"{"key":"x","count":1},{"key":"y","count":1}"#, .c2),
        ] {
            var wire = Self.reacted(told: counts)
            expect([promise], &wire, counts)
        }
        var wire = Self.ofTwo()
        wire.up(2, react(9, ["x"]))
        wire.down(2, ack(9, nil))
        expect([.c1], &wire)
    }

    @Test("C2, CHG-12: a key is told twice, or without a count")
    func malformed() {
        for counts in [
            #"{"key":"x","count":1},{"key":"x","count":1}"#, #"{"key":"x","count":1},{"key":"y","count":0}"#,
        ] {
            var wire = Self.reacted(told: counts)
            expect([.c2], &wire, counts)
        }
    }

    @Test("CHG-11: a request without an answer may have counted or not", arguments: [true, false])
    func unanswered(isTold: Bool) {
        var wire = Self.ofTwo()
        wire.up(2, react(9, ["x"]))
        wire.judge.closed(2, at: wire.now)
        if isTold { wire.down(1, told(4, #"{"key":"x","count":1}"#)) }
        expect([], &wire)
    }

    @Test("C2, C3, CHG-11: a refused reaction counts, and a guest reacts")
    func refused() {
        var wire = Self.ofTwo()
        wire.up(2, react(9, ["x"]))
        wire.down(2, #"{"ev":"error","id":9,"code":404}"#)
        for socket in [1, 2] { wire.down(socket, told(4, #"{"key":"x","count":1}"#)) }
        expect([.c2], &wire)
        wire = Wire.ofTwo()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        wire.exchange("a", seq: 3, id: 2)
        wire.up(2, react(9, ["x"]))
        wire.down(2, ack(9, nil))
        expect([.c3], &wire)
    }

    @Test("C3, CHG-12, CHG-13: `reacted` and `mine` of another user")
    func own() {
        var wire = Self.reacted()
        wire.down(1, #"{"ev":"reacted","seq":5,"ref":3,"keys":["x"]}"#)
        expect([.c3], &wire)
        wire = Self.reacted()
        wire.up(1, ask(70))
        let message = Self.shown(#","reactions":[{"key":"x","count":1}],"reacted":4"#)
        wire.down(1, page(70, [message], 3...3).replacing(#""messages""#, with: mine(["x"]) + #""messages""#))
        expect([.c3], &wire)
    }

    @Test("C1, C2, CHG-13: a page has no reactions, older ones, or others than their event")
    func pages() {
        for (members, promise) in [
            ("", Violation.Promise.c1), (#","reactions":[{"key":"x","count":2}],"reacted":4"#, .c2),
            (#","reactions":[{"key":"x","count":1}],"reacted":3"#, .c1), (#","reactions":[],"reacted":4"#, .c2),
        ] {
            var wire = Self.reacted()
            wire.pass(1)
            wire.up(2, ask(70))
            wire.down(2, page(70, [Self.shown(members)], 3...3))
            #expect(wire.violations().contains { $0.promise == promise }, "\(members)")
        }
    }

    @Test("C1, CHG-13: a list of changes lacks a message whose reactions have changed")
    func unlisted() {
        var wire = Self.reacted()
        wire.up(2, ask(70, #""changedAfter":3"#))
        wire.down(2, list(70, [], through: 4))
        expect([.c1], &wire)
    }

    @Test("C3, CHG-15: counts behind the erasure of the message")
    func behindErasure() {
        var wire = Self.reacted()
        wire.up(1, #"{"op":"erase","id":11,"ref":3}"#)
        for socket in [1, 2] { wire.down(socket, erased(5, #""ref":3"#), told(6, "")) }
        wire.down(1, ack(11, 5))
        expect([.c3], &wire)
    }

    @Test("C2, CHG-15: an erased user's reactions go, also out of replays", arguments: [true, false])
    func erasedUser(isGone: Bool) {
        var wire = Self.reacted()
        wire.pass(1)
        wire.judge.mayBeErasedByREST(.user(UserID("v")), in: "s")
        wire.judge.closed(2, at: wire.now)
        wire.down(1, erased(5, #""user":"v""#))
        if isGone { wire.down(1, told(6, "")) }
        expect(isGone ? [] : [.c2], &wire)
    }

    // MARK: - Read markers

    private static func marked(_ markers: String? = "shared") -> Wire {
        var wire = ofTwo(markers)
        wire.up(2, mark(9, 3))
        wire.down(2, ack(9, nil), read("v", 3))
        return wire
    }

    @Test("READ-1 to READ-3: markers that rise are no violation")
    func markers() {
        var wire = Self.marked()
        wire.down(1, read("v", 3))
        wire.exchange("b", seq: 4, id: 10)
        wire.up(2, mark(10, 99))
        wire.down(2, ack(10, nil), read("v", 4))
        expect([], &wire)
    }

    @Test("READ-1: a marker falls, is above the last seq, or was not asked for")
    func wrongMarkers() {
        var wire = Self.marked()
        wire.down(2, read("v", 2))
        expect([.read1], &wire)
        wire = Self.marked()
        wire.up(2, mark(10, 99))
        wire.down(2, ack(10, nil), read("v", 99))
        expect([.read1], &wire)
        wire = Self.marked()
        wire.down(2, read("u", 3))
        expect([.read1], &wire)
    }

    @Test(
        "READ-1, READ-3: `connected` has no marker that was acknowledged long before, unless the server dies",
        arguments: [true, false])
    func untold(isDead: Bool) {
        var wire = Self.ofTwo("own")
        wire.up(2, mark(9, 3))
        wire.down(2, ack(9, nil))
        // A client that is behind is not told.
        expect([], &wire)
        if isDead { wire.judge.mayLoseMarkers(at: wire.now) }
        wire.seconds += 3
        wire.judge.closed(2, at: wire.now)
        wire.askToResume(3, "bob", after: 3, token: "tb")
        wire.down(3, wire.connected("bob", seq: 3, "resumed", replayThrough: 3, keepsHistory: true, data: "d"))
        expect(isDead ? [] : [.read1], &wire)
    }

    @Test("READ-4: another user is told of an own marker")
    func setting() {
        for markers in ["own", "shared"] {
            var wire = Self.marked(markers)
            wire.down(1, read("v", 3))
            expect(markers == "own" ? [.read1] : [], &wire, markers)
        }
    }

    @Test("READ-3: `connected` has an older marker than others know", arguments: [2, 3])
    func entering(through: Int) {
        var wire = Self.marked()
        wire.judge.closed(2, at: wire.now)
        wire.askToResume(3, "bob", after: 3, token: "tb")
        let line = wire.connected("bob", seq: 3, "resumed", replayThrough: 3, keepsHistory: true, data: "d")
        wire.down(
            3, line.replacing(#""resume""#, with: #""read":{"markers":"shared","through":\#(through)},"resume""#))
        expect(through == 3 ? [] : [.read1], &wire)
    }
}

private func react(_ id: Int, _ keys: [String]) -> String {
    #"{"op":"react","id":\#(id),"ref":3,"keys":[\#(keys.map { "\"\($0)\"" }.joined(separator: ","))]}"#
}
private func told(_ seq: Int, _ counts: String) -> String {
    #"{"ev":"reactions","seq":\#(seq),"ref":3,"reactions":[\#(counts)]}"#
}
private func mine(_ keys: [String]) -> String {
    #""mine":[{"ref":3,"keys":[\#(keys.map { "\"\($0)\"" }.joined(separator: ","))]}],"#
}
private func mark(_ id: Int, _ through: Int) -> String { #"{"op":"read","id":\#(id),"through":\#(through)}"# }
private func read(_ user: String, _ through: Int) -> String {
    #"{"ev":"read","user":"\#(user)","through":\#(through)}"#
}
