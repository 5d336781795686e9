import SignalingProtocol
import SignalingVerification
import Testing

/// Each feed breaks one promise of section 22, and only that one.
@Suite("the judge of the wire: the feed")
struct WireFeedTests {
    /// Ada and Bob have joined at 1 and 2, and Ada says "a", "b" and "c", at 3 to 5. Both kinds of consumers.
    private static func ofThree() -> Wire {
        var wire = Wire.ofTwo()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        wire.judge.terms.wallTimeAtZero = WallTime(milliseconds: 0)
        for (index, data) in ["a", "b", "c"].enumerated() { wire.exchange(data, seq: 3 + index, id: 2 + index) }
        _ = wire.judge.addFeedConsumer("pull", isPosted: false)
        return wire
    }

    private static let joins = [presence("connectionCreated", "ada", 1), presence("connectionCreated", "bob", 2)]
    private static let three = [said("a", 3), said("b", 4), said("c", 5)]
    private static let all = joins + three

    private static func presence(_ event: String, _ id: String, _ seq: Int, user: String? = nil) -> String {
        told(event, #""seq":\#(seq),"connection":\#(details(id, user: user)),"time":0"#)
    }

    private static func said(_ data: String, _ seq: Int, members: String = "", from: String = "ada") -> String {
        of(message(data, seq, from: from, members: members))
    }

    /// A message of a page, as an event.
    private static func of(_ message: String, _ event: String = "signal") -> String {
        told(event, String(message.dropFirst().dropLast()))
    }

    private static func told(_ event: String, _ members: String) -> String {
        #"{"event":"\#(event)","sessionId":"s",\#(members)}"#
    }

    private static func gap(_ first: Int, _ last: Int) -> String {
        told("gap", #""from":\#(first),"through":\#(last)"#)
    }

    private static func deliver(_ events: [String], to consumer: Int = 0, in wire: inout Wire) {
        let request = wire.judge.asksFeed(at: wire.now)
        let body = Array("[\(events.joined(separator: ","))]".utf8)
        wire.judge.gotFeed(body, consumer, for: request, upSince: wire.now, at: wire.now)
    }

    private func expect(_ promises: [Violation.Promise], _ events: [String]..., in wire: Wire = ofThree()) {
        var wire = wire
        for batch in events { Self.deliver(batch, in: &wire) }
        let found = wire.violations()
        #expect(Set(found.map(\.promise)) == Set(promises), "\(found)")
    }

    @Test("FEED-1: everything in order, in one batch or several, is no violation")
    func good() {
        expect([], Self.all)
        expect([], Self.joins, [], Self.three)
    }

    @Test("FEED-1: a message or a join is missing, at the end or in the middle", arguments: 0..<5)
    func missing(index: Int) {
        var events = Self.all
        events.remove(at: index)
        expect([.f1], events)
    }

    @Test("FEED-4: what a gap covers is missing with notice")
    func gaps() {
        expect([], Self.joins, [Self.gap(3, 4), Self.said("c", 5)])
        expect([.f1], Self.joins, [Self.gap(4, 5)])
        expect([.f2], Self.all, [Self.told("gap", #""from":3"#)])
    }

    @Test("FEED-4: a consumer whose place is gone begins anew, and what comes again is no double")
    func gone() {
        for isTold in [true, false] {
            var wire = Self.ofThree()
            Self.deliver(Self.joins, in: &wire)
            if isTold { wire.judge.feedIsGone(0) }
            Self.deliver([Self.said("c", 5)], in: &wire)
            #expect(Set(wire.violations().map(\.promise)) == (isTold ? [] : [.f1]))
        }
        // A server that posts says so in a batch.
        expect([], Self.joins, [#"{"event":"gap"}"#, Self.said("c", 5)])
        expect([], Self.all, [#"{"event":"gap"}"#] + Self.all)
    }

    @Test("FEED-1: what is acknowledged behind the new beginning is due again")
    func missingBehindGone() {
        var wire = Self.ofThree()
        Self.deliver(Self.joins, in: &wire)
        wire.judge.feedIsGone(0)
        wire.exchange("d", seq: 6, id: 6)
        Self.deliver([Self.said("c", 5)], in: &wire)
        #expect(wire.violations().map(\.promise) == [.f1])
    }

    @Test("FEED-1: events of a session come in another order")
    func order() {
        expect([.f2], Self.joins + [Self.three[1], Self.three[0], Self.three[2]])
        expect([.f2], [Self.joins[1], Self.joins[0]] + Self.three)
    }

    @Test("FEED-1: a reader gets nothing twice")
    func doubles() {
        expect([.f2], Self.all, [Self.three[2]])
        expect([.f2], Self.all, [Self.joins[1]])
    }

    @Test("FEED-5: a receiver gets the last batch again, and nothing older", arguments: [100, 101])
    func lastBatch(count: Int) {
        var wire = Wire.ofTwo()
        wire.judge.terms.history = WireJudge.Terms.KeptHistory(types: nil)
        let consumer = wire.judge.addFeedConsumer("push", isPosted: true)
        var events = Self.joins
        for number in 0..<(count - 2) {
            wire.exchange("\(number)", seq: 3 + number, id: 2 + number)
            events.append(Self.said("\(number)", 3 + number))
        }
        Self.deliver(events, to: consumer, in: &wire)
        Self.deliver(events, to: consumer, in: &wire)
        #expect(wire.judge.feedTally(of: consumer).doubles == count)
        #expect(Set(wire.violations().map(\.promise)) == (count > 100 ? [.f2] : []))
    }

    @Test("FEED-1: behind a kill comes again what was announced shortly before", arguments: [1.0, 60])
    func killed(seconds: Double) {
        var wire = Self.ofThree()
        Self.deliver(Self.all, in: &wire)
        wire.pass(seconds)
        wire.judge.feedMayRepeat(since: wire.now, at: wire.now)
        Self.deliver(Self.three, in: &wire)
        #expect(Set(wire.violations().map(\.promise)) == (seconds > 50 ? [.f2] : []))
    }

    @Test("FEED-2: the content, the sender and the kind of an event are those of its seq")
    func content() {
        expect([.h1], Self.joins + [Self.said("x", 3)] + Self.three.dropFirst())
        expect([.h1], Self.joins + [Self.said("a", 3, from: "bob")] + Self.three.dropFirst())
        expect([.f2], [Self.joins[0], Self.presence("connectionDestroyed", "ada", 2)] + Self.three)
        expect([.f2], Self.all, [Self.told("news", #""seq":6"#)])
        expect([.f2], Self.all, [#"{"event":"signal"}"#])
    }

    @Test("FEED-2: presence in order: nobody joins twice, or leaves who has not joined")
    func presence() {
        var wire = Self.ofThree()
        wire.leave([2])
        wire.down(1, destroyed("bob", 6, "clientDisconnected"))
        let leave = Self.presence("connectionDestroyed", "bob", 6)
        expect([], Self.all, [leave], in: wire)
        expect([.f1], Self.all, in: wire)
        expect([.f2], Self.all, [Self.presence("connectionDestroyed", "eve", 6)], in: wire)
        expect([.f2], Self.all, [Self.presence("connectionCreated", "bob", 7)])
    }

    @Test("FEED-2: an edit comes behind its message, and the last one comes")
    func edits() {
        var wire = Self.ofThree()
        let edited = message("A", 3, members: version(6))
        Self.deliver(Self.all, in: &wire)
        wire.edit(3, "A", seq: 6)
        expect([], [Self.of(edited, "change")], in: wire)
        expect([.f1], in: wire)
        expect([.c2], [Self.of(message("Z", 3, members: version(6)), "change")], in: wire)
        // In a read that begins behind the acknowledgement, the message is as it was.
        expect([.c1], [Self.of(message("a", 3), "change"), Self.of(edited, "change")], in: wire)
        // The message is told as it is now.
        wire = Self.ofThree()
        wire.edit(3, "A", seq: 6)
        let now = [Self.of(edited)] + Self.three.dropFirst()
        expect([], Self.joins + now + [Self.of(edited, "change")], in: wire)
        expect([.f2], Self.joins, [Self.of(edited, "change")] + now, in: wire)
    }

    @Test("HIS-9: what was erased before the read began comes without its content")
    func erasures() {
        let erasure = Self.told("erased", #""seq":6,"ref":4,"time":0"#)
        var wire = Self.ofThree()
        wire.erase(4, seq: 6)
        wire.pass(1)
        let kept = [Self.three[0], Self.of(tombstone(4)), Self.three[2]]
        expect([], Self.joins + kept + [erasure], in: wire)
        expect([.h1], Self.all + [erasure], in: wire)
        expect([.f1], Self.joins + kept, in: wire)
        expect([.h1], Self.joins + kept)
        // A page that was read before.
        wire = Self.ofThree()
        let request = wire.judge.asksFeed(at: wire.now)
        wire.erase(4, seq: 6)
        wire.pass(1)
        wire.judge.gotFeed(
            Array("[\((Self.all + [erasure]).joined(separator: ","))]".utf8), 0, for: request, upSince: wire.now,
            at: wire.now)
        #expect(wire.violations() == [])
    }

    @Test("HIS-9: a receiver gets erased content for as long as a post may take", arguments: [1.0, 30])
    func erasedContentInAPost(seconds: Double) {
        var wire = Self.ofThree()
        let consumer = wire.judge.addFeedConsumer("push", isPosted: true)
        wire.erase(4, seq: 6)
        wire.pass(seconds)
        let events = Self.all + [Self.told("erased", #""seq":6,"ref":4,"time":0"#)]
        wire.judge.gotFeed(
            Array("[\(events.joined(separator: ","))]".utf8), consumer, for: nil, upSince: wire.now, at: wire.now)
        #expect(wire.violations(isSettled: false).map(\.promise) == (seconds > 20 ? [.h1] : []))
    }

    @Test("FEED-2: messages up to an erased one need not come")
    func removed() {
        var wire = Self.ofThree()
        wire.eraseAll()
        wire.pass(1)
        let erasure = Self.told("erased", #""seq":6,"through":5,"time":0"#)
        expect([], Self.joins + [Self.gap(3, 5), erasure], in: wire)
        expect([], Self.joins + [erasure], in: wire)
        expect([.f1], Self.joins + [Self.gap(3, 5)], in: wire)
    }

    @Test("FEED-6: what is unread for a user is told once, until the user has connected again")
    func unread() {
        let unread = Self.told("user.unread", #""seq":5,"user":"u","count":1,"time":0"#)
        expect([], Self.all, [unread])
        expect([.f2], Self.all, [unread], [unread])
        var wire = Self.ofThree()
        wire.users = ["eve": "u"]
        wire.connect(3, as: "eve", seq: 6, others: ["ada", "bob"])
        for socket in [1, 2] { wire.down(socket, created("eve", 6, user: "u")) }
        expect([], Self.all, [unread, Self.presence("connectionCreated", "eve", 6, user: "u"), unread], in: wire)
    }

    @Test("FEED-1: a consumer is behind until it has the newest events")
    func behind() {
        var wire = Self.ofThree()
        Self.deliver(Self.joins, in: &wire)
        #expect(wire.judge.isFeedBehind)
        Self.deliver(Self.three, in: &wire)
        #expect(!wire.judge.isFeedBehind)
        #expect(wire.judge.feedTally(of: 0).events == 5)
    }
}
