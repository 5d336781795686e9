import SignalingProtocol
import SignalingVerification
import Testing

/// Each wire breaks one rule of the sections 17 and 18, and only that one.
@Suite("the judge of the wire: users and moderation")
struct WireModerationTests {
    private func expect(_ promise: Violation.Promise, _ wire: inout Wire, isSettled: Bool = true) {
        let found = wire.violations(isSettled: isSettled)
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.promise == promise }, "\(found)")
    }

    /// Ada moderates. Bob and Bob's second tab have the user u-bob. Cleo is a guest with a token of her own.
    private static func ofFour() -> Wire {
        var wire = Wire()
        wire.judge.terms.wallTimeAtZero = WallTime(milliseconds: 0)
        wire.users = ["ada": "u-ada", "bob": "u-bob", "tab": "u-bob"]
        wire.connect(1, as: "ada", seq: 1, token: "ta", role: "moderator")
        wire.connect(2, as: "bob", seq: 2, others: ["ada"], token: "tb", role: "publisher")
        wire.down(1, created("bob", 2, user: "u-bob"))
        wire.connect(3, as: "tab", seq: 3, others: ["ada", "bob"], token: "tb", role: "publisher")
        for socket in 1...2 { wire.down(socket, created("tab", 3, user: "u-bob")) }
        wire.connect(4, as: "cleo", seq: 4, others: ["ada", "bob", "tab"], token: "tc", role: "publisher")
        for socket in 1...3 { wire.down(socket, created("cleo", 4)) }
        return wire
    }

    /// Ada mutes Bob at 5, and Bob is told at 6.
    private static func muted(until: Int64? = nil) -> Wire {
        var wire = ofFour()
        let end = until.map { #","until":\#($0)"# } ?? ""
        wire.up(1, moderate(9, #""action":"mute","user":"u-bob""#))
        wire.down(1, moderated(5, #""action":"mute","user":"u-bob"\#(end)"#, by: true), ack(9, 5))
        for socket in 2...3 { wire.down(socket, restricted(6, #""kind":"mute"\#(end)"#)) }
        return wire
    }

    /// Ada bans Bob at 5; both tabs leave at 6 and 7.
    private static func banned(until: Int64? = nil) -> Wire {
        var wire = ofFour()
        let end = until.map { #","until":\#($0)"# } ?? ""
        wire.up(1, moderate(9, #""action":"ban","user":"u-bob""#))
        wire.down(1, moderated(5, #""action":"ban","user":"u-bob"\#(end)"#, by: true))
        for socket in [1, 4] {
            wire.down(socket, destroyed("bob", 6, "forceDisconnected"), destroyed("tab", 7, "forceDisconnected"))
        }
        wire.down(1, ack(9, 5))
        for socket in 2...3 { wire.endByBan(socket, #"{"kind":"ban"\#(end)}"#) }
        return wire
    }

    // MARK: - Users

    @Test("USR-2, G8: a connection has the user of its token, and every line says so")
    func users() {
        for (told, listed) in [("u-bob", "u-bob"), ("u-eve", "u-eve"), ("u-bob", "u-eve")] {
            var wire = Wire()
            wire.judge.issued("tb", role: "publisher", data: "", user: "u-bob")
            wire.users = ["bob": told]
            wire.connect(2, as: "bob", seq: 1, data: "", token: "tb", role: "publisher")
            wire.users = ["bob": listed]
            // Of the list's two connections only Bob has a token that is known.
            wire.judge.opened(1, at: wire.now)
            wire.up(1, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
            let list = #"{"connectionId":"bob","data":"","user":"\#(listed)"},{"connectionId":"ada"}"#
            wire.down(
                1,
                #"{"ev":"connected","id":1,"connection":{"connectionId":"ada"},"connections":[\#(list)],"epoch":"e","#
                    + #""seq":2,"outcome":"new","resume":{"secret":"secret"}}"#)
            wire.down(2, created("ada", 2))
            let found = wire.violations().filter { $0.text.contains("bob") }
            #expect(found.isEmpty == (told == "u-bob" && listed == "u-bob"), "\(found)")
            #expect(found.allSatisfy { $0.promise == .g8 })
        }
    }

    // MARK: - Mute and freeze

    @Test("MOD-9: a mute holds over a kill and over a stop of the server", arguments: [true, false])
    func muteOverAKill(isForgotten: Bool) {
        var wire = Self.muted()
        wire.judge.terms.isDurable = true
        wire.judge.closed(2, at: wire.now)
        wire.judge.serverKilled(at: wire.now)
        wire.judge.serverStarted(at: wire.now)
        wire.askToResume(5, "bob", after: 6, token: "tb")
        wire.down(5, wire.connected("bob", seq: 6, "resumed", replayThrough: 6, restrictions: #"[{"kind":"mute"}]"#))
        wire.up(5, signal("x", 9))
        if isForgotten {
            for socket in [1, 3, 4, 5] { wire.down(socket, received("x", 7, from: "bob")) }
            wire.down(5, ack(9, 7))
        } else {
            wire.down(5, refused(9, #"{"kind":"mute"}"#))
        }
        #expect(wire.violations(isSettled: false).map(\.promise) == (isForgotten ? [.m1] : []))
    }

    @Test("MOD-1, MOD-4, MOD-5: a mute, its refusals and its end are no violation")
    func goodMute() {
        var wire = Self.muted()
        wire.up(2, signal("a", 2), signal("b", 3, onlineOnly: true))
        wire.down(2, refused(2, #"{"kind":"mute"}"#), refused(3, #"{"kind":"mute"}"#))
        wire.up(4, signal("c", 2))
        for socket in 1...4 { wire.down(socket, received("c", 7, from: "cleo")) }
        wire.down(4, ack(2, 7))
        wire.pass(1)
        wire.up(1, moderate(10, #""action":"unmute","user":"u-bob""#))
        wire.down(1, moderated(8, #""action":"unmute","user":"u-bob""#, by: true), ack(10, 8))
        for socket in 2...3 { wire.down(socket, #"{"ev":"unrestricted","seq":9,"kind":"mute"}"#) }
        wire.signalOfBob("d", id: 4, seq: 10)
        #expect(wire.violations() == [])
    }

    @Test("RES-9, ERR-1: a refusal lacks its restriction only where the request was first made on another socket")
    func repeatedRefusal() {
        for isRepeated in [true, false] {
            var wire = Self.muted()
            // The server reads what Bob's old socket carried after it has accepted his new one.
            wire.askToResume(5, "bob", after: 6, token: "tb")
            if isRepeated { wire.up(2, signal("a", 2)) }
            wire.judge.closed(2, at: wire.now)
            wire.down(
                5,
                wire.connected(
                    "bob", seq: 6, "resumed", replayThrough: 6, others: ["ada", "tab", "cleo"],
                    restrictions: #"[{"kind":"mute"}]"#))
            wire.up(5, signal("a", 2))
            wire.down(5, #"{"ev":"error","id":2,"code":403}"#)
            if isRepeated { #expect(wire.violations() == []) } else { expect(.m1, &wire) }
        }
    }

    @Test("M1: a signal of a muted user is in the order behind the mute")
    func signalBehindMute() {
        var wire = Self.muted()
        wire.signalOfBob("a", id: 2, seq: 7)
        expect(.m1, &wire)
    }

    @Test("M1: a mute ends at its `until`, and not before", arguments: [10, 30])
    func end(seconds: Double) {
        var wire = Self.muted(until: 20_000)
        wire.pass(seconds)
        wire.signalOfBob("a", id: 2, seq: 7)
        #expect(wire.violations().map(\.promise) == (seconds < 20 ? [.m1] : []))
    }

    @Test("M1: an online-only signal of a muted user passes to a client that had got the mute")
    func typing() {
        for isBehind in [true, false] {
            var wire = isBehind ? Self.muted() : Self.ofFour()
            wire.up(2, signal("t", 2, onlineOnly: true))
            // Ada has got the mute, and Cleo nothing after it.
            wire.down(1, received("t", nil, from: "bob"))
            wire.down(4, received("t", nil, from: "bob"))
            #expect(wire.violations(isSettled: false).map(\.promise) == (isBehind ? [.m1] : []))
        }
    }

    @Test("M1: an online-only signal is acknowledged to a user who had been told of the mute (MOD-4)")
    func acknowledgedTyping() {
        var wire = Self.muted()
        wire.up(2, signal("t", 2, onlineOnly: true))
        wire.down(2, ack(2, nil))
        expect(.m1, &wire)
    }

    @Test("M1: in a frozen session only moderators and REST signal, and everybody is told", arguments: 0..<4)
    func freeze(fault: Int) {
        var wire = Self.ofFour()
        wire.up(1, moderate(9, #""action":"freeze""#))
        wire.down(1, moderated(5, #""action":"freeze""#, by: true))
        for socket in 1...(fault == 1 ? 3 : 4) { wire.down(socket, restricted(6, #""kind":"freeze""#)) }
        wire.down(1, ack(9, 5))
        wire.up(1, signal("a", 10))
        for socket in 1...4 { wire.down(socket, received("a", 7)) }
        wire.down(1, ack(10, 7))
        wire.judge.sentByREST(data: "r", type: nil, to: nil)
        for socket in 1...4 { wire.down(socket, #"{"ev":"signal","seq":8,"from":null,"data":"r"}"#) }
        switch fault {
        case 0: wire.signalOfBob("b", id: 2, seq: 9)
        case 1: return expect(.g3, &wire)
        case 2:
            wire.up(2, signal("b", 2))
            wire.down(
                2, #"{"ev":"error","id":2,"code":403,"name":"OT_PERMISSION_DENIED","message":"","retryable":false}"#)
        default: return #expect(wire.violations() == [])
        }
        expect(.m1, &wire)
    }

    @Test("MOD-2: a refusal because of a mute that nobody has asked for, or that was lifted before", arguments: [0, 1])
    func needlessRefusal(fault: Int) {
        var wire = fault == 0 ? Self.ofFour() : Self.muted()
        if fault == 1 {
            wire.up(1, moderate(10, #""action":"unmute","ref":5"#))
            wire.down(1, moderated(7, #""action":"unmute","ref":5"#, by: true), ack(10, 7))
            for socket in 2...3 { wire.down(socket, #"{"ev":"unrestricted","seq":8,"kind":"mute"}"#) }
            wire.pass(1)
        }
        wire.up(2, signal("a", 2))
        wire.down(2, refused(2, #"{"kind":"mute"}"#))
        expect(.m1, &wire)
    }

    @Test("MOD-4: a node refuses an online-only signal by what it knows, although another node has lifted the mute")
    func refusalOfANodeBehind() {
        for (isOnlineOnly, isBehind) in [(true, true), (true, false), (false, true)] {
            var wire = Self.muted()
            wire.up(1, moderate(10, #""action":"unmute","ref":5"#))
            wire.down(1, moderated(7, #""action":"unmute","ref":5"#, by: true), ack(10, 7))
            if !isBehind { wire.down(2, #"{"ev":"unrestricted","seq":8,"kind":"mute"}"#) }
            wire.pass(1)
            wire.up(2, signal("a", 2, onlineOnly: isOnlineOnly))
            wire.down(2, refused(2, #"{"kind":"mute"}"#))
            let found = wire.violations(isSettled: false).map(\.promise)
            #expect(found == (isOnlineOnly && isBehind ? [] : [.m1]), "\(isOnlineOnly), \(isBehind)")
        }
    }

    @Test("MOD-5: a mute is told to another user, to nobody, or with its author", arguments: 0..<3)
    func told(fault: Int) {
        var wire = Self.ofFour()
        wire.up(1, moderate(9, #""action":"mute","user":"u-bob""#))
        wire.down(1, moderated(5, #""action":"mute","user":"u-bob""#, by: true), ack(9, 5))
        switch fault {
        case 0: for socket in 2...4 { wire.down(socket, restricted(6, #""kind":"mute""#)) }
        case 1:
            wire.up(4, signal("c", 2))
            for socket in 1...4 { wire.down(socket, received("c", 6, from: "cleo")) }
            wire.down(4, ack(2, 6))
        default: for socket in 2...3 { wire.down(socket, restricted(6, #""kind":"mute","by":{"connectionId":"ada"}"#)) }
        }
        expect(fault == 1 ? .m1 : .g8, &wire)
    }

    @Test("MOD-5: `connected` tells what holds, and nothing else", arguments: [nil, "[]", #"[{"kind":"mute"}]"#])
    func toldAtConnect(list: String?) {
        for isMuted in [true, false] {
            var wire = isMuted ? Self.muted() : Self.ofFour()
            let seq = isMuted ? 7 : 5
            wire.users["new"] = "u-bob"
            wire.connect(
                5, as: "new", seq: seq, others: ["ada", "bob", "tab", "cleo"], token: "tb", restrictions: list)
            for socket in 1...4 { wire.down(socket, created("new", seq, user: "u-bob")) }
            let isRight = isMuted == (list?.contains("mute") ?? false)
            #expect(wire.violations().map(\.promise) == (isRight ? [] : [.m1]))
        }
    }

    @Test(
        "MOD-6: `moderated` passes to a client that is no moderator, or not to a moderator", arguments: [true, false])
    func audience(isExtra: Bool) {
        var wire = Self.ofFour()
        _ = wire.judge.asksByREST(#"{"action":"freeze"}"#, in: "s", at: wire.now)
        if isExtra { wire.down(4, moderated(5, #""action":"freeze""#)) }
        wire.judge.moderatedByREST(0, seq: 5, at: wire.now)
        for socket in 1...4 { wire.down(socket, restricted(6, #""kind":"freeze""#)) }
        let found = wire.violations(isSettled: false)
        #expect(found.contains { $0.promise == (isExtra ? .g8 : .g3) })
    }

    @Test("MOD-6: moderators are told of an action with other members than its request")
    func otherMembers() {
        var wire = Self.ofFour()
        wire.up(1, moderate(9, #""action":"mute","user":"u-bob","reason":"r""#))
        wire.down(1, moderated(5, #""action":"mute","user":"u-bob""#, by: true))
        for socket in 2...3 { wire.down(socket, restricted(6, #""kind":"mute""#)) }
        wire.down(1, ack(9, 5))
        #expect(wire.violations(isSettled: false).contains { $0.promise == .g1 })
    }

    // MARK: - Bans

    @Test("MOD-3: a ban, its refusals and its end are no violation")
    func goodBan() {
        var wire = Self.banned(until: 20_000)
        wire.askToResume(5, "bob", after: 4, token: "tb")
        wire.down(5, userBanned(#"{"kind":"ban","until":20000}"#, retryAfter: 20_000))
        wire.judge.serverClosed(5, code: 4501)
        wire.pass(30)
        wire.users["bob2"] = "u-bob"
        wire.connect(6, as: "bob2", seq: 8, others: ["ada", "cleo"], token: "tb")
        for socket in [1, 4] { wire.down(socket, created("bob2", 8, user: "u-bob")) }
        #expect(wire.violations() == [])
        #expect(wire.judge.banDelays == [.zero])
    }

    @Test("M1: a banned user joins, with another token, too", arguments: ["tb", "tb-2"])
    func join(token: String) {
        var wire = Self.banned()
        wire.pass(1)
        wire.users["bob2"] = "u-bob"
        wire.connect(5, as: "bob2", seq: 8, others: ["ada", "cleo"], token: token)
        for socket in [1, 4] { wire.down(socket, created("bob2", 8, user: "u-bob")) }
        expect(.m1, &wire)
    }

    @Test("M1: a connection of a banned user is resumed")
    func resume() {
        var wire = Self.ofFour()
        wire.judge.closed(2, at: wire.now)
        wire.judge.closed(3, at: wire.now)
        wire.up(1, moderate(9, #""action":"ban","user":"u-bob""#))
        wire.down(1, moderated(5, #""action":"ban","user":"u-bob""#, by: true), ack(9, 5))
        wire.pass(1)
        wire.resume(5, "bob", after: 4, "resumed", seq: 4)
        let found = wire.violations(isSettled: false)
        #expect(!found.isEmpty && found.allSatisfy { $0.promise == .m1 }, "\(found)")
    }

    @Test("MOD-3: a banned client that would resume gets `disconnected`", arguments: [true, false])
    func disconnected(isBanned: Bool) {
        var wire = isBanned ? Self.banned() : Self.ofFour()
        wire.judge.issued("tb", role: "publisher", data: "", user: "u-bob")
        wire.judge.mayBeForceDisconnected("bob")
        wire.pass(1)
        wire.askToResume(5, "bob", after: 4, token: "tb")
        wire.down(5, #"{"ev":"disconnected","reason":"forceDisconnected","reconnect":false}"#)
        #expect(wire.violations(isSettled: false).map(\.promise) == (isBanned ? [.m1] : []))
    }

    @Test("M1: a connection of a banned user stays in the session")
    func stays() {
        var wire = Self.ofFour()
        wire.up(1, moderate(9, #""action":"ban","user":"u-bob""#))
        wire.down(1, moderated(5, #""action":"ban","user":"u-bob""#, by: true), ack(9, 5))
        wire.down(1, destroyed("bob", 6, "forceDisconnected"))
        wire.down(4, destroyed("bob", 6, "forceDisconnected"))
        wire.endByBan(2, #"{"kind":"ban"}"#)
        wire.up(4, signal("c", 2))
        for socket in [1, 4] { wire.down(socket, received("c", 7, from: "cleo")) }
        wire.down(4, ack(2, 7))
        expect(.m1, &wire, isSettled: false)
    }

    @Test("MOD-3: a banned client is not told of the ban, or another one is", arguments: [true, false])
    func farewell(isBanned: Bool) {
        var wire = Self.ofFour()
        if isBanned {
            wire.up(1, moderate(9, #""action":"ban","connectionId":"cleo""#))
            wire.down(1, moderated(5, #""action":"ban","connectionId":"cleo""#, by: true))
        } else {
            wire.up(1, #"{"op":"forceDisconnect","id":9,"connectionId":"cleo"}"#)
        }
        for socket in 1...3 { wire.down(socket, destroyed("cleo", isBanned ? 6 : 5, "forceDisconnected")) }
        wire.down(1, ack(9, isBanned ? 5 : nil))
        wire.endByBan(4, isBanned ? nil : #"{"kind":"ban"}"#)
        expect(.m1, &wire)
    }

    @Test("MOD-1: the ban of a guest concerns the guest's token", arguments: ["tc", "other"])
    func guest(token: String) {
        var wire = Self.ofFour()
        wire.up(1, moderate(9, #""action":"ban","connectionId":"cleo""#))
        wire.down(1, moderated(5, #""action":"ban","connectionId":"cleo""#, by: true))
        for socket in 1...3 { wire.down(socket, destroyed("cleo", 6, "forceDisconnected")) }
        wire.down(1, ack(9, 5))
        wire.endByBan(4, #"{"kind":"ban"}"#)
        wire.pass(1)
        wire.connect(5, as: "dan", seq: 7, others: ["ada", "bob", "tab"], token: token)
        for socket in 1...3 { wire.down(socket, created("dan", 7)) }
        let promises = Set(wire.violations().map(\.promise))
        #expect(promises == (token == "tc" ? [.m1] : []))
    }

    @Test("MOD-3: a client that nobody has banned is refused")
    func needlessBan() {
        var wire = Self.ofFour()
        wire.askToResume(5, "cleo", after: 4, token: "tc")
        wire.down(5, userBanned(#"{"kind":"ban"}"#))
        expect(.m1, &wire, isSettled: false)
    }

    @Test("MOD-9: a session with a ban that holds begins anew", arguments: [true, false])
    func forgotten(isLifted: Bool) {
        var wire = Self.banned()
        if isLifted {
            wire.up(1, moderate(10, #""action":"unban","user":"u-bob""#))
            wire.down(1, moderated(8, #""action":"unban","user":"u-bob""#, by: true), ack(10, 8))
        }
        for socket in [1, 4] {
            wire.judge.clientClosed(socket, code: 1000)
            wire.judge.closed(socket, at: wire.now)
        }
        wire.judge.opened(5, at: wire.now)
        wire.up(5, #"{"op":"connect","id":1,"apiKey":"k","sessionId":"s","token":"t"}"#)
        wire.down(5, wire.connected("eve", seq: 1, "new", epoch: "f"))
        #expect(wire.violations(isSettled: false).map(\.promise) == (isLifted ? [] : [.m1]))
    }

    @Test("MOD-7: an action by REST without an answer explains what clients see, and nothing is judged of its end")
    func unanswered() {
        var wire = Self.ofFour()
        _ = wire.judge.asksByREST(#"{"action":"mute","user":"u-bob"}"#, in: "s", at: wire.now)
        wire.up(2, signal("a", 2))
        wire.down(2, refused(2, #"{"kind":"mute"}"#))
        #expect(wire.violations(isSettled: false) == [])
        // Lifted perhaps, since nobody knows the fate of this request.
        wire = Self.muted()
        _ = wire.judge.asksByREST(#"{"action":"unmute","user":"u-bob"}"#, in: "s", at: wire.now)
        wire.up(2, signal("a", 2))
        for socket in 1...4 { wire.down(socket, received("a", 9, from: "bob")) }
        wire.down(2, ack(2, 9))
        #expect(wire.violations(isSettled: false) == [])
    }

    @Test("HIS-9: the messages of a user are erased, and those of others are not")
    func erasureByUser() {
        for isBack in [false, true] {
            var wire = Self.ofFour()
            wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
            wire.signalOfBob("a", id: 2, seq: 5)
            wire.up(4, signal("c", 2))
            for socket in 1...4 { wire.down(socket, received("c", 6, from: "cleo")) }
            wire.down(4, ack(2, 6))
            wire.up(1, #"{"op":"erase","id":9,"user":"u-bob"}"#)
            for socket in 1...4 { wire.down(socket, #"{"ev":"erased","seq":7,"user":"u-bob"}"#) }
            wire.down(1, ack(9, 7))
            wire.pass(1)
            wire.up(4, #"{"op":"history","id":3}"#)
            let bob = details("bob", user: "u-bob")
            let content = isBack ? #""data":"a""# : #""erased":true"#
            wire.down(
                4,
                #"{"ev":"history","id":3,"first":5,"last":6,"more":false,"messages":[{"seq":5,"from":"bob","#
                    + #""connection":\#(bob),\#(content),"time":1},{"seq":6,"from":"cleo","#
                    + #""connection":{"connectionId":"cleo"},"data":"c","time":1}]}"#)
            #expect(wire.violations().map(\.promise) == (isBack ? [.h1] : []))
        }
    }
}

private func moderate(_ id: Int, _ members: String) -> String { #"{"op":"moderate","id":\#(id),\#(members)}"# }
/// - Parameter by: whether Ada is the author.
private func moderated(_ seq: Int, _ members: String, by: Bool = false) -> String {
    #"{"ev":"moderated","seq":\#(seq),\#(members)\#(by ? #","by":{"connectionId":"ada","user":"u-ada"}"# : "")}"#
}
private func restricted(_ seq: Int, _ members: String) -> String { #"{"ev":"restricted","seq":\#(seq),\#(members)}"# }
private func refused(_ id: Int, _ restriction: String) -> String {
    #"{"ev":"error","id":\#(id),"code":403,"name":"OT_PERMISSION_DENIED","message":"","retryable":false,"#
        + #""restriction":\#(restriction)}"#
}
private func userBanned(_ restriction: String, retryAfter: Int? = nil) -> String {
    #"{"ev":"error","id":1,"code":1570,"name":"OT_USER_BANNED","message":"","retryable":false,"restriction":"#
        + "\(restriction)\(retryAfter.map { #","retryAfter":\#($0)"# } ?? "")}"
}

extension Wire {
    /// A signal of Bob that all clients get.
    fileprivate mutating func signalOfBob(_ data: String, id: Int, seq: Int) {
        up(2, signal(data, id))
        for socket in 1...4 { down(socket, received(data, seq, from: "bob")) }
        down(2, ack(id, seq))
    }

    /// The server ends a connection because of a ban.
    fileprivate mutating func endByBan(_ socket: Int, _ restriction: String?) {
        let ban = restriction.map { #","restriction":\#($0)"# } ?? ""
        down(socket, #"{"ev":"disconnected","reason":"forceDisconnected","reconnect":false\#(ban)}"#)
        judge.serverClosed(socket, code: 4502)
        judge.closed(socket, at: now)
    }
}
