import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// What each answer about the order means in each standing of a session, and what the session does next.
@Suite("Redis log: what Redis vouches for")
struct StandingTests {
    private func mark(_ number: UInt64, generation: String = "g", run: RunID = SessionBench.run) -> StoredMark {
        let position = SessionBench.position(number, run: run)
        return StoredMark(generation: generation, number: position.number, id: position.id)
    }

    private func stored(
        _ numbers: ClosedRange<UInt64>, generation: String = "g", snapshot: UInt64? = nil
    ) throws -> StoredSession {
        func bytes(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }
        func id(_ number: UInt64) -> RedisReply { bytes(SessionBench.position(number).id.text) }
        let entries = numbers.map { number in
            RedisReply.array([
                bytes("\(number)-0"),
                .array([bytes("at"), bytes("5"), bytes("id"), id(number), bytes("cmd"), bytes("x")]),
            ])
        }
        let last = numbers.upperBound
        var meta = [
            bytes("g"), bytes(generation), bytes("n"), bytes("\(last)"), bytes("id"), id(last), bytes("at"), bytes("5"),
        ]
        if let snapshot { meta += [bytes("s"), bytes("\(snapshot)"), bytes("si"), id(snapshot)] }
        return try #require(StoredSession("s", meta: .array(meta), snapshot: bytes("state"), entries: .array(entries)))
    }

    // MARK: - What is next

    @Test("LOG-34: a session asks to open or verifies first, and appends when Redis vouches for it")
    func next() {
        let rows: [(SessionBench, String, [String])] = [
            (.opening(.unverified), "asked", ["open"]),
            (.opening(.asked), "asked", []),
            (.followed(.unverified, through: 0), "asked", ["open"]),
            (.followed(.unverified), "asked", ["restore 3"]),
            (.followed(.asked), "asked", []),
            (.followed(.verified), "verified", ["append [4]"]),
            (.followed(.checking), "checking", ["append [4]"]),
        ]
        for (bench, standing, effects) in rows {
            let before = bench.standing
            bench.submit(4)
            let happened = bench.step { $0.proceed(&$1, &$2) }
            #expect(happened == effects, "\(before)")
            #expect(bench.standing == standing, "\(before)")
        }
    }

    @Test("LOG-31: while Redis is restored, a session verifies, and neither opens nor appends")
    func whileRestoring() {
        let rows: [(SessionBench, [String])] = [
            (.opening(.unverified), []), (.followed(.unverified, through: 0), []),
            (.followed(.unverified), ["restore 3"]), (.followed(.verified), []),
        ]
        for (bench, effects) in rows {
            bench.link.courier.phase = .ready(.restoring(until: .seconds(200), period: nil))
            bench.submit(4)
            let happened = bench.step { $0.proceed(&$1, &$2) }
            #expect(happened == effects, "\(bench.standing)")
        }
    }

    @Test("a session that has ended does nothing more, whatever its standing")
    func ended() {
        for standing in [FollowedSession.Standing.unverified, .asked, .verified, .checking] {
            let bench = SessionBench.followed(standing)
            bench.session.stage = .ended(because: nil)
            bench.submit(4)
            let happened = bench.attend()
            #expect(happened.isEmpty)
            #expect(!bench.session.needsAttention)
        }
    }

    // MARK: - Opening

    @Test("a session that Redis does not have is opened empty, with what has arrived meanwhile")
    func openedNothing() {
        let bench = SessionBench.opening(.asked)
        let early = bench.step { $0.receive([SessionBench.entry(1)], "g", &$1, &$2) }
        #expect(early.isEmpty)
        let effects = bench.step { $0.opened(.none(nil), &$1, &$2) }
        #expect(effects == ["s opened 0 []", "s confirmed [1]"])
        #expect(bench.standing == "verified")
    }

    @Test("a session that Redis has is opened with its snapshot and entries, and then with what has arrived meanwhile")
    func openedStored() throws {
        let bench = SessionBench.opening(.asked)
        for early: UInt64 in [2, 4] {
            _ = bench.step {
                $0.receive([SessionBench.entry(early, run: SessionBench.run)], "g", &$1, &$2)
            }
        }
        let session = try stored(2...3, snapshot: 1)
        let effects = bench.step { $0.opened(.found(nil, NodeMarks(marks: [:]), session), &$1, &$2) }
        #expect(effects == ["s opened 1 [2, 3]", "s confirmed [4]"])
        #expect(bench.standing == "verified")
    }

