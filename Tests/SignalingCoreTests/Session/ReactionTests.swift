import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

extension ChangeRoom {
    mutating func react(_ ref: Seq, _ keys: [String], _ name: String = "ada") -> SessionOutcome {
        submit(.react(nextSender(name), ReactRequest(ref, keys: keys)))
    }

    /// The events of reactions in the log, as lines.
    var reactionLines: [String] { session.lines.filter { $0.contains(#""ev":"react"#) } }
}

extension SessionOutcome {
    fileprivate var isReacted: Bool { if case .reacted = self { true } else { false } }
}

@Suite("Reactions")
struct ReactionTests {
    @Test("CHG-11, CHG-12: a user sets its keys; the first change is told at once, the next together a second later")
    func telling() {
        var room = ChangeRoom([.react], users: ["ada", "bob", "cleo"])
        let ref = room.say("hello")
        #expect(room.react(ref, ["👍", "🎉"], "ada").isReacted)
        #expect(
            room.reactionLines == [
                #"{"ev":"reactions","seq":\#(ref.next),"ref":\#(ref),"reactions":"#
                    + #"[{"key":"👍","count":1},{"key":"🎉","count":1}]}"#
            ])
        #expect(room.react(ref, ["👍"], "bob").isReacted)
        #expect(room.react(ref, ["👍"], "cleo").isReacted)
        #expect(room.react(ref, ["👍"], "ada").isReacted)
        #expect(room.reactionLines.count == 1 && room.session.nextDeadline == .seconds(2))
        room.advance(to: .seconds(2))
        #expect(
            room.reactionLines.last
                == #"{"ev":"reactions","seq":\#(ref.next.next),"ref":\#(ref),"reactions":[{"key":"👍","count":3}]}"#)
        // The same keys again change nothing.
        #expect(room.react(ref, ["👍"], "ada").isReacted)
        room.advance(to: .seconds(9))
        #expect(room.reactionLines.count == 2)
        #expect(room.react(ref, [], "ada").isReacted)
        #expect(room.react(ref, [], "bob").isReacted)
        #expect(room.react(ref, [], "cleo").isReacted)
        room.advance(to: .seconds(10))
        #expect(room.reactionLines.last?.hasSuffix(#""reactions":[]}"#) == true)
    }

    @Test("CHG-11: the checks, in their order")
    func checks() throws {
        var room = ChangeRoom([.react], users: ["ada"])
        let ref = room.say("hello")
        #expect(room.react(ref, ["👍"], "guest").refusal == 403)
        #expect(room.react(ref, [String(repeating: "x", count: 33)]).refusal == 413)
        for key in ["", " ", "a b", "\u{200B}", "\u{202E}x", "\u{7}", "\u{E000}", "👍\u{FEFF}"] {
            #expect(room.react(ref, [key]).refusal == 400, "\(key.unicodeScalars)")
        }
        for key in ["👍🏽", "👩\u{200D}🚀", "❤️", "🏴\u{E0067}\u{E0062}\u{E007F}", "+1"] {
            #expect(room.react(ref, [key]).isReacted, "\(key)")
        }
        #expect(room.react(ref, (0..<9).map { "k\($0)" }).refusal == 400)
        #expect(room.react(ref.next.next.next, ["👍"]).refusal == 404)
        // Another's message may be reacted to, an erased one not.
        let other = room.say("mine", "guest")
        #expect(room.react(other, ["👍"]).isReacted)
        room.submit(.erase(.server, .message(other)))
        #expect(room.react(other, ["👍"]).refusal == 404)
        var strict = ChangeRoom([.edit, .erase], users: ["ada"])
        #expect(strict.react(strict.say("hello"), ["👍"]).refusal == 403)
        #expect(throws: ClientMessageError.self) { try message(#"{"op":"react","id":1,"ref":1}"#) }
        #expect(throws: ClientMessageError.self) {
            try message(#"{"op":"react","id":1,"ref":9007199254740993,"keys":[]}"#)
        }
    }

    @Test("CHG-11: the bounds of a message and of a session; the oldest messages take no more")
    func bounds() {
        var reactions = SessionReactions()
        func user(_ number: Int) -> UserID { UserID("u\(number)") }
        for number in 0..<4 {
            #expect((try? reactions.set((0..<8).map { "k\(number)-\($0)" }, of: user(number), on: Seq(1))) == true)
        }
        #expect(throws: SignalingError.self) { try reactions.set(["one more"], of: user(4), on: Seq(1)) }
        #expect((try? reactions.set(["k0-0"], of: user(4), on: Seq(1))) == true)
        for number in 0..<SessionReactions.limitPerMessage {
            #expect((try? reactions.set(["👍"], of: user(number), on: Seq(2))) == true)
        }
        #expect(throws: SignalingError.self) { try reactions.set(["👍"], of: user(-1), on: Seq(2)) }
        // Nothing goes that is still to be told.
        for number in 0..<SessionReactions.limitPerMessage where reactions.count < SessionReactions.limit {
            #expect((try? reactions.set(["👍"], of: user(number), on: Seq(3))) == true)
        }
        #expect(throws: SignalingError.self) { try reactions.set(["👍"], of: user(-1), on: Seq(4)) }
        #expect(reactions.takeDue(at: .seconds(1)).map(\.ref) == [Seq(1), Seq(2), Seq(3)])
        #expect((try? reactions.set(["👍"], of: user(-1), on: Seq(4))) == true)
        #expect(reactions.closedThrough == Seq(1) && reactions.counts(of: Seq(1)).isEmpty)
        #expect(reactions.counts(of: Seq(2)) == [ReactionCount("👍", SessionReactions.limitPerMessage)])
        #expect(reactions.violation == nil)
    }

    @Test("CHG-12, HIS-9: an erasure that concerns no reaction delays none")
    func erasureOfNobody() {
        var room = ChangeRoom([.react], users: ["ada"])
        let ref = room.say("hello")
        room.submit(.erase(.server, .user("u-nobody")))
        #expect(room.react(ref, ["👍"]).isReacted)
        #expect(room.reactionLines.count == 1 && room.session.nextDeadline == nil)
    }

    @Test("CHG-12: at most 64 messages are told together, in the order in which they changed")
    func together() {
        var room = ChangeRoom([.react], users: ["ada"])
        let refs = (0..<70).map { room.say("\($0)") }
        for ref in refs { #expect(room.react(ref, ["👍"]).isReacted) }
        #expect(room.reactionLines.count == 1)
        room.advance(to: .seconds(2))
        #expect(room.reactionLines.count == 65)
        room.advance(to: .seconds(3))
        #expect(room.reactionLines.count == 70 && room.session.nextDeadline == nil)
        #expect(room.reactionLines.last?.contains(#""ref":\#(refs[69])"#) == true)
    }

    @Test("CHG-12: the user's other connections learn what it has chosen, and nobody else does")
    func otherDevices() throws {
        var room = ChangeRoom([.react], users: ["ada", "bob"])
        let ref = room.say("hello")
        #expect(room.react(ref, ["👍"], "bob").isReacted)
        #expect(!room.reactionLines.contains { $0.contains("reacted") })
        room.join("phone", user: "u-ada")
        #expect(room.react(ref, ["🎉"], "ada").isReacted)
        let entry = try #require(room.session.log.entries.last)
        #expect(text(entry.line.bytes) == #"{"ev":"reacted","seq":\#(entry.seq),"ref":\#(ref),"keys":["🎉"]}"#)
        for (name, gets) in [("ada", true), ("phone", true), ("bob", false), ("mod", false)] {
            let user = room.session.connections.first { $0.connectionId == client(name) }?.user
            var outbox = Outbox(
                owner: client(name), user: user, suppressesPresence: false, cursor: entry.seq.previous)
            var bytes: [UInt8] = []
            _ = outbox.dequeue(from: room.session.log, onlineOnly: [], byteLimit: .max, into: &bytes)
            #expect(bytes.isEmpty != gets, "\(name)")
        }
    }

    @Test("CHG-13: pages have the counts, also behind an edit, and once the archive has them")
    func pages() {
        var room = ChangeRoom([.edit, .react], users: ["ada", "bob"])
        let ref = room.say("teh")
        #expect(room.react(ref, ["👍"], "bob").isReacted)
        let told = room.session.log.lastSeq
        let edited = room.edit(ref, "the").changed
        let content = #"[{"key":"👍","count":1}],"reacted":\#(told)"#
        for isTold in [false, true] {
            if isTold { room.tell() }
            let page = room.read(HistoryRequest(.newest)).messages.map { text($0.content ?? []) }
            #expect(page.count == 1 && page[0].hasSuffix(#","reactions":\#(content)"#), "\(page)")
            #expect(room.page == ["\(ref) the v\(edited ?? .zero)"])
        }
        #expect(room.changes(after: ref).messages.map(\.seq) == [ref])
        #expect(room.changes(after: edited ?? .zero).messages.isEmpty)
        #expect(room.session.ownReactions(of: client("bob"), to: [ref]) == [OwnReactions(ref: ref, keys: ["👍"])])
        #expect(room.session.ownReactions(of: client("ada"), to: [ref]).isEmpty)
    }

    @Test("CHG-14: who has reacted, at most 50 users, shared among the keys")
    func reactors() {
        let names = (0..<60).map { "n\($0)" }
        var room = ChangeRoom([.react], users: names)
        let ref = room.say("hello", "n0")
        for name in names { #expect(room.react(ref, name == "n59" ? ["👍", "🎉"] : ["👍"], name).isReacted) }
        func ask(_ key: String?) -> [Reactors] {
            let binding = SocketBinding(client("n0"), socket1)
            guard case .reactors(ref, let found) = room.submit(.reactors(binding, ReactorsRequest(ref, key: key)))
            else { return [] }
            return found
        }
        #expect(ask(nil).map(\.count) == [60, 1] && ask(nil).map(\.users.count) == [25, 1])
        #expect(ask("👍").map(\.users.count) == [50] && ask("👍")[0].users.first == "u-n0")
        #expect(ask("🎉") == [Reactors(key: "🎉", count: 1, users: ["u-n59"])])
        #expect(ask("x").isEmpty)
    }

    @Test("CHG-15, HIS-9: an erased message takes its reactions with it, an erased user its own")
    func erasing() {
        var room = ChangeRoom([.react], users: ["ada", "bob", "cleo"])
        let (first, second) = (room.say("by ada"), room.say("by bob", "bob"))
        let third = room.say("by cleo", "cleo")
        #expect(room.react(third, ["👍"], "ada").isReacted)
        #expect(room.react(third, ["👍"], "bob").isReacted)
        for name in ["ada", "bob", "cleo"] {
            #expect(room.react(first, ["k-\(name)"], name).isReacted)
            #expect(room.react(second, ["k-\(name)"], name).isReacted)
        }
        room.advance(to: .seconds(2))
        #expect(room.react(second, [], "ada").isReacted)
        room.submit(.erase(.server, .user("u-ada")))
        // What was told of ada's keys is in no event, though ada has taken one of them back.
        #expect(!room.session.lines.contains { $0.contains(#""key":"k-ada""#) })
        #expect(!text(room.session.encoded()).contains("k-ada"))
        // Told at once, so that the archive learns of it with the erasure.
        #expect(
            room.reactionLines == [
                #"{"ev":"reactions","seq":\#(room.session.log.lastSeq.previous),"ref":\#(second),"reactions":"#
                    + #"[{"key":"k-bob","count":1},{"key":"k-cleo","count":1}]}"#,
                #"{"ev":"reactions","seq":\#(room.session.log.lastSeq),"ref":\#(third),"reactions":"#
                    + #"[{"key":"👍","count":1}]}"#,
            ])
        #expect(room.session.ownReactions(of: client("ada"), to: [first, second, third]).isEmpty)
        room.tell()
        #expect(room.page == ["\(first) erased", "\(second) by bob", "\(third) by cleo"])
        let page = room.read(HistoryRequest(.newest)).messages.map { text($0.content ?? []) }
        #expect(!page.contains { $0.contains(#""key":"k-ada""#) } && page[1].contains(#""key":"k-cleo","count":1"#))
        room.submit(.erase(.server, .message(second)))
        #expect(!room.session.lines.contains { $0.contains("cleo") && $0.contains("reactions") })
        room.advance(to: .seconds(9))
        room.tell()
        #expect(room.page == ["\(first) erased", "\(second) erased", "\(third) by cleo"])
        #expect(room.session.violation == nil)
    }

    /// Seeds of the simulation found both.
    @Test("CHG-13, CHG-15: the erasure of another message leaves what was told, and what one user alone got is erased")
    func erasingOthers() {
        var room = ChangeRoom([.react], users: ["ada", "bob"])
        let (first, second) = (room.say("one"), room.say("two"))
        #expect(room.react(first, ["👍"], "bob").isReacted)
        room.join("phone", user: "u-ada")
        // It waits to be told.
        #expect(room.react(first, ["👍"], "ada").isReacted)
        room.submit(.erase(.server, .message(second)))
        let page = room.read(HistoryRequest(.newest)).messages.map { text($0.content ?? []) }
        #expect(page.first?.contains(#""key":"👍","count":1"#) == true, "\(page)")
        room.submit(.erase(.server, .message(first)))
        #expect(room.session.violation == nil)
    }

    @Test("CHG-11: two reactions to each of 1,000 messages take at most 8 bytes each in a snapshot")
    func size() {
        func bytes(reacting: Bool) -> Int {
            let names = (0..<50).map { "n\($0)" }
            var room = ChangeRoom([.react], users: names)
            for number in 0..<1_000 {
                let ref = room.say("message \(number)", names[number % 50])
                room.tell()
                guard reacting else { continue }
                for shift in [1, 2] {
                    _ = room.react(ref, [["👍", "❤️", "😂"][number % 3]], names[(number + shift) % 50])
                }
            }
            for second in 2..<40 { room.advance(to: .seconds(Double(second))) }
            room.tell()
            room.session.sleep()
            return room.session.encoded().count
        }
        let (without, with) = (bytes(reacting: false), bytes(reacting: true))
        #expect(with - without <= 16_000, "\(without) and \(with) bytes")
    }

    @Test("LOG-5, LOG-16: a decoded state goes on as the encoded one, also with counts that are still to be told")
    func coding() throws {
        var room = ChangeRoom([.react], users: ["ada", "bob"])
        let refs = (0..<3).map { room.say("\($0)") }
        for ref in refs { #expect(room.react(ref, ["👍", "é"], "ada").isReacted) }
        #expect(room.react(refs[1], ["e\u{301}"], "bob").isReacted)
        let bytes = room.session.encoded()
        var copy = try SessionState(decoding: bytes)
        #expect(copy.encoded() == bytes && copy.nextDeadline == room.session.nextDeadline)
        var effects: [SessionEffect] = []
        copy.advance(to: .seconds(2), effects: &effects)
        room.advance(to: .seconds(2))
        #expect(copy.encoded() == room.session.encoded() && copy.lines == room.session.lines)
        // Keys are compared by their bytes.
        #expect(copy.lines.contains { $0.contains("\"count\":1},{\"key\":\"e\u{301}\",\"count\":1}") })
    }
}
