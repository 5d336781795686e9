import SignalingCore
import SignalingProtocol
import Testing

@testable import SignalingRedisCore

/// The archive in one Redis, without a Redis.
@Suite("The state of an archive in Redis")
struct ArchiveStateTests {
    private struct Bench {
        var state = ArchiveState(redis: "redis://test", times: LogTimes(), seed: 1)
        var now = MonotonicInstant(nanoseconds: 0)
        /// What was sent and not answered.
        var sent: [(subject: ArchiveState.Subject, call: ArchiveCall)] = []
        var answers: [Bool] = []
        var announced: [SessionID] = []
        var loadCount = 0
        var connectCount = 0

        init() { connect() }

        mutating func connect() {
            now = now.advanced(by: .seconds(2))
            state.tick(now: now)
            state.linkReady(forgetsNothing: false, now: now)
            collect()
        }

        mutating func collect() {
            for effect in state.takeEffects() {
                switch effect {
                case .send(let subject, let call): sent.append((subject, call))
                case .answer(_, .success): answers.append(true)
                case .answer(_, .failure): answers.append(false)
                case .loadLibrary: loadCount += 1
                case .connect: connectCount += 1
                case .announced(let session): announced.append(session)
                case .disconnect, .note, .trimmed: break
                }
            }
        }

        mutating func ask(_ calls: [ArchiveCall]) {
            _ = state.ask(calls, now: now)
            collect()
        }

        /// Answers the oldest call.
        mutating func answer(_ answer: ArchiveAnswer) {
            if sent.isEmpty {
                Issue.record("nothing was sent, or everything is answered")
                return
            }
            state.answered(sent.removeFirst().subject, answer, now: now)
            collect()
        }

        mutating func wait(_ time: Duration) {
            now = now.advanced(by: time)
            state.tick(now: now)
            collect()
        }

        var calls: [String] {
            sent.map { sent in
                switch sent.call {
                case .append(let messages, _, _): "append \(messages.map(\.seq.rawValue))"
                case .put(let forms, _): "put \(forms.map(\.seq.rawValue))"
                case .erase(let scope, _): "erase \(scope.seq)"
                case .eraseOfUser(_, let seq, _): "erase of user after \(seq)"
                case .process: "process"
                case .announce(let entries, _, _): "announce \(entries.count)"
                case .page, .end, .sleepers, .feed, .resetFeed, .keepCursor, .cursor, .claim: "other"
                }
            }
        }
    }

    private func append(_ seq: Int64) -> ArchiveCall {
        .append([ArchivedMessage(seq: Seq(seq), time: WallTime(milliseconds: 0), head: [], content: [])], "s", nil)
    }
    private let put = ArchiveCall.put(
        [ArchivedForm(seq: Seq(1), content: [], version: Seq(2), editedAt: WallTime(milliseconds: 0))], "s")
    private let erase = ArchiveCall.erase(ErasureScope(.message(Seq(1)), at: Seq(2)), "s")

    @Test("HIS-9: the calls of a batch follow each other, and one proof is for all")
    func oneAfterTheOther() {
        var bench = Bench()
        bench.ask([append(1), erase, append(3)])
        #expect(bench.calls == ["append [1]"])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["erase 2"])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["append [3]"])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls.isEmpty && bench.answers.isEmpty)
        bench.wait(LogTimes().archiveProof)
        #expect(bench.calls == ["process"])
        bench.answer(.process("p"))
        #expect(bench.answers == [true])
    }

