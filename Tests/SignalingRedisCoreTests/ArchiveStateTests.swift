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
                case .connect, .disconnect, .note, .trimmed: break
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
                case .erase(let scope, _): "erase \(scope.seq)"
                case .eraseOfUser(_, let seq, _): "erase of user after \(seq)"
                case .process: "process"
                case .page, .end, .sleepers, .loadLibrary: "other"
                }
            }
        }
    }

    private func append(_ seq: Int64) -> ArchiveCall {
        .append([ArchivedMessage(seq: Seq(seq), time: WallTime(milliseconds: 0), head: [], content: [])], "s", nil)
    }
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
        bench.ask([append(1), erase])
        bench.answer(.stored(process: "p"))
        bench.answer(.stored(process: "q"))
        #expect(bench.calls == ["append [1]"], "q may not have it")
        bench.answer(.stored(process: "q"))
        bench.answer(.stored(process: "q"))
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("r"))
        #expect(bench.calls == ["append [1]"])
        bench.answer(.stored(process: "r"))
        bench.answer(.stored(process: "r"))
        bench.wait(LogTimes().archiveProof)
        bench.answer(.process("r"))
        #expect(bench.answers == [true])
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

    @Test("LOG-34: after an outage of Redis, the archives and revocations of the nodes do not connect in step")
    func spreads() {
        let fault = CommandLogFault(.unreachable, "gone")
        let start = MonotonicInstant(nanoseconds: 0)
        /// When a state that has failed ten times connects again.
        func moments(_ attempt: (UInt64, MonotonicInstant) -> Bool) -> Set<Int> {
            Set(
                (1...20 as ClosedRange<UInt64>).compactMap { seed in
                    (0...1_100).first { attempt(seed, start.advanced(by: .milliseconds($0))) }
                })
        }
        let archives = moments { seed, now in
            var state = ArchiveState(redis: "redis://test", times: LogTimes(), seed: seed)
            for _ in 0..<10 { state.linkLost(fault, now: start) }
            state.tick(now: now)
            return state.takeEffects().contains { if case .connect = $0 { true } else { false } }
        }
        let revocations = moments { seed, now in
            var state = RevocationTableState(redis: "redis://test", limit: 10, times: LogTimes(), seed: seed)
            for _ in 0..<10 { state.linkLost(fault, now: start) }
            state.tick(now: now)
            return state.takeEffects().contains { if case .connect = $0 { true } else { false } }
        }
        for found in [archives, revocations] {
            #expect(found.count > 15 && found.allSatisfy { (500...1_000).contains($0) }, "\(found.sorted())")
        }
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
