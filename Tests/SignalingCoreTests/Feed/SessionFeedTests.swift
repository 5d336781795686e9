import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

extension ChangeRoom {
    /// A room whose project has a feed.
    fileprivate static func withFeed(
        unreadDelay: Duration = .zero, readMarkers: ReadMarkers = .off, users: [String] = ["ada", "bob"]
    ) -> ChangeRoom {
        var room = ChangeRoom(readMarkers: readMarkers, users: users)
        room.session.bounds.announces = true
        room.session.bounds.unreadDelay = unreadDelay
        room.tell()
        return room
    }

    /// Takes what waits for the archive, as entries.
    fileprivate mutating func takeEntries(atMost count: Int = 1_000) -> [FeedEntry] {
        guard
            let batch = session.unarchived.nextBatch(atMost: count, announces: session.bounds.announces, { $0.date })
        else { return [] }
        session.archived(through: batch.last)
        guard case .announce(let entries)? = batch.steps.last else { return [] }
        return entries
    }

    /// What the feed tells now, in short: `messages 5–6 (2)`, `change of 5`, or the beginning of an event.
    fileprivate mutating func takeAnnouncements() -> [String] {
        takeEntries().flatMap(\.announcements).map { announcement in
            switch announcement {
            case .messages(let first, let last, let count): "messages \(first)–\(last) (\(count))"
            case .change(let seq): "change of \(seq)"
            case .event(let members): text(members)
            }
        }
    }

    fileprivate mutating func leave(_ name: String) {
        submit(.leave(SocketBinding(client(name), socket1), .clientDisconnected))
    }
}

@Suite("The feed of a session")
struct SessionFeedTests {
    @Test("FEED-1: what was kept, changed and erased, and who came and went, is announced in the order of the session")
    func order() {
        var room = ChangeRoom.withFeed()
        let (first, second) = (room.say("one"), room.say("two"))
        _ = room.say("not kept", type: "other")
        _ = room.edit(first, "three")
        _ = room.erase(second)
        let third = room.say("four")
        room.leave("bob")
        let last = room.session.log.lastSeq
        let told = room.takeAnnouncements()
        #expect(told.count == 5)
        #expect(told[0] == "messages \(first)–\(second) (2)" && told[1] == "change of \(first)")
        #expect(told[2].hasPrefix(#""event":"erased","seq":"#) && told[2].contains(#""ref":\#(second),"time":"#))
        #expect(told[3] == "messages \(third)–\(third) (1)")
        #expect(told[4].hasPrefix(#""event":"connectionDestroyed","seq":\#(last),"connection":{"connectionId":"#))
        #expect(told[4].contains(#""reason":"clientDisconnected","time":"#))
    }

    @Test("FEED-1: without a feed nothing is kept for it")
    func without() {
        var room = ChangeRoom()
        room.tell()
        room.leave("bob")
        #expect(room.session.unarchived.isEmpty)
        _ = room.say("one")
        #expect(room.takeEntries().isEmpty)
    }