    @Test("HIS-3: when another process answers, all calls are repeated, and so are those without a proof")
    func anotherProcess() {
        var bench = Bench()
        bench.ask([append(1), put, erase])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["put [1]"])
        bench.answer(.stored(process: "q"))
        #expect(bench.calls == ["append [1]"], "q may not have it")
        bench.answer(.stored(process: "q"))
        bench.answer(.stored(process: "q"))
        bench.answer(.stored(process: "q"))
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("r"))
        #expect(bench.calls == ["append [1]"])
        bench.answer(.stored(process: "r"))
        bench.answer(.stored(process: "r"))
        bench.answer(.stored(process: "r"))
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("r"))
        #expect(bench.answers == [true])
    }

    @Test("FEED-1: an entry is told when Redis has it, which is before its proof, and again when it is repeated")
    func announced() {
        var bench = Bench()
        bench.ask([append(1), .announce([FeedEntry([.change(of: Seq(1))])], "p/s", APIKey("p"))])
        #expect(bench.calls == ["append [1]"])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["announce 1"] && bench.announced.isEmpty)
        bench.answer(.stored(process: "p"))
        #expect(bench.announced == ["p/s"] && bench.answers.isEmpty)
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("q"))
        bench.answer(.stored(process: "q"))
        bench.answer(.stored(process: "q"))
        #expect(bench.announced == ["p/s", "p/s"])
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("q"))
        #expect(bench.answers == [true])
    }

    private func announce(_ seq: Int64, _ session: SessionID = "p/s") -> [ArchiveCall] {
        [append(seq), .announce([FeedEntry([.change(of: Seq(seq))])], session, APIKey("p"))]
    }

    @Test("FEED-1: a write that announces something follows the reply to the one before, and not its proof")
    func announcedInOrder() {
        var bench = Bench()
        bench.ask(announce(1))
        bench.ask(announce(2))
        bench.ask(announce(3, "p/other"))
        #expect(bench.calls == ["append [1]", "append [3]"])
        bench.answer(.failed(RedisFailure("OOM command not allowed when used memory > 'maxmemory'.")))
        bench.sent = []
        bench.wait(.milliseconds(100))
        #expect(bench.calls.isEmpty, "the second waits for the first")
        bench.wait(LogTimes().archiveRetry)
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["announce 1"])
        bench.answer(.stored(process: "p"))
        #expect(bench.calls == ["append [2]"])
    }

    @Test("FEED-1: what a Redis has forgotten is announced before what is new", arguments: ["p", "q"])
    func forgottenFirst(_ process: String) {
        var bench = Bench()
        bench.ask(announce(1))
        for _ in 0..<2 { bench.answer(.stored(process: "p")) }
        bench.state.linkLost(CommandLogFault(.unreachable, "gone"), now: bench.now)
        bench.ask(announce(2))
        bench.connect()
        #expect(bench.calls == ["process"])
        bench.ask([.end("p/s")])
        #expect(bench.calls == ["process"])
        bench.answer(.failed(.functionMissing))
        bench.state.libraryLoaded(nil, now: bench.now)
        bench.collect()
        #expect(bench.calls == ["process"])
        bench.answer(.process(process))
        if process == "q" {
            #expect(bench.calls == ["other", "append [1]"])
            bench.answer(.end(nil))
            for call in ["append [1]", "announce 1"] {
                #expect(bench.calls == [call])
                bench.answer(.stored(process: process))
            }
            #expect(bench.calls == ["append [2]"])
        } else {
            #expect(bench.calls == ["append [2]", "other"])
        }
    }

    @Test("FEED-3: a read of a feed, and a kept cursor, are answered at once, and fail while Redis is away")
    func feedReads() {
        var bench = Bench()
        bench.ask([.feed(APIKey("p"), .oldest, limit: 1)])
        bench.ask([.keepCursor(1, APIKey("p"))])
        bench.answer(.feed(FeedPart()))
        bench.answer(.cursor(1))
        #expect(bench.answers == [true, true])
        bench.ask([.keepCursor(2, APIKey("p"))])
        bench.answer(.failed(RedisFailure("OOM command not allowed when used memory > 'maxmemory'.")))
        #expect(bench.answers == [true, true, false])
    }

    @Test("HIS-3: a call that fails or is cut is repeated before those behind it")
    func repeats() {
        var bench = Bench()
        bench.ask([append(1), erase])
        bench.answer(.stored(process: "p"))
        bench.answer(.failed(RedisFailure("OOM command not allowed when used memory > 'maxmemory'.")))
        #expect(bench.calls.isEmpty)
        bench.wait(LogTimes().archiveRetry)
        #expect(bench.calls == ["erase 2"])
        bench.sent = []
        bench.state.linkLost(CommandLogFault(.unreachable, "gone"), now: bench.now)
        bench.connect()
        #expect(bench.calls == ["erase 2"])
    }

    @Test("HIS-3: a reply that comes while Redis loads the functions is no proof either")
    func replyWhileLoading() {
        var bench = Bench()
        bench.ask([erase])
        bench.ask([append(2)])
        bench.answer(.failed(.functionMissing))
        bench.answer(.stored(process: "p"))
        #expect(bench.loadCount == 1 && bench.answers.isEmpty)
        bench.state.libraryLoaded(nil, now: bench.now)
        bench.collect()
        #expect(bench.calls == ["erase 2"])
    }

    @Test("LOG-37: a Redis that refuses the functions is asked less and less often")
    func refusedLibrary() {
        var bench = Bench()
        bench.ask([append(1)])
        var pauses: [Int] = []
        for index in 0..<10 {
            bench.answer(.failed(.functionMissing))
            bench.state.libraryLoaded(.other("ERR not allowed"), now: bench.now)
            bench.connectCount = 0
            pauses.append(0)
            while bench.connectCount == 0, pauses[index] < 200 {
                bench.wait(.milliseconds(10))
                pauses[index] += 1
            }
            bench.state.linkReady(forgetsNothing: false, now: bench.now)
            bench.collect()
        }
        #expect(pauses[0] <= 6 && pauses[9] >= 50, "\(pauses)")
    }

    @Test("HIS-9: an erasure of a user goes on where Redis has left off, and from its start in another process")
    func parts() {
        var bench = Bench()
        bench.ask([.eraseOfUser(ErasureScope(.user(UserID("u")), at: Seq(9)), after: .zero, "s"), append(10)])
        bench.answer(.stored(process: "p", next: Seq(4)))
        #expect(bench.calls == ["erase of user after 4"])
        bench.answer(.stored(process: "q", next: Seq(8)))
        #expect(bench.calls == ["erase of user after 0"])
        bench.answer(.stored(process: "q", next: Seq(4)))
        bench.answer(.stored(process: "q"))
        #expect(bench.calls == ["append [10]"])
    }
}
