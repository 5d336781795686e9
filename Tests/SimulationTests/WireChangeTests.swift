import SignalingProtocol
import SignalingVerification
import Testing

/// Each wire breaks one promise of section 20, and only that one.
@Suite("the judge of the wire: messages that change")
struct WireChangeTests {
    /// Ada says "a" and "b", at 3 and 4, and edits "a" at 5.
    private static func ofEdit() -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        for (index, data) in ["a", "b"].enumerated() { wire.exchange(data, seq: 3 + index, id: 2 + index) }
        wire.edit(3, "A", seq: 5)
        return wire
    }

    private static let edited = message("A", 3, members: version(5))
    private static let b = message("b", 4)

    /// A page that Bob asks for now.
    private static func shown(_ messages: [String], _ members: String = "", in wire: inout Wire) {
        wire.pass(1)
        wire.up(2, ask(70, members))
        wire.down(2, page(70, messages, 3...4))
    }

    private func expect(_ promises: [Violation.Promise], _ wire: inout Wire, _ what: String = "") {
        let found = wire.violations()
        #expect(Set(found.map(\.promise)) == Set(promises), "\(what): \(found)")
    }

    @Test("CHG-1 to CHG-9: edits, an author's erasure, pages and lists of changes are no violation")
    func good() {
        var wire = Self.ofEdit()
        Self.shown([Self.edited, Self.b], in: &wire)
        wire.up(2, ask(71, #""changedAfter":4"#), ask(72, #""changedAfter":5"#))
        wire.down(2, list(71, [Self.edited], through: 5), list(72, [], through: 5))
        wire.edit(3, "AA", seq: 6)
        wire.erase(4, seq: 7)
        wire.edit(3, "AAA", seq: 8)
        wire.up(2, ask(73, #""changedAfter":5"#))
        wire.down(2, list(73, [tombstone(4), message("AAA", 3, members: version(8))], through: 8))
        wire.eraseMany(9)
        wire.up(2, ask(74, #""changedAfter":5"#))
        wire.down(2, #"{"ev":"history","id":74,"more":false,"changedThrough":9,"all":true,"messages":[]}"#)
        expect([], &wire)
    }

    @Test("C1: the ack of an edit comes without a seq, before its event, or without one")
    func acks() {
        for answer in [[ack(9, nil)], [ack(9, 6), changed(6, 4, "B")], [changed(6, 4, "B"), ack(9, 7)]] {
            var wire = Self.ofEdit()
            wire.up(1, change(9, 4, "B"))
            for line in answer { wire.down(1, line) }
            if answer.count > 1 { wire.down(2, changed(6, 4, "B")) }
            #expect(wire.violations().contains { $0.promise == .c1 }, "\(answer)")
        }
    }

    /// A seed of the simulation found that the judge did not know of the erasure.
    @Test("SIG-6, HIS-9: the ack of an edit comes without it, if its author erases the message at once")
    func erasedAtOnce() {
        for isErased in [true, false] {
            var wire = Self.ofEdit()
            wire.up(1, change(9, 4, "B"))
            if isErased { wire.up(1, #"{"op":"erase","id":10,"ref":4}"#) }
            wire.down(1, ack(9, 6))
            for socket in [1, 2] { wire.down(socket, erased(7, #""ref":4"#)) }
            if isErased { wire.down(1, ack(10, 7)) }
            expect(isErased ? [] : [.c1], &wire)
        }
    }

    @Test("C1, G3: one client does not get an edit")
    func untold() {
        var wire = Self.ofEdit()
        wire.up(1, change(9, 4, "B"))
        wire.down(1, changed(6, 4, "B"), ack(9, 6))
        expect([.g3], &wire)
    }

    @Test("C2, G1: two clients see different edits at one seq")
    func different() {
        var wire = Self.ofEdit()
        wire.up(1, change(9, 4, "B"), change(10, 4, "C"))
        wire.down(1, changed(6, 4, "B"), ack(9, 6), changed(7, 4, "C"), ack(10, 7))
        wire.down(2, changed(6, 4, "C"))
        #expect(wire.violations().contains { $0.promise == .g1 })
    }

    @Test("C1, CHG-8: a page is older than what its reader, or any acknowledgement, has said")
    func old() {
        for messages in [[message("a", 3), Self.b], [message("A", 3, members: version(4)), Self.b]] {
            var wire = Self.ofEdit()
            Self.shown(messages, in: &wire)
            #expect(wire.violations().contains { $0.promise == .c1 }, "\(messages)")
        }
        // Bob has not got the edit, and Ada has its ack.
        var wire = Self.ofEdit()
        wire.up(1, change(9, 4, "B"))
        wire.down(1, changed(6, 4, "B"), ack(9, 6))
        Self.shown([Self.edited, Self.b], in: &wire)
        wire.down(2, changed(6, 4, "B"))
        expect([.c1], &wire)
    }

    @Test("C1, CHG-8: a page lacks an edit of its past that no client had got before")
    func olderThanLearned() {
        var wire = Self.ofEdit()
        wire.up(1, change(9, 3, "B"), signal("c", 10))
        // Bob knows of the message at 7.
        wire.down(2, changed(6, 3, "B"), received("c", 7))
        wire.judge.closed(2, at: wire.now)
        wire.down(1, changed(6, 3, "B"), ack(9, 6), received("c", 7), ack(10, 7))
        expect([], &wire)
        wire = Self.ofEdit()
        wire.connect(3, as: "eve", seq: 7, others: ["ada", "bob"])
        wire.up(3, ask(70))
        wire.down(3, page(70, [Self.edited, Self.b], 3...4))
        wire.up(1, change(9, 3, "B"))
        for socket in [1, 2] { wire.down(socket, changed(6, 3, "B"), created("eve", 7)) }
        wire.down(1, ack(9, 6))
        expect([.c1], &wire)
    }

    @Test("C2, CHG-8: a page has other content than the edit that it names, one without a date, or one of nobody")
    func content() {
        for wrong in [
            message("X", 3, members: version(5)), message("A", 3, members: #","json":true"# + version(5)),
            message("A", 3, members: #","changed":5"#), message("X", 3, members: version(6)),
        ] {
            var wire = Self.ofEdit()
            Self.shown([wrong, Self.b], in: &wire)
            expect([.c2], &wire, wrong)
        }
    }

    @Test("C2, CHG-8: a page that is ahead of the events has the edit that comes", arguments: ["B", "X"])
    func ahead(data: String) {
        var wire = Self.ofEdit()
        wire.up(1, change(9, 4, "B"))
        Self.shown([Self.edited, message(data, 4, members: version(6))], in: &wire)
        for socket in [1, 2] { wire.down(socket, changed(6, 4, "B")) }
        wire.down(1, ack(9, 6))
        expect(data == "B" ? [] : [.c2], &wire)
    }

    @Test("C1, CHG-9: a list lacks a change, ends too early, is out of order, or has what has not changed")
    func lists() {
        let last = message("B", 4, members: version(6))
        for (messages, through, isGood) in [
            ([Self.edited, last], 6, true), ([last, Self.edited], 6, false), ([last], 6, false),
            ([Self.edited], 5, false), ([Self.edited, Self.b], 6, false),
        ] {
            var wire = Self.ofEdit()
            wire.edit(4, "B", seq: 6)
            wire.up(2, ask(70, #""changedAfter":4"#))
            wire.down(2, list(70, messages, through: through))
            #expect(wire.violations().contains { $0.promise == .c1 } == !isGood, "\(messages)")
        }
        var wire = Self.ofEdit()
        wire.eraseMany(6)
        wire.up(2, ask(70, #""changedAfter":4"#))
        wire.down(2, list(70, [], through: 6))
        expect([.c1], &wire)
        wire = Self.ofEdit()
        wire.up(2, ask(70, #""changedAfter":4"#))
        wire.down(2, page(70, [Self.edited], 3...4))
        expect([.c1], &wire)
    }

    @Test("C1, CHG-9: a list has the messages that authors have erased", arguments: [true, false])
    func erasedInList(isListed: Bool) {
        var wire = Self.ofEdit()
        wire.erase(4, seq: 6)
        wire.up(2, ask(70, #""changedAfter":5"#))
        wire.down(2, list(70, isListed ? [tombstone(4)] : [], through: 6))
        expect(isListed ? [] : [.c1], &wire)
    }

    @Test("C3, CHG-5: an edit of another's message, and one of what is no kept message")
    func strangers() {
        for ref in [3, 1] {
            var wire = Self.ofEdit()
            wire.up(2, change(9, ref, "B"))
            for socket in [1, 2] { wire.down(socket, changed(6, ref, "B", from: "bob")) }
            wire.down(2, ack(9, 6))
            expect([.c3], &wire, "\(ref)")
        }
    }

    @Test("C3, CHG-5: a guest's message is of its connection, and a user's of the user", arguments: ["u", "v", nil])
    func users(user: String?) {
        var wire = Wire()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        wire.users = ["ada": "u"]
        if let user { wire.users["bob"] = user }
        wire.connect(1, as: "ada", seq: 1)
        wire.connect(2, as: "bob", seq: 2, others: ["ada"])
        wire.down(1, created("bob", 2, user: user))
        wire.exchange("a", seq: 3, id: 2)
        wire.up(2, change(9, 3, "B"))
        for socket in [1, 2] { wire.down(socket, changed(4, 3, "B", from: "bob")) }
        wire.down(2, ack(9, 4))
        expect(user == "u" ? [] : [.c3], &wire)
    }

    @Test("C3, CHG-7: an edit and an author's erasure behind an erasure")
    func behindErasure() {
        for op in [change(9, 3, "B"), #"{"op":"erase","id":9,"ref":3}"#] {
            var wire = Self.ofEdit()
            wire.erase(3, seq: 6)
            wire.up(1, op)
            let event = op.contains("erase") ? erased(7, #""ref":3"#) : changed(7, 3, "B")
            for socket in [1, 2] { wire.down(socket, event) }
            wire.down(1, ack(9, 7))
            expect([.c3], &wire, op)
        }
    }

    @Test("C3: an edit that was refused, and one that nobody has asked for")
    func withoutRequest() {
        for isAsked in [true, false] {
            var wire = Self.ofEdit()
            if isAsked {
                wire.up(1, change(9, 4, "B"))
                wire.down(1, #"{"ev":"error","id":9,"code":403}"#)
            }
            for socket in [1, 2] { wire.down(socket, changed(6, 4, "B")) }
            expect([.c3], &wire)
        }
    }

    @Test("C3, MOD-8: an edit and an author's erasure behind a mute")
    func behindMute() {
        for op in [change(9, 4, "B"), #"{"op":"erase","id":9,"ref":4}"#] {
            var wire = Wire()
            wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
            wire.connect(1, as: "ada", seq: 1, token: "a")
            wire.connect(2, as: "bob", seq: 2, others: ["ada"], token: "b", role: "moderator")
            wire.down(1, created("bob", 2))
            wire.up(1, signal("a", 2), signal("b", 3))
            for socket in [1, 2] { wire.down(socket, received("a", 3), received("b", 4)) }
            wire.down(1, ack(2, 3), ack(3, 4))
            wire.up(2, #"{"op":"moderate","id":8,"action":"mute","connectionId":"ada"}"#)
            wire.down(
                2,
                #"{"ev":"moderated","seq":5,"action":"mute","connectionId":"ada","by":{"connectionId":"bob"}}"#,
                ack(8, 5))
            wire.down(1, #"{"ev":"restricted","seq":6,"kind":"mute"}"#)
            wire.up(1, op)
            let event = op.contains("erase") ? erased(7, #""ref":4"#) : changed(7, 4, "B")
            for socket in [1, 2] { wire.down(socket, event) }
            wire.down(1, ack(9, 7))
            expect([.c3], &wire, op)
        }
    }

    @Test("CHG-3, CHG-4: another offer than the operator's, and an ack for what it does not permit")
    func setting() {
        for (offer, isGood) in [(#""changes":["erase","edit"],"#, true), (#""changes":["edit"],"#, false), ("", false)]
        {
            var wire = Self.ofEdit()
            wire.judge.terms.history?.changes = ["edit", "erase"]
            wire.judge.opened(3, at: wire.now)
            wire.up(3, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
            let line = wire.connected("eve", seq: 6, "new", others: ["ada", "bob"])
            wire.down(3, line.replacing(#""resume""#, with: offer + #""resume""#))
            for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
            expect(isGood ? [] : [.c3], &wire, offer)
        }
        for permitted in [["edit"], []] as [Set<String>] {
            var wire = Self.ofEdit()
            wire.judge.terms.history?.changes = permitted
            wire.edit(4, "B", seq: 6)
            expect(permitted.isEmpty ? [.c3] : [], &wire)
        }
    }

    @Test("C3, CHG-5: an author is refused, unless the message may be erased", arguments: [403, 404, 429])
    func refusal(code: Int) {
        for isErased in [true, false] {
            var wire = Self.ofEdit()
            wire.judge.terms.history?.changes = ["edit"]
            wire.up(1, change(9, 4, "B"))
            if isErased { wire.judge.mayBeErasedByREST(.message(Seq(4)), in: "s") }
            wire.down(1, #"{"ev":"error","id":9,"code":\#(code)}"#)
            expect(isErased || code == 429 ? [] : [.c3], &wire)
        }
        var wire = Self.ofEdit()
        wire.judge.terms.history?.changes = ["edit"]
        wire.up(1, change(9, 4, "B"))
        wire.down(1, #"{"ev":"error","id":9,"code":\#(code),"restriction":{"kind":"mute"}}"#)
        expect([], &wire)
    }

    @Test("HIS-9, CHG-10: a replay has the edit of a message that was erased before", arguments: [true, false])
    func replay(isErased: Bool) {
        var wire = Self.ofEdit()
        wire.judge.closed(2, at: wire.now)
        wire.up(1, change(9, 4, "B"))
        wire.down(1, changed(6, 4, "B"), ack(9, 6))
        wire.up(1, #"{"op":"erase","id":10,"ref":4}"#)
        wire.down(1, erased(7, #""ref":4"#), ack(10, 7))
        wire.pass(1)
        wire.resume(3, "bob", after: 5, "resumed", seq: 5, replayThrough: 7)
        if !isErased { wire.down(3, changed(6, 4, "B")) }
        wire.down(3, erased(7, #""ref":4"#))
        expect(isErased ? [] : [.h1], &wire)
    }

    @Test("SIG-9: a client without presence is told who has edited")
    func sender() {
        for sender in [details("ada"), nil] {
            var wire = Wire()
            wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
            wire.connect(1, as: "ada", seq: 1)
            wire.connect(2, as: "bob", seq: 2, options: #"{"connectionEventsSuppressed":true}"#)
            wire.down(1, created("bob", 2))
            wire.up(1, signal("a", 2), change(3, 3, "A"))
            wire.down(1, received("a", 3), ack(2, 3), changed(4, 3, "A"), ack(3, 4))
            wire.down(2, received("a", 3, sender: details("ada")), changed(4, 3, "A", sender: sender))
            expect(sender == nil ? [.g8] : [], &wire)
        }
    }

    @Test("HIS-9: a file has an edition of an erased message for a minute at most")
    func onDisk() {
        var wire = Self.ofEdit()
        wire.erase(3, seq: 6)
        wire.pass(61)
        #expect(wire.judge.erasedData == ["a", "A"])
        wire.judge.foundOnDisk("A", in: "a file", at: wire.now)
        expect([.h1], &wire)
    }

    @Test("a program is told each edit once, at its place", arguments: 0..<3)
    func program(fault: Int) {
        let wire = Self.ofEdit()
        let event = ChangeEvent(
            seq: Seq(5), ref: Seq(3), from: ConnectionID("ada"),
            change: .edit(data: fault == 1 ? "X" : "A", isJSON: false))
        func reception(_ data: String, _ seq: Int64) -> ProgramRecord.Action {
            .received(ProgramRecord.Reception(seq: Seq(seq), from: ConnectionID("ada"), data: data))
        }
        var actions = [ProgramJudgeTests.entry("bob", .new, seq: 2), reception("a", 3), reception("b", 4)]
        if fault != 2 { actions.append(.changed(event)) }
        let program = ProgramRecord(
            "bob", suppressesPresence: true, steps: actions.map { ProgramRecord.Step(wire.now, $0) })
        let found = wire.judge.violations(of: [program], isSettled: true).map(\.promise)
        #expect(Set(found) == (fault == 0 ? [] : fault == 1 ? [.g1, .g3] : [.g3]), "\(found)")
    }

    @Test("an unknown event breaks nothing")
    func unknownEvents() {
        var wire = Self.ofEdit()
        for socket in [1, 2] {
            wire.down(socket, #"{"ev":"thoughts","seq":6,"ref":3}"#, #"{"ev":"change","seq":7,"ref":3,"rel":"new"}"#)
        }
        wire.exchange("c", seq: 8, id: 8)
        expect([], &wire)
    }
}

private func change(_ id: Int, _ ref: Int, _ data: String) -> String {
    #"{"op":"change","id":\#(id),"ref":\#(ref),"rel":"edit","data":"\#(data)"}"#
}
private func changed(_ seq: Int, _ ref: Int, _ data: String, from: String = "ada", sender: String? = nil) -> String {
    let details = sender.map { #","connection":\#($0)"# } ?? ""
    return #"{"ev":"change","seq":\#(seq),"ref":\#(ref),"rel":"edit","from":"\#(from)"\#(details),"data":"\#(data)"}"#
}
func version(_ seq: Int) -> String { #","changed":\#(seq),"edited":1"# }
func list(_ id: Int, _ messages: [String], through: Int) -> String {
    #"{"ev":"history","id":\#(id),"first":3,"last":4,"more":false,"changedThrough":\#(through),"#
        + #""messages":[\#(messages.joined(separator: ","))]}"#
}

extension Wire {
    /// Ada edits a message.
    mutating func edit(_ ref: Int, _ data: String, seq: Int) {
        up(1, change(100 + seq, ref, data))
        for socket in [1, 2] { down(socket, changed(seq, ref, data)) }
        down(1, ack(100 + seq, seq))
    }

    /// Ada, a moderator for once, erases everything up to the first message.
    fileprivate mutating func eraseMany(_ seq: Int) {
        up(1, #"{"op":"erase","id":91,"through":3}"#)
        for socket in [1, 2] { down(socket, erased(seq, #""through":3"#)) }
        down(1, ack(91, seq))
    }
}