    @Test("FEED-1: an entry has at most 100 events, and a message that changes often is named once")
    func entries() {
        var room = ChangeRoom.withFeed()
        let seqs = (0..<250).map { room.say("\($0)") }
        for _ in 0..<5 { _ = room.edit(seqs[0], "again") }
        let entries = room.takeEntries()
        #expect(entries.map(\.eventCount) == [100, 100, 51])
        #expect(entries[0].announcements == [.messages(first: seqs[0], last: seqs[99], count: 100)])
        #expect(entries[2].announcements.last == .change(of: seqs[0]))
        for entry in entries { #expect(FeedEntry(decoding: entry.encoded) == entry) }
    }

    @Test("FEED-2: moderation is announced, with who did it and why")
    func moderation() {
        var room = ChangeRoom.withFeed()
        room.submit(
            .moderate(
                room.nextSender("mod"), .mute(.user("u-bob"), .init(seconds: 60, reason: "later")),
                .init(date: .init(milliseconds: 5))))
        let told = room.takeAnnouncements()
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix(#""event":"moderated","seq":"#) == true)
        #expect(told.first?.contains(#""user":"u-bob""#) == true && told.first?.contains(#""reason":"later""#) == true)
    }

    @Test("FEED-4: when the archive fails for long, the feed tells which events it lacks")
    func missed() {
        var room = ChangeRoom.withFeed()
        var waiting = Unarchived()
        for seq in 1...Int64(Unarchived.countLimit) {
            waiting.announce(.erased(Seq(seq), .message(Seq(1))), at: Seq(seq), .seconds(1))
        }
        #expect(waiting.isFull)
        let limit = Int64(Unarchived.countLimit)
        for seq in [limit + 1, limit + 4] {
            waiting.announce(.erased(Seq(seq), .message(Seq(1))), at: Seq(seq), .seconds(2))
        }
        #expect(waiting.items.count == Unarchived.countLimit + 1)
        waiting.archived(through: Seq(limit))
        let batch = waiting.nextBatch(atMost: 10, announces: true) { $0.date }
        guard case .announce(let entries)? = batch?.steps.last,
            case .event(let members)? = entries[0].announcements.first
        else {
            Issue.record("nothing was announced")
            return
        }
        #expect(text(members).hasPrefix(#""event":"gap","from":\#(limit + 1),"through":\#(limit + 4),"#))
        #expect(room.takeEntries().isEmpty)
    }

    @Test("FEED-1: the state with its events goes through bytes unchanged")
    func coding() throws {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(30))
        _ = room.say("one")
        room.leave("bob")
        _ = room.say("two")
        let copy = try SessionState(decoding: room.session.encoded())
        #expect(copy.encoded() == room.session.encoded())
        #expect(copy.tellsUnreadAt == room.session.tellsUnreadAt && copy.bounds.announces)
        #expect(copy.absentees == room.session.absentees)
        var other = room
        other.session = copy
        let told = room.takeAnnouncements()
        #expect(told.count == 3 && other.takeAnnouncements() == told)
    }
}

@Suite("Unread messages of users who are away")
struct UnreadTests {
    private func unread(_ room: inout ChangeRoom) -> [String] {
        room.takeAnnouncements().filter { $0.contains("user.unread") }
    }

    @Test("FEED-6: who is away learns once of what waits, and again only after a connection")
    func once() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(30))
        _ = room.say("bob has this one")
        room.leave("bob")
        #expect(room.session.tellsUnreadAt == nil)
        room.advance(to: .seconds(10))
        _ = room.say("one")
        #expect(room.session.nextDeadline == .seconds(40))
        room.advance(to: .seconds(20))
        let last = room.say("two")
        room.advance(to: .seconds(39.9))
        #expect(unread(&room).isEmpty)
        room.advance(to: .seconds(40))
        let told = unread(&room)
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix(#""event":"user.unread","seq":\#(last),"user":"u-bob","count":2,"#) == true)
        _ = room.say("not told")
        room.advance(to: .seconds(200))
        #expect(unread(&room).isEmpty && room.session.tellsUnreadAt == nil)
        room.join("bob", user: "u-bob")
        room.leave("bob")
        _ = room.say("told")
        room.advance(to: .seconds(230))
        #expect(unread(&room).count == 1)
    }

