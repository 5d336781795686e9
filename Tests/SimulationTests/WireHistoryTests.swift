import SignalingProtocol
import SignalingVerification
import Testing

/// Each wire breaks one promise of section 16, and only that one.
@Suite("the judge of the wire: history")
struct WireHistoryTests {
    private func expect(_ promise: Violation.Promise, _ wire: inout Wire) {
        let found = wire.violations()
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.promise == promise }, "\(found)")
    }

    /// Ada says "a", "b" and "c", at 3 to 5.
    private static func ofThree() -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        for (index, data) in ["a", "b", "c"].enumerated() { wire.exchange(data, seq: 3 + index, id: 2 + index) }
        return wire
    }

    private static let a = message("a", 3)
    private static let b = message("b", 4)
    private static let c = message("c", 5)

    @Test("HIS-4, HIS-6, HIS-7: pages in both directions, out of turn, are no violation")
    func good() {
        var wire = Self.ofThree()
        wire.up(2, ask(7), ask(8, #""before":5,"limit":1"#), signal("d", 9), ask(10, #""after":2,"limit":1"#))
        wire.down(2, received("d", 6, from: "bob"), ack(9, 6), page(7, [Self.b, Self.c], 3...5, more: true))
        wire.down(2, page(8, [Self.b], 3...5, more: true), page(10, [Self.a], 3...5, more: true))
        wire.down(1, received("d", 6, from: "bob"))
        #expect(wire.violations() == [])
    }

    @Test("HIS-5: the page of a connect is due after `connected`, unless the connection was resumed")
    func pageOfConnect() {
        var wire = Self.ofThree()
        let newest = #"{"history":{"last":2}}"#
        wire.connect(3, as: "eve", seq: 6, others: ["ada", "bob"], options: newest, keepsHistory: true)
        for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
        wire.down(3, page(1, [Self.b, Self.c], 3...5, more: true))
        #expect(wire.judge.violations(at: wire.now, isSettled: true) == [])
        wire.connect(4, as: "fay", seq: 7, others: ["ada", "bob", "eve"], options: newest, keepsHistory: true)
        for socket in 1...3 { wire.down(socket, created("fay", 7)) }
        expect(.h3, &wire)
    }

    @Test("HIS-4: a page lacks a message that its client has received")
    func missing() {
        var wire = Self.ofThree()
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.a, Self.c], 3...5))
        expect(.h1, &wire)
    }

    @Test("H3, HIS-4: a page ends before the `connected` of its client")
    func seam() {
        var wire = Self.ofThree()
        wire.connect(
            3, as: "eve", seq: 6, others: ["ada", "bob"], options: #"{"history":{"after":2}}"#, keepsHistory: true)
        for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
        wire.down(3, page(1, [Self.a, Self.b], 3...4))
        expect(.h1, &wire)
    }

    @Test("HIS-2: the newest messages stay, as many as the bound says, and the others may go", arguments: [nil, 1, 2])
    func trimmed(bound: Int?) {
        var wire = Self.ofThree()
        wire.judge.terms.history?.bound = bound
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.c], 5...5))
        let found = wire.violations()
        #expect(found.isEmpty == (bound == 1) && found.allSatisfy { $0.promise == .h1 }, "\(found)")
    }

    @Test("HIS-2: after a stop in order the history has no more messages than its bound", arguments: [true, false])
    func notTrimmed(isStopped: Bool) {
        var wire = Self.ofThree()
        wire.judge.terms.history?.bound = 2
        if isStopped { wire.judge.serverStopped() }
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5))
        #expect(wire.violations().map(\.promise) == (isStopped ? [.h1] : []))
    }

    @Test("HIS-6: a message whose content, type, sender or connection is another one")
    func changed() {
        let wrong = [
            message("a", 3, from: "bob"), message("a", 3, members: #","type":"x""#), message("z", 3),
            message("a", 3, sender: nil),
        ]
        for first in wrong {
            var wire = Self.ofThree()
            wire.up(2, ask(7))
            wire.down(2, page(7, [first, Self.b, Self.c], 3...5))
            expect(.h1, &wire)
        }
    }

    @Test("HIS-3: one seq names two messages")
    func twoMessages() {
        var wire = Self.ofThree()
        wire.up(2, signal("d", 6))
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.a, message("d", 4, from: "bob"), Self.c], 3...5))
        #expect(wire.violations(isSettled: false).contains { $0.promise == .h2 })
    }

    @Test("HIS-3: a session with a history begins anew, although the server kept it")
    func newEpoch() {
        for keepsHistory in [true, false] {
            var wire = Self.ofThree()
            if !keepsHistory { wire.eraseAll() }
            wire.leave([1, 2])
            wire.judge.opened(3, at: wire.now)
            wire.up(3, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
            wire.down(3, wire.connected("eve", seq: 1, "new", epoch: "f"))
            #expect(wire.violations(isSettled: false).map(\.promise) == (keepsHistory ? [.h2] : []))
        }
    }

    @Test("HIS-3: an order that begins far above a lost one is judged like any other")
    func laterOrder() {
        let start = 1_000_000_000_005
        for isMissing in [true, false] {
            var wire = Self.ofThree()
            wire.judge.terms.isDurable = true
            wire.judge.closed(1, at: wire.now)
            wire.judge.closed(2, at: wire.now)
            wire.judge.serverLostSessions(at: wire.now)
            for (socket, name) in [(3, "eve"), (4, "fay")] {
                wire.judge.opened(socket, at: wire.now)
                wire.up(socket, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
                wire.down(
                    socket,
                    wire.connected(
                        name, seq: start + socket - 3, "new", others: socket == 3 ? [] : ["eve"], epoch: "f"))
            }
            wire.down(3, created("fay", start + 1))
            wire.up(3, signal("d", 2))
            wire.down(3, received("d", start + 2, from: "eve"), ack(2, start + 2))
            if !isMissing { wire.down(4, received("d", start + 2, from: "eve")) }
            wire.up(3, ask(3))
            wire.down(3, page(3, [Self.a, Self.b, Self.c, message("d", start + 2, from: "eve")], 3...(start + 2)))
            #expect(wire.violations().map(\.promise) == (isMissing ? [.g3] : []))
        }
    }

    @Test("HIS-9: an erased message is due to nobody, and a page has it without its content")
    func erasure() {
        var wire = Self.ofThree()
        wire.judge.closed(2, at: wire.now)
        wire.exchangeAlone("d", seq: 6, id: 6)
        wire.up(1, #"{"op":"erase","id":7,"ref":6}"#)
        wire.down(1, erased(7, #""ref":6"#), ack(7, 7))
        wire.resume(3, "bob", after: 5, "resumed", seq: 5, replayThrough: 7)
        wire.down(3, erased(7, #""ref":6"#))
        wire.up(3, ask(2))
        wire.down(3, page(2, [Self.a, Self.b, Self.c, tombstone(6)], 3...6))
        wire.up(1, #"{"op":"erase","id":8,"through":4}"#)
        wire.down(1, erased(8, #""through":4"#), ack(8, 8))
        wire.down(3, erased(8, #""through":4"#))
        wire.up(3, ask(3))
        wire.down(3, page(3, [Self.c, tombstone(6)], 5...6))
        #expect(wire.violations() == [])
    }

    @Test(
        "SIG-6, HIS-9: the ack of a signal comes without it, if a backend has erased it meanwhile",
        arguments: [true, false])
    func erasedBeforeItsAck(isAsked: Bool) {
        var wire = Self.ofThree()
        wire.up(1, signal("d", 6))
        if isAsked { wire.judge.mayBeErasedByREST(.message(Seq(6)), in: "s") }
        wire.down(1, ack(6, 6), erased(7, #""ref":6"#))
        wire.down(2, erased(7, #""ref":6"#))
        let found = wire.violations().map(\.promise)
        #expect(isAsked ? found == [] : found.contains(.g2), "\(found)")
    }

    /// A seed of the simulation found that the judge did not know the sender.
    @Test(
        "SIG-6, HIS-9: so does that of a signal that the history does not keep, if a backend erases all of its sender",
        arguments: ["u", "v"])
    func senderErasedBeforeAnAck(user: String) {
        var wire = Wire()
        wire.users = ["ada": "u"]
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: ["kept"])
        wire.connect(1, as: "ada", seq: 1, keepsHistory: true)
        wire.up(1, signal("d", 6))
        wire.judge.mayBeErasedByREST(.user(UserID(user)), in: "s")
        wire.down(1, ack(6, 2), erased(3, #""user":"\#(user)""#))
        let found = wire.violations().map(\.promise)
        #expect(user == "u" ? found == [] : found.contains(.g2), "\(found)")
    }

    @Test("HIS-9: the content of an erased message in a page or in a replay, and an erasure that nobody asked for")
    func contentBack() {
        var wire = Self.ofThree()
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.a, tombstone(4), Self.c], 3...5))
        expect(.h1, &wire)
        wire = Self.ofThree()
        wire.erase(4, seq: 6)
        wire.pass(1)
        wire.up(2, ask(7))
        wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5))
        expect(.h1, &wire)
        wire = Self.ofThree()
        wire.eraseAll()
        wire.pass(1)
        wire.up(2, ask(7))
        wire.down(2, page(7, [tombstone(3)], 3...3))
        expect(.h1, &wire)
        wire = Self.ofThree()
        wire.judge.closed(2, at: wire.now)
        wire.exchangeAlone("d", seq: 6, id: 6)
        wire.up(1, #"{"op":"erase","id":7,"ref":6}"#)
        wire.down(1, erased(7, #""ref":6"#), ack(7, 7))
        wire.pass(1)
        wire.resume(3, "bob", after: 5, "resumed", seq: 5, replayThrough: 7)
        wire.down(3, received("d", 6), erased(7, #""ref":6"#))
        expect(.h1, &wire)
    }

    @Test(
        "HIS-9: a page that was asked for before an erasure comes without its content after it",
        arguments: [true, false])
    func contentAfterErased(comesAfter: Bool) {
        var wire = Self.ofThree()
        wire.up(2, ask(7))
        if !comesAfter { wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5)) }
        wire.erase(4, seq: 6)
        if comesAfter { wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5)) }
        #expect(wire.violations().map(\.promise) == (comesAfter ? [.h1] : []))
    }

    @Test(
        "USR-1, HIS-9: the erasure of a user erases nothing of a user with a like id",
        arguments: [
            ("ann", "anna"), ("ann", "Ann"), ("ann", "ann "), ("a\u{F1}n", "an\u{303}n"), ("an\u{303}n", "a\u{F1}n"),
        ])
    func likeUsers(user: String, like: String) {
        var wire = Wire()
        wire.users = ["ada": like, "bob": user]
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        wire.connect(1, as: "ada", seq: 1, role: "moderator")
        wire.connect(2, as: "bob", seq: 2, others: ["ada"])
        wire.down(1, created("bob", 2, user: user))
        wire.exchange("a", seq: 3, id: 2)
        wire.up(1, #"{"op":"erase","id":3,"user":"\#(user)"}"#)
        for socket in [1, 2] { wire.down(socket, erased(4, #""user":"\#(user)""#)) }
        wire.down(1, ack(3, 4))
        wire.up(2, ask(7))
        let message = #"{"seq":3,"from":"ada","connection":\#(details("ada", user: like)),"erased":true,"time":1}"#
        wire.down(2, page(7, [message], 3...3))
        expect(.h1, &wire)
    }

    /// A seed of the simulation found that the judge did not know the sender.
    @Test("HIS-9: a page has an erased message that no client has got before", arguments: ["u", "v"])
    func erasedUnseen(user: String) {
        var wire = Self.ofThree()
        wire.judge.mayBeErasedByREST(.user(UserID("u")), in: "s")
        for socket in [1, 2] { wire.down(socket, erased(7, #""user":"u""#)) }
        wire.up(2, ask(7))
        let unseen =
            #"{"seq":6,"from":"eve","connection":\#(details("eve", user: user)),"erased":true,"time":1}"#
        wire.down(2, page(7, [Self.a, Self.b, Self.c, unseen], 3...6))
        #expect(wire.violations().map(\.promise) == (user == "u" ? [] : [.h1]))
    }

    @Test("H1: a page has what any client knows to be acknowledged, whatever its own has got")
    func acknowledgedElsewhere() {
        for isMissing in [true, false] {
            var wire = Self.ofThree()
            wire.exchangeAlone("d", seq: 6, id: 6)
            wire.up(2, ask(7))
            wire.down(
                2, page(7, [Self.a, Self.b, Self.c] + (isMissing ? [] : [message("d", 6)]), 3...(isMissing ? 5 : 6)))
            wire.down(2, received("d", 6))
            #expect(wire.violations().map(\.promise) == (isMissing ? [.h1] : []))
        }
    }

    @Test("HIS-5: the page of a connect has no message that its client gets as an event")
    func pageBeyondTheConnect() {
        var wire = Self.ofThree()
        wire.connect(
            3, as: "eve", seq: 6, others: ["ada", "bob"], options: #"{"history":{"last":2}}"#, keepsHistory: true)
        for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
        wire.exchange("d", seq: 7, id: 7)
        wire.down(3, received("d", 7))
        wire.down(3, page(1, [Self.c, message("d", 7)], 3...7, more: true))
        expect(.h3, &wire)
    }

    @Test("HIS-10: a page by REST is judged like one of a client")
    func pageByREST() {
        for (messages, promise) in [
            ([Self.a, tombstone(4), Self.c], nil), ([Self.a, Self.b, Self.c], .h1), ([Self.a, tombstone(4)], .h1),
            ([tombstone(3), tombstone(4), Self.c], Violation.Promise?.some(.h1)),
        ] {
            var wire = Self.ofThree()
            wire.erase(4, seq: 6)
            wire.pass(1)
            let asked = wire.judge.asksPageByREST(HistoryRequest(.after(.zero)), in: "s", at: wire.now)
            wire.judge.pageByREST(Array(page(0, messages, 3...5).utf8), for: asked, at: wire.now)
            #expect(wire.violations().map(\.promise) == (promise.map { [$0] } ?? []))
        }
    }

    @Test("HIS-9: a file has the content of an erased message for a minute at most")
    func contentOnDisk() {
        for (data, seconds, isBroken) in [("b", 59.0, false), ("b", 61, true), ("a", 61, false), ("x", 61, false)] {
            var wire = Self.ofThree()
            wire.erase(4, seq: 6)
            wire.pass(seconds)
            #expect(wire.judge.erasedData == ["b"])
            wire.judge.foundOnDisk(data, in: "a file", at: wire.now)
            #expect(wire.judge.hasViolations == isBroken)
        }
    }

    /// The files of the server are copied when Ada has said "a" to "c". She says "d", and the copy is put back.
    private static func putBack(_ outcome: String, epoch: String, seq: Int) -> Wire {
        var wire = ofThree()
        wire.judge.terms.isDurable = true
        wire.judge.stateCopied()
        wire.exchange("d", seq: 6, id: 6)
        wire.leave([2])
        wire.judge.closed(1, at: wire.now)
        wire.judge.copyPutBack(at: wire.now)
        wire.judge.serverStarted(at: wire.now)
        wire.pass(1)
        wire.askToResume(3, "ada", after: 6)
        let name = outcome == "resumed" ? "ada" : "eve"
        wire.down(3, wire.connected(name, seq: seq, outcome, epoch: epoch, keepsHistory: true))
        wire.up(3, signal("e", 7))
        wire.down(3, received("e", seq + 1, from: name), ack(7, seq + 1))
        wire.up(3, ask(8))
        wire.down(3, page(8, [Self.a, Self.b, Self.c, message("e", seq + 1, from: name)], 3...(seq + 1)))
        return wire
    }

    @Test("HIS-3, RES-3: what followed a copy is gone, and the sessions go on far above it")
    func olderCopy() {
        var good = Self.putBack("lost", epoch: "f", seq: 1_000_000_006)
        #expect(good.violations(isSettled: false) == [])
        // The order goes on where the copy ends, and gives a seq again.
        var again = Self.putBack("lost", epoch: "f", seq: 5)
        #expect(again.violations(isSettled: false).map(\.promise).contains(.h2))
        // Clients that ask after their last seq would never see the message.
        var hidden = Self.ofThree()
        hidden.judge.terms.isDurable = true
        hidden.judge.stateCopied()
        hidden.exchange("d", seq: 9, id: 6)
        hidden.leave([1, 2])
        hidden.judge.copyPutBack(at: hidden.now)
        hidden.pass(1)
        hidden.judge.opened(3, at: hidden.now)
        hidden.up(3, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
        hidden.down(3, hidden.connected("eve", seq: 6, "new", epoch: "f", keepsHistory: true))
        hidden.up(3, signal("e", 7))
        hidden.down(3, received("e", 7, from: "eve"), ack(7, 7))
        #expect(Set(hidden.violations(isSettled: false).map(\.promise)) == [.h2])
        // The client is told that nothing is missing.
        var resumed = Self.putBack("resumed", epoch: "e", seq: 6)
        #expect(resumed.violations(isSettled: false).map(\.promise).contains(.g4))
    }

    @Test("LOG-23: a server whose history was removed acknowledges nothing that it would keep", arguments: [4.0, 6])
    func removedHistory(seconds: Double) {
        var wire = Self.ofThree()
        wire.judge.historyRemoved(at: wire.now)
        wire.pass(seconds)
        wire.exchange("d", seq: 6, id: 6)
        wire.exchange("e", seq: 7, id: 7)
        #expect(wire.violations().map(\.promise) == (seconds > 5 ? [.h1] : []))
    }

    @Test("LOG-23: the next server need not have what was removed with the history")
    func afterARemovedHistory() {
        for isRemoved in [true, false] {
            var wire = Self.ofThree()
            if isRemoved { wire.judge.historyRemoved(at: wire.now) }
            wire.judge.serverStarted(at: wire.now)
            wire.up(2, ask(7))
            wire.down(2, #"{"ev":"history","id":7,"more":false,"messages":[]}"#)
            #expect(wire.violations().isEmpty == isRemoved)
        }
    }

    @Test("HIS-7: pages of one client in another order, and one that it has not asked for")
    func order() {
        var wire = Self.ofThree()
        wire.up(2, ask(7), ask(8))
        wire.down(2, page(8, [Self.a, Self.b, Self.c], 3...5), page(7, [Self.a, Self.b, Self.c], 3...5))
        expect(.h3, &wire)
        wire = Self.ofThree()
        wire.down(2, page(8, [Self.a, Self.b, Self.c], 3...5))
        expect(.h3, &wire)
    }

    @Test("HIS-6: a page outside of its request, or with more messages than asked for")
    func bounds() {
        var wire = Self.ofThree()
        wire.up(2, ask(7, #""before":5"#))
        wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5))
        expect(.h3, &wire)
        wire = Self.ofThree()
        wire.up(2, ask(7, #""limit":2"#))
        wire.down(2, page(7, [Self.a, Self.b, Self.c], 3...5))
        expect(.g5, &wire)
    }

    @Test("HIS-8: a client reads that may not, or is told that it may")
    func right() {
        var wire = Self.ofThree()
        wire.judge.issued("t", role: "publisher", data: "", mayReadHistory: false)
        wire.connect(3, as: "eve", seq: 6, others: ["ada", "bob"], keepsHistory: true, data: "")
        for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
        #expect(wire.violations().map(\.promise).contains(.h3))
        wire = Self.ofThree()
        wire.judge.issued("t", role: "publisher", data: "", mayReadHistory: false)
        wire.connect(3, as: "eve", seq: 6, others: ["ada", "bob"], data: "")
        for socket in [1, 2] { wire.down(socket, created("eve", 6)) }
        wire.up(3, ask(2))
        wire.down(3, page(2, [Self.a, Self.b, Self.c], 3...5))
        #expect(wire.violations().map(\.promise).contains(.h3))
    }

    @Test("HIS-8: a request for a page that is refused has its answer, at any time")
    func refused() {
        var wire = Self.ofThree()
        wire.up(2, ask(7), signal("d", 8))
        wire.down(2, received("d", 6, from: "bob"), ack(8, 6), #"{"ev":"error","id":7,"code":403}"#)
        wire.down(1, received("d", 6, from: "bob"))
        #expect(wire.violations() == [])
    }
}

func ask(_ id: Int, _ members: String = "") -> String {
    #"{"op":"history","id":\#(id)\#(members.isEmpty ? "" : ",\(members)")}"#
}
func page(_ id: Int, _ messages: [String], _ range: ClosedRange<Int>, more: Bool = false) -> String {
    #"{"ev":"history","id":\#(id),"first":\#(range.lowerBound),"last":\#(range.upperBound),"more":\#(more),"#
        + #""messages":[\#(messages.joined(separator: ","))]}"#
}
func message(
    _ data: String, _ seq: Int, from: String = "ada", sender: String? = "", members: String = ""
) -> String {
    let details = sender.map { _ in #","connection":{"connectionId":"\#(from)"}"# } ?? ""
    return #"{"seq":\#(seq),"from":"\#(from)"\#(details)\#(members),"data":"\#(data)","time":1}"#
}
func tombstone(_ seq: Int) -> String {
    #"{"seq":\#(seq),"from":"ada","connection":{"connectionId":"ada"},"erased":true,"time":1}"#
}
func erased(_ seq: Int, _ target: String) -> String { #"{"ev":"erased","seq":\#(seq),\#(target)}"# }

extension Wire {
    /// Ada erases one message.
    mutating func erase(_ ref: Int, seq: Int) {
        up(1, #"{"op":"erase","id":90,"ref":\#(ref)}"#)
        for socket in [1, 2] { down(socket, erased(seq, #""ref":\#(ref)"#)) }
        down(1, ack(90, seq))
    }

    /// Ada erases everything up to 5.
    mutating func eraseAll() {
        up(1, #"{"op":"erase","id":90,"through":5}"#)
        for socket in [1, 2] { down(socket, erased(6, #""through":5"#)) }
        down(1, ack(90, 6))
    }

    mutating func leave(_ sockets: [Int]) {
        for socket in sockets {
            judge.clientClosed(socket, code: 1000)
            judge.closed(socket, at: now)
        }
    }
}
