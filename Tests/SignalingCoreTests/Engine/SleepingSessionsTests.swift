import CoreTestSupport
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingCore

private func join(_ name: String) -> SessionCommand {
    .join(
        JoinRequest(connectionId: client(name), role: .publisher, data: "", wallTime: WallTime(milliseconds: 1)))
}

private func leave(_ name: String) -> SessionCommand { .leave(client(name), .clientDisconnected) }

@Suite("The list of sleeping sessions")
struct SleepingSessionsTests {
    @Test(
        "HIS-3: the order of IDs is that of a sorted set, whatever comes and goes", arguments: [81, 82, 83] as [UInt64])
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func id() -> SessionID { SessionID("\(Int.random(in: 0..<3_000, using: &random))") }
        var sorted = SortedSessionIDs()
        var expected: Set<SessionID> = []
        for step in 0..<12_000 {
            let session = id()
            // It grows over several parts, and then goes.
            if Int.random(in: 0..<3, using: &random) == (step < 6_000 ? 0 : 1) || step > 9_000 {
                sorted.remove(session)
                expected.remove(session)
            } else {
                sorted.insert(session)
                expected.insert(session)
            }
            guard step.isMultiple(of: 100) else { continue }
            let bounds = [id(), id()].sorted()
            for range in [bounds[0]..<bounds[1], .all, .only(bounds[0])] as [Range<SessionID>] {
                var read: [SessionID] = []
                sorted.read(in: range) {
                    read.append($0)
                    return true
                }
                #expect(read == expected.filter(range.contains).sorted(by: >), "seed \(seed), step \(step)")
            }
        }
    }

    @Test("HIS-3: pages of sleepers fit together, and end after so many sessions or bytes")
    func pages() {
        var page = SleepingSessions(atMost: 2)
        var isAdded = ["c", "b"].map { page.add(SessionID($0), [1]) }
        #expect(isAdded == [true, true] && page.next == nil)
        isAdded = [page.add("a", [1])]
        #expect(isAdded == [false] && page.rows.map(\.id) == ["c", "b"] && page.next == "b")
        var large = SleepingSessions(atMost: 9)
        let state = [UInt8](repeating: 0, count: SleepingSessions.byteLimit)
        isAdded = [large.add("c", state), large.add("b", [1])]
        #expect(isAdded == [true, false], "a single one may be as large as it likes")
        #expect(large.next == "c")
        #expect(Range.all.below("c") == SessionID("")..<"c")
        #expect((SessionID("b")..<"d").below("z") == SessionID("b")..<"d")
        #expect((SessionID("b")..<"d").below("a") == nil)
    }

    @Test("HIS-3: a process without a folder lists who sleeps, and no longer who is awake or gone")
    func inMemory() {
        let engine = MemoryEngine(bounds: .init(resumeWindow: .zero, recoveryWindow: .zero)) { Epoch("e") }
        let ticket = CommandTicket(origin: 1, request: nil)
        func ban(_ session: SessionID, seconds: Int, at now: Double) {
            engine.submit(
                .moderate(
                    .server, .ban(.user("u"), ModerationRequest.Terms(seconds: seconds)),
                    Acceptance(date: WallTime(milliseconds: 0))),
                to: session, ticket: ticket, now: .seconds(now))
        }
        func read(_ count: Int = 9, below end: SessionID = "z") -> String {
            var text = "unread"
            engine.readSleepers(in: SessionID("a")..<end, atMost: count) { result in
                guard let read = try? result.get() else { return }
                let found = read.decoded { _ in true }.map { "\($0.id) \($0.restrictionCount)" }
                text = (found + [read.next.map { "next \($0)" } ?? "end"]).joined(separator: ", ")
            }
            return text
        }
        for session in ["a", "c", "b", "z"] as [SessionID] {
            engine.submit(join("ada"), to: session, ticket: ticket)
            ban(session, seconds: session == "c" ? 10 : 100, at: 1)
            engine.submit(leave("ada"), to: session, ticket: ticket, now: .seconds(2))
        }
        #expect(read() == "end", "they may still be joined")
        engine.advance(to: .seconds(2))
        #expect(read() == "c 1, b 1, a 1, end")
        #expect(read(2) == "c 1, b 1, next b" && read(2, below: "b") == "a 1, end")
        engine.submit(join("bob"), to: "b", ticket: ticket, now: .seconds(3))
        #expect(read() == "c 1, a 1, end")
        engine.advance(to: .seconds(20))
        #expect(read() == "c 0, a 1, end")
        engine.sweepHistory(now: WallTime(milliseconds: 1))
        #expect(read() == "a 1, end")
    }

    @Test("HIS-3: several stores have parts of a list, and what one of them has not read yet is left for later")
    func merged() {
        func part(_ ids: String..., next: SessionID? = nil) -> SleepingSessions {
            SleepingSessions(rows: ids.map { .init(id: SessionID($0), state: [1]) }, next: next)
        }
        func merge(_ limit: Int, _ parts: SleepingSessions...) -> String {
            let read = SleepingSessions(merging: parts, atMost: limit)
            return "\(read.rows.map(\.id.rawValue).joined()) \(read.next?.rawValue ?? "end")"
        }
        #expect(merge(9, part("e", "b"), part("d", "c")) == "edcb end")
        #expect(merge(3, part("e", "b"), part("d", "c")) == "edc c")
        // The first store may have others below "d", and has looked at a name there that is no session any more.
        #expect(merge(9, part("e", next: "d"), part("d", "c", "a")) == "ed d")
        #expect(merge(9, part("e", next: "d"), part(next: "b")) == "e d")
        #expect(merge(9, part(), part()) == " end")
    }

    @Test("HIS-3: a node that has no list says so, and tells nobody that there are no sleepers")
    func unlisted() {
        let cluster = Cluster(nodeCount: 2)
        var isUnread = false
        cluster.nodes[0].engine.readSleepers(in: .all, atMost: 9) { if case .failure = $0 { isUnread = true } }
        #expect(isUnread)
    }
}