    @Test("early entries of another generation than the opened one are forgotten")
    func earlyEntriesOfAnother() throws {
        let bench = SessionBench.opening(.asked)
        _ = bench.step { $0.receive([SessionBench.entry(2)], "former", &$1, &$2) }
        let session = try stored(1...1)
        let effects = bench.step { $0.opened(.found(nil, NodeMarks(marks: [:]), session), &$1, &$2) }
        #expect(effects == ["s opened 0 [1]"])
        #expect(bench.session.inbox.gapSince == nil)
    }

    @Test("a generation that is removed while it is opened is not opened, and its late messages are ignored")
    func removedWhileOpened() throws {
        let bench = SessionBench.opening(.asked)
        _ = bench.step { $0.received(.removed(generation: "g"), &$1, &$2) }
        let session = try stored(1...1)
        let again = bench.step { $0.opened(.found(nil, NodeMarks(marks: [:]), session), &$1, &$2) }
        #expect(again == ["open"])
        #expect(bench.standing == "asked")
        _ = bench.step { $0.opened(.none(nil), &$1, &$2) }
        let late = bench.step { $0.receive([SessionBench.entry(1)], "g", &$1, &$2) }
        #expect(late.isEmpty)
    }

    @Test("a damaged session is deleted, and opened once more")
    func damaged() {
        let bench = SessionBench.opening(.asked)
        let effects = bench.step {
            $0.opened(.damaged(StoredEnd(generation: "g", number: "3", id: "x")), &$1, &$2)
        }
        #expect(effects == ["note damaged s", "remove 3", "delete"])
        #expect(bench.standing == "asked")
        let again = bench.step { $0.deleted(nil, &$1, &$2) }
        #expect(again == ["open"])
    }

    @Test("LOG-37: a Redis whose sessions are all damaged gets the pause before the next link")
    func damagedAgain() {
        let bench = SessionBench.opening(.asked)
        _ = bench.step { $0.opened(.damaged(nil), &$1, &$2) }
        _ = bench.step { $0.deleted(nil, &$1, &$2) }
        #expect(bench.step { $0.opened(.damaged(nil), &$1, &$2) } == ["useless"])
    }

    @Test("LOG-38: a failure of a function has Redis look at the session's keys, once at a time")
    func repair() {
        let failure = ShardRefusal.failed(RedisFailure("WRONGTYPE Operation against a key"))
        let bench = SessionBench.followed(.checking)
        #expect(bench.step { $0.compared(.refused(failure), &$1, &$2) } == ["repair"])
        #expect(bench.step { $0.kept(.refused(failure), &$1, &$2) } == [])
        #expect(bench.step { $0.filled(from: 4, .refused(failure), &$1, &$2) } == [])
        #expect(bench.refusal == nil, "the session may be repaired at once")
        #expect(bench.step { $0.repaired(.sound, &$1, &$2) } == [])
        #expect(bench.refusal == .failing, "no key of this session is the reason")
        #expect(bench.step { $0.filled(from: 4, .refused(failure), &$1, &$2) } == ["repair"])
        #expect(bench.step { $0.repaired(.removed, &$1, &$2) } == ["ended: it was damaged"])
        let opening = SessionBench.opening(.asked)
        #expect(opening.step { $0.opened(.refused(failure), &$1, &$2) } == ["repair"])
        #expect(opening.step { $0.repaired(.removed, &$1, &$2) } == [])
        #expect(opening.attend() == ["open"])
    }

    @Test("Redis refuses to delete a damaged session: it is opened again by a later tick, not at once")
    func undeletable() {
        let bench = SessionBench.opening(.asked)
        let effects = bench.step { $0.deleted(.failed(.other("BUSY")), &$1, &$2) }
        #expect(effects.isEmpty)
        #expect(bench.refusal == .failing)
        #expect(bench.session.needsAttention)
        let later = bench.attend()
        #expect(later == ["open"])
    }

    @Test("a session that was empty here and began elsewhere is opened with its entries")
    func openedAgain() throws {
        let bench = SessionBench.followed(.asked, through: 0)
        let session = try stored(1...2)
        let effects = bench.step { $0.opened(.found(nil, NodeMarks(marks: [:]), session), &$1, &$2) }
        #expect(effects == ["s confirmed [1, 2]"])
        // Without its beginning, it cannot be followed.
        let late = SessionBench.followed(.asked, through: 0)
        let trimmed = try stored(2...2, snapshot: 1)
        let dropped = late.step { $0.opened(.found(nil, NodeMarks(marks: [:]), trimmed), &$1, &$2) }
        #expect(dropped == ["ended: its beginning is missing"])
    }

