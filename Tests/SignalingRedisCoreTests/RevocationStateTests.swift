import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingRedisCore

/// One node's view of the revocations, without a Redis.
@Suite("The state of revocations in Redis")
struct RevocationStateTests {
    private struct Bench {
        var state = RevocationTableState(redis: "redis://test", limit: 10, times: LogTimes(), seed: 1)
        var now = MonotonicInstant(nanoseconds: 0)
        /// What was asked and not answered.
        var asked: [(subject: RevocationTableState.Subject, call: RevocationCall)] = []
        var effects: [RevocationTableState.Effect] = []

        init() { connect() }

        mutating func connect() {
            now = now.advanced(by: .seconds(2))
            state.tick(now: now)
            state.linkReady(now: now)
            collect()
        }

        mutating func collect() {
            effects = state.takeEffects()
            for case .send(let subject, let call) in effects { asked.append((subject, call)) }
        }

        /// Answers the oldest question.
        mutating func answer(_ answer: RevocationAnswer) {
            if asked.isEmpty {
                Issue.record("nothing was asked, or everything is answered")
                return
            }
            state.answered(asked.removeFirst().subject, answer, now: now)
            collect()
        }
    }

    private func opened(_ rows: [String: Int64] = [:]) -> Bench {
        var bench = Bench()
        bench.answer(.index(process: "a", changeCounts: rows.isEmpty ? [:] : ["100": 1]))
        if !rows.isEmpty { bench.answer(.rows(rows, changeCount: 1)) }
        return bench
    }

    @Test("TOK-10: the table is open when the rows of all projects have been read")
    func opening() {
        var bench = Bench()
        #expect(bench.asked.map(\.call) == [.index])
        bench.answer(.index(process: "a", changeCounts: ["100": 3, "101": 1]))
        #expect(bench.asked.map(\.call) == [.rows(project: "100"), .rows(project: "101")])
        bench.answer(.rows(["all": 5], changeCount: 3))
        #expect(!bench.effects.contains(.opened))
        bench.answer(.rows([:], changeCount: 1))
        #expect(bench.effects.contains(.opened))
        #expect(bench.state.rows == ["100": ["all": 5]])
    }

    @Test("TOK-10: news that come while the index is read are looked for afterwards")
    func newsMeanwhile() {
        var bench = opened()
        bench.state.heardNews(now: bench.now)
        bench.collect()
        bench.state.heardNews(now: bench.now)
        bench.collect()
        #expect(bench.asked.map(\.call) == [.index])
        bench.answer(.index(process: "a", changeCounts: [:]))
        #expect(bench.asked.map(\.call) == [.index])
    }

    @Test("REST-8: a change whose link is lost has no known outcome, and one that was not sent is not kept")
    func lostLink() {
        var bench = opened()
        let sent = bench.state.raise(.init("all", 1), of: "100", now: bench.now)
        bench.collect()
        bench.state.linkLost(CommandLogFault(.unreachable, "gone"), now: bench.now)
        bench.collect()
        #expect(bench.effects.contains(.answer(sent, .failure(.undecided))))
        let unsent = bench.state.raise(.init("all", 1), of: "100", now: bench.now)
        bench.collect()
        #expect(bench.effects == [.answer(unsent, .failure(.notKept))])
        #expect(bench.state.rows.isEmpty)
    }

    @Test("TOK-10: a Redis that is emptied between an index and the rows gets them back, and no node forgets any")
    func emptiedMeanwhile() {
        var bench = opened(["all": 5])
        bench.state.heardNews(now: bench.now)
        bench.collect()
        bench.answer(.index(process: "a", changeCounts: ["100": 2]))
        bench.answer(.rows([:], changeCount: 0))
        #expect(bench.state.rows == ["100": ["all": 5]])
        #expect(bench.asked.map(\.call) == [.index])
        bench.answer(.index(process: "a", changeCounts: [:]))
        #expect(bench.asked.map(\.call) == [.raise(project: "100", rows: [.init("all", 5)], limit: 10)])
    }

    @Test("TOK-10: another process of Redis gets all rows back before anything is read from it")
    func otherProcess() {
        var bench = opened(["all": 5])
        bench.state.linkLost(CommandLogFault(.unreachable, "gone"), now: bench.now)
        bench.asked = []
        bench.connect()
        bench.answer(.index(process: "b", changeCounts: [:]))
        #expect(bench.asked.map(\.call) == [.raise(project: "100", rows: [.init("all", 5)], limit: 10)])
        bench.answer(.raised(5))
        #expect(bench.asked.map(\.call) == [.index])
        #expect(bench.state.rows == ["100": ["all": 5]])
    }

    @Test("TOK-10: a Redis that refuses to take the rows back does not make the node forget them")
    func refusedRestoring() {
        var bench = opened(["all": 5])
        bench.state.linkLost(CommandLogFault(.unreachable, "gone"), now: bench.now)
        bench.asked = []
        bench.connect()
        bench.answer(.index(process: "b", changeCounts: [:]))
        bench.answer(.failed(.full))
        #expect(bench.state.rows == ["100": ["all": 5]])
        bench.now = bench.now.advanced(by: .seconds(6))
        bench.state.tick(now: bench.now)
        bench.collect()
        bench.answer(.index(process: "b", changeCounts: [:]))
        #expect(bench.asked.map(\.call) == [.raise(project: "100", rows: [.init("all", 5)], limit: 10)])
    }

    @Test("TOK-10: a Redis without the functions gets them, and the change is carried out then")
    func missingLibrary() {
        var bench = opened()
        let number = bench.state.raise(.init("all", 1), of: "100", now: bench.now)
        bench.collect()
        bench.answer(.failed(.functionMissing))
        #expect(bench.effects == [.loadLibrary] && bench.asked.isEmpty)
        bench.state.libraryLoaded(nil, now: bench.now)
        bench.collect()
        #expect(bench.asked.map(\.call) == [.index, .raise(project: "100", rows: [.init("all", 1)], limit: 10)])
        bench.answer(.index(process: "a", changeCounts: [:]))
        bench.answer(.raised(1))
        #expect(bench.effects.contains(.answer(number, .success(.raised(1)))))
    }

    @Test("TOK-10: an answer that Redis does not give ends the link, and the rows stay")
    func nonsense() {
        var bench = opened(["all": 5])
        bench.state.heardNews(now: bench.now)
        bench.collect()
        bench.answer(.raised(3))
        #expect(bench.effects.contains(.disconnect))
        #expect(bench.state.rows == ["100": ["all": 5]])
    }

    @Test(
        "TOK-10: replies are read",
        arguments: [
            (RevocationCall.index, RedisReply.array([.bytes(Array("revoked".utf8)), .null, .array([])])),
            (.index, .array([.bytes(Array("revoked".utf8)), .bytes([97]), .null])),
            (
                .rows(project: "1"),
                .array([.bytes(Array("rows".utf8)), .bytes([49]), .array([.bytes([97]), .bytes([97])])])
            ),
            (.raise(project: "1", rows: [], limit: 1), .array([.bytes(Array("raised".utf8)), .null])),
            (.remove(project: "1", subject: "x"), .integer(1)),
        ])
    func malformed(_ call: RevocationCall, _ reply: RedisReply) {
        #expect(RevocationAnswer(to: call, reply) == .notUnderstood)
    }
}