    @Test("FEED-6: nobody is told of a user who has come back, of what was erased, or of own messages")
    func nothing() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(30))
        room.leave("bob")
        let seq = room.say("one")
        room.join("bob", user: "u-bob")
        room.advance(to: .seconds(60))
        #expect(unread(&room).isEmpty)
        room.leave("bob")
        let erased = room.say("two")
        _ = room.erase(erased)
        room.advance(to: .seconds(120))
        #expect(unread(&room).isEmpty && seq < erased)
        // The user is here with another connection.
        room.join("bob", user: "u-bob")
        room.join("bob2", user: "u-bob")
        room.leave("bob2")
        _ = room.say("three")
        room.advance(to: .seconds(180))
        #expect(unread(&room).isEmpty)
    }

    @Test("FEED-6: what comes while a client has no socket is unread, and told once, also if its connection ends then")
    func lost() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(3))
        _ = room.say("bob has this one")
        room.submit(.detach(SocketBinding(client("bob"), socket1)))
        let last = room.say("bob does not")
        room.advance(to: .seconds(4))
        #expect(unread(&room).first?.contains(#""seq":\#(last),"user":"u-bob","count":1,"#) == true)
        // The resume window is over.
        room.advance(to: .seconds(60))
        #expect(room.session.contains(client("bob")) == false && unread(&room).isEmpty)
        #expect(room.session.tellsUnreadAt == nil)
    }

    @Test(
        "FEED-6: of several devices the one that has got most counts, and a node's loss is as old as the node's last sign"
    )
    func devices() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(3))
        room.join("phone", user: "u-bob")
        room.submit(.detach(SocketBinding(client("phone"), socket1)))
        let seen = room.say("the other device has it")
        room.leave("bob")
        #expect(room.session.absentees["u-bob"]?.place ?? .zero > seen && room.session.tellsUnreadAt != nil)
        room.advance(to: .seconds(9))
        #expect(unread(&room).isEmpty)

        room = ChangeRoom.withFeed(unreadDelay: .seconds(3))
        room.advance(to: .seconds(5))
        let missed = room.say("after the last sign")
        room.session.nodeLost(nil, at: .seconds(4), now: .seconds(6))
        #expect(room.session.absentees["u-bob"]?.place ?? .greatest < missed)
    }

    @Test("FEED-6: a read marker is the user's place, also for what was there before the departure")
    func marker() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(30), readMarkers: .shared)
        let first = room.say("read")
        _ = room.say("not read")
        _ = room.session.handleUnlogged(
            .read(SocketBinding(client("bob"), socket1), through: first), now: room.now, effects: &room.effects)
        room.session.mark(room.session.takeMarkers(), effects: &room.effects)
        room.leave("bob")
        #expect(room.session.tellsUnreadAt == room.now.advanced(by: .seconds(30)))
        room.advance(to: .seconds(60))
        #expect(unread(&room).first?.contains(#""count":1,"#) == true)
    }

    @Test(
        "FEED-6: a session with something to tell is needed until it is told, and remembers a bounded number of users")
    func bounds() {
        var room = ChangeRoom.withFeed(unreadDelay: .seconds(30), users: ["ada", "bob"])
        room.leave("bob")
        _ = room.say("one")
        for name in ["ada", "guest", "mod"] { room.leave(name) }
        _ = room.takeEntries()
        #expect(room.session.absentees.waitingSince != nil && room.session.isNeeded)
        var absentees = Absentees()
        for number in 0...Absentees.limit {
            absentees.add(UserID("u-\(number)"), .init(place: Seq(Int64(number + 1)), since: nil))
        }
        #expect(absentees.count == Absentees.limit && absentees["u-0"] == nil && absentees["u-1"] != nil)
    }
}

@Suite("Offsets and entries of feeds")
struct FeedOffsetTests {
    @Test("FEED-3: offsets are read as they were written, and other text is refused")
    func coding() {
        for parts in [[0], [1], [Int64.max], [5, 0, 7]] as [[Int64]] {
            #expect(FeedOffset(text: FeedOffset(parts).text) == FeedOffset(parts))
        }
        for bad in [
            "", "0", "-000000000000001", "+000000000000001", "g000000000000000", "ffffffffffffffff", "é00000000000000",
        ] {
            #expect(FeedOffset(text: bad) == nil, "\(bad)")
        }
        #expect(
            FeedOffset([1, 2]).text < FeedOffset([1, 3]).text && FeedOffset([1, 9]).text < FeedOffset([2, 9]).text)
        #expect(FeedOffset([1, 2]).fitted(to: 3) == FeedOffset([1, 2, 0]))
    }

    @Test("FEED-3: positions increase, also if the clock goes back, and are not given twice after a loss")
    func positions() {
        let later = FeedOffset.next(after: 0, at: .init(milliseconds: 1_000))
        #expect(FeedOffset.next(after: later, at: .init(milliseconds: 1_000)) == later + 1)
        #expect(FeedOffset.next(after: later, at: .init(milliseconds: 0)) == later + 1)
        #expect(FeedOffset.next(after: 0, at: .init(milliseconds: 1_001)) > later + 1_000)
        #expect(FeedOffset.time(of: later) == WallTime(milliseconds: 1_000))
        #expect(FeedOffset.next(after: 0, at: .init(milliseconds: .max)) > 0)
    }

    @Test("FEED-1: other bytes are no entry")
    func entries() {
        let entry = FeedEntry([
            .messages(first: Seq(3), last: Seq(9), count: 4), .change(of: Seq(3)), .event(Array(#""event":"x""#.utf8)),
        ])
        #expect(FeedEntry(decoding: entry.encoded) == entry)
        for length in 0..<entry.encoded.count {
            #expect(FeedEntry(decoding: Array(entry.encoded.prefix(length))) == nil, "\(length)")
        }
        #expect(FeedEntry(decoding: entry.encoded + [0]) == nil)
        #expect(FeedEntry(decoding: [1, 0, 9, 3, 1]) == nil)
        #expect(FeedEntry(decoding: [1, 7, 3]) == nil)
    }
}