    @Test("a refusal leaves the session unverified: a later tick asks again", arguments: [0, 1, 2])
    func refused(index: Int) {
        let refusals: [(ShardRefusal, [String])] = [
            (.greetAgain, ["must greet"]), (.failed(.functionMissing), ["library missing"]),
            (.notUnderstood, ["useless"]),
        ]
        let (refusal, trouble) = refusals[index]
        let opening = SessionBench.opening(.asked)
        #expect(opening.step { $0.opened(.refused(refusal), &$1, &$2) } == trouble)
        let followed = SessionBench.followed(.asked)
        #expect(followed.step { $0.verified(.refused(refusal), &$1, &$2) } == trouble)
        for bench in [opening, followed] {
            #expect(bench.standing == "unverified" && bench.session.needsAttention)
            #expect(bench.refusal == nil)
        }
    }

    @Test("another Redis has become the primary: the link is of no use", arguments: [0, 1])
    func useless(index: Int) {
        let failure = [RedisFailure.readOnly, .refused("NOPERM")][index]
        let bench = SessionBench.followed(.asked)
        #expect(bench.step { $0.verified(.refused(.failed(failure)), &$1, &$2) } == ["useless"])
    }

    // MARK: - Verifying

    @Test("LOG-33, LOG-34: Redis has the same order, or more of it")
    func fine() {
        for standing in [FollowedSession.Standing.asked, .checking] {
            let same = SessionBench.followed(standing)
            same.submit(4)
            #expect(same.step { $0.verified(.fine(3), &$1, &$2) } == ["append [4]"])
            #expect(same.standing == "verified")
            let behind = SessionBench.followed(standing)
            #expect(behind.step { $0.verified(.fine(5), &$1, &$2) } == ["fill 4..."])
        }
    }

    @Test("G1, LOG-31: what waits behind the end that Redis has is forgotten, and asked for")
    func forgotten() {
        let bench = SessionBench.followed(.asked)
        _ = bench.step { $0.receive([SessionBench.entry(5), SessionBench.entry(7)], "g", &$1, &$2) }
        #expect(bench.step { $0.verified(.fine(6), &$1, &$2) } == ["fill 4...4"])
        #expect(bench.session.inbox.waitingEntries.map(\.position.number) == [5])
    }

