import CoreTestSupport
import JSONText
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

func message(_ line: String) throws -> ClientMessage {
    var parser = JSONParser()
    return try Array(line.utf8).withUnsafeBytes { bytes throws in try ClientMessage(line: bytes, parser: &parser) }
}

@Suite("Messages that change")
struct ChangeTests {
    @Test("CHG-1, CHG-2: an edit has a seq and an event with the sender, and the page has the new text")
    func edit() {
        var room = ChangeRoom()
        let ref = room.say("teh")
        let seq = room.edit(ref, "the").changed
        #expect(seq == ref.next)
        #expect(
            room.session.lines.last
                == #"{"ev":"change","seq":\#(ref.next),"ref":\#(ref),"rel":"edit","from":"ada","data":"the"}"#)
        #expect(room.session.log.entries.last?.line.insertion != nil)
        #expect(room.page == ["\(ref) the v\(ref.next)"])
        room.tell()
        #expect(room.page == ["\(ref) the v\(ref.next)"] && room.session.unarchived.isEmpty)
    }

    @Test("CHG-5, C3: only the author changes a message: the user on any connection, a guest on this one")
    func authors() {
        var room = ChangeRoom()
        let (ada, bob) = (room.say("a", "ada"), room.say("b", "bob"))
        room.join("ada2", user: "u-ada")
        room.join("u-ada")
        #expect(room.edit(ada, "x", "ada2").changed != nil)
        for (ref, name) in [(ada, "bob"), (ada, "mod"), (bob, "ada"), (ada, "u-ada")] {
            #expect(room.edit(ref, "x", name).refusal == 403, "\(name)")
        }
        #expect(room.erase(bob, "ada").refusal == 403)
        // After the guest has gone, its message stays as it is.
        room.submit(.leave(client("bob"), .clientDisconnected))
        room.join("bob3")
        #expect(room.edit(bob, "x", "bob3").refusal == 403)
        #expect(room.page == ["\(ada) x v\(bob.rawValue + 3)", "\(bob) b"])
    }

    @Test("CHG-5: the checks come in their order, and a refused change has no effect")
    func checks() {
        var room = ChangeRoom([.edit])
        let ref = room.say("a")
        let log = room.session.log.lastSeq
        #expect(room.edit(ref, String(repeating: "x", count: 8_193)).refusal == 413)
        #expect(room.edit(ref.next, "x").refusal == 404)
        #expect(room.edit(.zero, "x").refusal == 404)
        #expect(room.erase(ref).refusal == 403, "the setting does not permit it")
        room.join("sub", .subscriber)
        #expect(room.edit(ref, "x", "sub").refusal == 403)
        let rule = ModerationRequest.mute(.user("u-ada"), .init())
        room.submit(.moderate(.server, rule, Acceptance(date: .init(milliseconds: 0))))
        #expect(room.edit(ref, "x").refusal == 403)
        room.session.bounds.changes = []
        #expect(room.edit(ref, "x", "bob").refusal == 403)
        room.session.bounds.history = nil
        #expect(room.page == ["\(ref) a"])
        #expect(room.session.log.entries.allSatisfy { $0.seq <= log || $0.kind != .change(of: ref) })
    }

    @Test("CHG-6, MOD-4: a muted author may not delete, and a moderator still may")
    func mutedDelete() {
        var room = ChangeRoom()
        let ref = room.say("evidence")
        let rule = ModerationRequest.mute(.user("u-ada"), .init())
        room.submit(.moderate(.server, rule, Acceptance(date: .init(milliseconds: 0))))
        #expect(room.erase(ref).refusal == 403)
        #expect(room.page == ["\(ref) evidence"])
        #expect(room.erase(ref, "mod").erased != nil)
    }

    @Test("CHG-5, SIG-11: changes count as signals")
    func rate() {
        var room = ChangeRoom(signalRate: RateLimit(perSecond: 1, burst: 3))
        let ref = room.say("a")
        #expect(room.edit(ref, "b").changed != nil && room.edit(ref, "c").changed != nil)
        #expect(room.edit(ref, "d").refusal == 429 && room.erase(ref).refusal == 429)
    }

    @Test("CHG-4: only kept messages change, and none from before the setting")
    func changeable() {
        var room = ChangeRoom([])
        let before = room.say("a")
        room.session.bounds.changes = [.edit]
        let other = room.say("b", type: "other")
        #expect(room.edit(before, "x").refusal == 404 && room.edit(other, "x").refusal == 404)
        #expect(room.edit(room.say("c"), "x").changed != nil)
    }

    @Test("CHG-6, CHG-7: the author's delete is final, and nothing of any edition is left")
    func delete() {
        var room = ChangeRoom()
        let ref = room.say("first edition")
        _ = room.edit(ref, "second edition")
        room.tell(confirms: false)
        _ = room.edit(ref, "third edition")
        #expect(room.erase(ref).erased != nil)
        #expect(room.edit(ref, "x").refusal == 404)
        #expect(room.page == ["\(ref) erased"])
        #expect(!room.session.lines.contains { $0.contains("edition") })
        #expect(!text(room.session.encoded()).contains("edition"))
        room.tell()
        #expect(room.page == ["\(ref) erased"])
        #expect(room.session.unarchived.isEmpty)
    }

    @Test("CHG-7, HIS-9: erasing a user's messages, or all up to one, takes their editions along")
    func bulkErasure() {
        for erasure in [Erasure.user("u-ada"), .through(Seq(50))] {
            var room = ChangeRoom()
            let ref = room.say("first edition")
            _ = room.edit(ref, "second edition")
            let seq = room.session.log.lastSeq
            room.submit(.erase(.server, erasure))
            #expect(!text(room.session.encoded()).contains("edition"), "\(erasure)")
            #expect(room.edit(ref, "x").refusal == 404)
            #expect(room.changes(after: seq).changes?.isAll == true)
            #expect(room.changes(after: room.session.log.lastSeq).changes?.isAll == false)
        }
    }

    @Test("C1: an edit behind a batch that is on its way is not lost when the archive confirms the batch")
    func editBehindBatch() {
        var room = ChangeRoom()
        let ref = room.say("a")
        guard let batch = room.session.unarchived.nextBatch(atMost: 100, { $0.date }) else { return }
        #expect(room.edit(ref, "b").changed != nil)
        room.archive.carryOut(batch.steps, of: SignalingProtocol.SessionID("1_room")) { _ in }
        room.session.archived(through: batch.last)
        #expect(room.page == ["\(ref) b v\(ref.next)"])
        room.tell()
        #expect(room.page == ["\(ref) b v\(ref.next)"])
    }

    @Test("C1: a repeated batch, and a page that is read before the state forgets, show the newest form")
    func repeatedBatch() {
        var room = ChangeRoom()
        let ref = room.say("a")
        _ = room.edit(ref, "b")
        room.tell(confirms: false)
        _ = room.edit(ref, "c")
        let version = room.session.log.lastSeq
        #expect(room.page == ["\(ref) c v\(version)"])
        room.tell(confirms: false)
        room.tell()
        #expect(room.page == ["\(ref) c v\(version)"])
    }

    @Test("CHG-9: what has changed since a seq, each message once, the earliest last change first")
    func changesAfter() {
        var room = ChangeRoom()
        let refs = (0..<6).map { room.say("\($0)") }
        let start = room.session.log.lastSeq
        _ = room.edit(refs[4], "x")
        _ = room.edit(refs[1], "y")
        _ = room.erase(refs[2])
        _ = room.edit(refs[4], "z")
        room.tell()
        let end = room.session.log.lastSeq
        let all = room.changes(after: start)
        #expect(all.messages.map(\.seq) == [refs[1], refs[2], refs[4]])
        #expect(all.messages[1].content == nil && all.messages[2].short == "\(refs[4]) z v\(end)")
        #expect(all.changes == .init(through: end) && !all.more && all.range == refs[0]...refs[5])
        let first = room.changes(after: start, limit: 2)
        #expect(first.more && first.messages.count == 2)
        let rest = room.changes(after: first.changes?.through ?? .zero, limit: 2)
        #expect(rest.messages.map(\.seq) == [refs[4]] && !rest.more)
        #expect(room.changes(after: end).messages.isEmpty)
        #expect(room.changes(after: end).range == refs[0]...refs[5], "the range of the history")
    }

    @Test("CHG-9, HIS-9: the erasure of a message that is still to come is no change of it")
    func erasureAhead() {
        var room = ChangeRoom()
        let end = room.session.log.lastSeq
        _ = room.erase(end.next.next, "mod")
        let message = room.say("hello")
        #expect(message == end.next.next)
        #expect(room.changes(after: .zero).messages == [] && room.page == ["\(message) hello"])
    }

    @Test("CHG-9: a page of large changes ends, and goes on behind its last row")
    func largeChanges() {
        var room = ChangeRoom()
        let refs = (0..<20).map { room.say("\($0)") }
        let start = room.session.log.lastSeq
        for ref in refs { _ = room.edit(ref, String(repeating: "x", count: 8_000)) }
        var (found, position, pages): ([Seq], Seq, Int) = ([], start, 0)
        while pages < 20 {
            let page = room.changes(after: position)
            pages += 1
            found += page.messages.map(\.seq)
            position = page.changes?.through ?? position
            if !page.more { break }
        }
        #expect(found == refs && pages == 4)
    }