    @Test("LOG-31: Redis has forgotten the session, and the node gives it the engine's state")
    func wanted() {
        let bench = SessionBench.followed(.asked)
        #expect(
            bench.step { $0.verified(.wanted(SessionBench.position(2)), &$1, &$2) } == ["ask for the state of s"])
        #expect(bench.standing == "asked")
        #expect(bench.step { $0.stateAsked(SessionBench.snapshot(3), &$1, &$2) } == ["restore 3 with snapshot"])
        #expect(bench.standing == "asked")
    }

    @Test("LOG-31: the state that Redis wanted is late, old or not there")
    func wantedState() {
        // The session has gone on.
        let old = SessionBench.followed(.asked)
        #expect(old.step { $0.stateAsked(SessionBench.snapshot(2), &$1, &$2) } == ["restore 3"])
        let missing = SessionBench.followed(.asked)
        #expect(
            missing.step { $0.stateAsked(nil, &$1, &$2) }
                == ["ended: Redis has forgotten it, and there is no snapshot"])
        // The link was lost meanwhile: the next verification is another one.
        for standing in [FollowedSession.Standing.unverified, .verified] {
            let late = SessionBench.followed(standing)
            #expect(late.step { $0.stateAsked(nil, &$1, &$2) } == [])
            #expect(late.step { $0.stateAsked(SessionBench.snapshot(3), &$1, &$2) } == [])
        }
    }

    @Test("LOG-31: Redis wants a restoration behind another order: the session is removed and dropped")
    func contradiction() {
        let bench = SessionBench.followed(.asked)
        #expect(
            bench.step { $0.verified(.wanted(SessionBench.position(3, run: RunID(9))), &$1, &$2) } == [
                "remove 3", "ended: Redis has another order than this node",
            ])
    }

    @Test("LOG-31: Redis has another order, or has removed it: the session is dropped")
    func gone() {
        for standing in [FollowedSession.Standing.asked, .checking] {
            let bench = SessionBench.followed(standing)
            #expect(
                bench.step { $0.verified(.gone, &$1, &$2) } == ["ended: Redis has another order, or has removed it"])
        }
    }

    // MARK: - Checks

    @Test("LOG-33: only a session that is followed, verified and quiet is checked")
    func check() {
        let rows: [(SessionBench, Double, [String])] = [
            (.opening(.verified), 5, []), (.followed(.unverified), 5, []), (.followed(.asked), 5, []),
            (.followed(.checking), 5, []), (.followed(.verified), 4.9, []), (.followed(.verified), 5, ["compare"]),
            (.followed(.verified), 3_600, ["restore 3"]), (.followed(.verified, through: 0), 3_600, ["compare"]),
        ]
        for (bench, quiet, effects) in rows {
            bench.desk.now = .seconds(100 + quiet)
            let before = bench.standing
            #expect(bench.step { $0.check(&$1, &$2) } == effects, "\(before), quiet for \(quiet) s")
            if !effects.isEmpty { #expect(bench.standing == "checking") }
        }
    }

    @Test("LOG-33: a comparison that shows a difference is followed by a verification, or by an opening")
    func compared() {
        let nothing = StoredMark(generation: nil, number: nil, id: nil)
        let rows: [(SessionBench, ShardAnswer.Reading, String, [String])] = [
            (.followed(.checking), .mark(mark(3)), "verified", []),
            (.followed(.checking), .mark(mark(4)), "checking", ["restore 3"]),
            (.followed(.checking), .mark(mark(3, generation: "h")), "checking", ["restore 3"]),
            (.followed(.checking), .mark(mark(3, run: RunID(9))), "checking", ["restore 3"]),
            (.followed(.checking), .mark(nothing), "checking", ["restore 3"]),
            (.followed(.checking, through: 0), .mark(nothing), "verified", []),
            (.followed(.checking, through: 0), .mark(mark(1)), "asked", ["open"]),
            // Redis began to forget while the answer was on its way.
            (.followed(.asked), .mark(mark(3)), "unverified", []),
            (.followed(.checking), .refused(.failed(.other("BUSY"))), "verified", []),
        ]
        for (bench, reading, standing, effects) in rows {
            #expect(bench.step { $0.compared(reading, &$1, &$2) } == effects, "\(reading)")
            #expect(bench.standing == standing, "\(reading)")
        }
    }

    @Test("LOG-31, LOG-34: nothing is vouched for any more after a restart of Redis, or the loss of the link")
    func unvouched() {
        let rows: [(FollowedSession.Standing, String)] = [
            (.unverified, "unverified"), (.asked, "asked"), (.verified, "unverified"), (.checking, "asked"),
        ]
        for (standing, after) in rows {
            let (bench, lost) = (SessionBench.followed(standing), SessionBench.followed(standing))
            for bench in [bench, lost] { _ = bench.session.inbox.receive(SessionBench.entry(5), now: bench.desk.now) }
            bench.session.unvouch()
            #expect(bench.standing == after, "\(standing)")
            lost.session.interrupt()
            #expect(lost.standing == "unverified", "\(standing)")
            for bench in [bench, lost] {
                #expect(bench.session.inbox.waitingEntries.isEmpty && bench.session.inbox.gapSince == nil)
            }
        }
    }

    @Test("entries of another order than the followed one cause a verification, once")
    func otherGeneration() {
        let rows: [(FollowedSession.Standing, [String])] = [
            (.unverified, ["restore 3"]), (.asked, []), (.verified, ["restore 3"]), (.checking, []),
        ]
        for (standing, effects) in rows {
            let bench = SessionBench.followed(standing)
            #expect(
                bench.step { $0.receive([SessionBench.entry(1)], "other", &$1, &$2) } == effects, "\(standing)")
        }
    }

    @Test("LOG-2: an entry with another id at a known number means that the order was lost")
    func contradictingEntry() {
        let bench = SessionBench.followed(.verified)
        let known = bench.step { $0.receive([SessionBench.entry(3, run: SessionBench.run)], "g", &$1, &$2) }
        #expect(known.isEmpty, "a repeated entry")
        let other = bench.step { $0.receive([SessionBench.entry(3)], "g", &$1, &$2) }
        #expect(other == ["ended: entries contradict each other"])
    }
}