    @Test("G5: of very many messages and changes the oldest are forgotten, and who asks for them loads anew")
    func bounded() {
        var known = Changeables()
        for number in 1...Int64(Changeables.limit + 500) {
            known.keep(Seq(number), by: .guest(client("c\(number)")), type: number % 2 == 0 ? nil : "t")
        }
        #expect(known.count == Changeables.limit && known.message(Seq(500)) == nil)
        #expect(known.message(Seq(501))?.author == .guest(client("c501")))
        let first = Int64(Changeables.limit) + 1_000
        for number in 0..<Int64(Changeables.limit + 300) { known.note(Seq(first + number), of: Seq(number + 1)) }
        #expect(known.changes(after: Seq(first), atMost: 5) == nil)
        #expect(known.changes(after: Seq(first + 299), atMost: 5)?.notes.first?.ref == Seq(301))
    }

    @Test("G5: in a snapshot a message takes at most 4 bytes, and a change at most 6 more")
    func size() {
        var known = Changeables()
        for number in 1...Int64(Changeables.limit) {
            known.keep(Seq(number * 3), by: .user(UserID("u-\(number % 100)")), type: "text-chat")
        }
        func byteCount() -> Int {
            var writer = ByteWriter(capacity: 100_000)
            writer.write(known)
            return writer.bytes.count
        }
        let unchanged = byteCount()
        #expect(unchanged <= 4 * Changeables.limit)
        for number in 1...Int64(Changeables.limit) { known.note(Seq(100_000 + number), of: Seq(number * 3)) }
        #expect(byteCount() - unchanged <= 6 * Changeables.limit)
    }

    @Test("C2: what a state knows of its messages has the same bytes after it was encoded and decoded")
    func coding() throws {
        var known = Changeables(after: Seq(3))
        for number in 4...60 as ClosedRange<Int64> {
            known.keep(Seq(number), by: number % 3 == 0 ? .server : .user(UserID("u\(number % 7)")), type: "chat")
            if number % 5 == 0 { known.note(Seq(number + 100), of: Seq(number - 1)) }
        }
        known.erase(.message(Seq(9)), at: Seq(900))
        var writer = ByteWriter(capacity: 100)
        writer.write(known)
        var reader = ByteReader(writer.bytes)
        var again: Changeables = try reader.value()
        try reader.end()
        for number in 901...990 as ClosedRange<Int64> {
            known.keep(Seq(number), by: .user("u1"), type: nil)
            again.keep(Seq(number), by: .user("u1"), type: nil)
        }
        var (left, right) = (ByteWriter(capacity: 100), ByteWriter(capacity: 100))
        left.write(known)
        right.write(again)
        #expect(left.bytes == right.bytes && again.message(Seq(9)) == nil && again.message(Seq(10)) != nil)
    }

    @Test("LOG-2, HIS-3: whatever seq a request names, it is refused, or the log can read the command again")
    func namedSeqs() throws {
        let requests = [
            #""op":"change","rel":"edit","ref""#, #""op":"erase","ref""#, #""op":"erase","through""#,
            #""op":"moderate","action":"unmute","ref""#, #""op":"react","keys":["👍"],"ref""#, #""op":"read","through""#,
        ]
        let greatest = Seq.greatest.rawValue
        var refusedCount = 0
        for request in requests {
            for seq in [0, 1, greatest, greatest + 1, 1 << 62, .max - 1, .max, -1, .min] {
                guard let message = try? message(#"{"id":1,\#(request):\#(seq)}"#) else {
                    refusedCount += 1
                    continue
                }
                let command: SessionCommand
                switch message {
                case .change(_, let change): command = .change(.server, change)
                case .erase(_, let erasure): command = .erase(.server, erasure)
                case .moderate(_, let request):
                    command = .moderate(.server, request, Acceptance(date: .init(milliseconds: 0)))
                case .react(_, let request): command = .react(.server, request)
                case .read(_, let seq):
                    let bytes = LoggedCommand.marked([ReadMarker("u", through: seq)]).encoded()
                    #expect(try LoggedCommand(decoding: bytes).encoded() == bytes, "\(seq)")
                    continue
                default: throw CodingFault.malformed
                }
                let bytes = LoggedCommand.session(command).encoded()
                #expect(try LoggedCommand(decoding: bytes).encoded() == bytes, "\(request) \(seq)")
            }
        }
        #expect(refusedCount == requests.count * 6)
    }

    @Test("LOG-16: in a session of older rules nobody changes anything, and the changes begin with the newer ones")
    func olderRules() {
        var bounds = SessionState.Bounds()
        (bounds.history, bounds.changes) = (.all, [.edit, .erase])
        var session = SessionState(id: room, epoch: Epoch("e"), bounds: bounds, rules: .streams)
        session.join("ada")
        session.signal(from: "ada", data: "a")
        #expect(session.permittedChanges == nil && session.changeables.count == 0)
        session.beginCommand(at: LogPosition(number: 9, id: CommandID(run: RunID(1), counter: 9)), by: .changes)
        session.signal(from: "ada", data: "b")
        #expect(session.permittedChanges == [.edit, .erase] && session.changeables.count == 1)
        #expect(session.changeables.completeAfter == Seq(2))
    }
}
