import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// What Redis sends may be anything: another program's keys, a proxy's error, a newer server's list.
@Suite("Redis log: reading answers")
struct ReadingTests {
    private static let follow = SessionBench.follow
    private static let caller = ShardCaller(run: RunID(1), link: 1)

    /// Each call, with replies that are as they should be.
    private static let calls: [(ShardCall, [RedisReply])] = {
        func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }
        func list(_ texts: String...) -> RedisReply { .array(texts.map(text)) }
        let id = SessionBench.position(1).id.text
        let hello = ShardCall.Hello(
            restoring: .seconds(2), life: .seconds(10), fingerprint: "f", floor: nil, losses: [])
        let restoration = ShardCall.Restoration(
            generation: "g", position: SessionBench.position(1), time: .seconds(1), snapshot: nil)
        let appendix = ShardCall.Appendix(generation: "", newGeneration: "g", commands: [], freesMemory: false)
        let end = StoredEnd("g", SessionBench.position(1))
        let sleeper = Sleeper(session: "s", end: end, state: [1], life: .seconds(60), restricted: .zero)
        let entry = RedisReply.array([text("1-0"), list("at", "5", "id", id, "cmd", "x")])
        let meta = list("g", "g", "n", "1", "id", id, "at", "5", "c:\(RunID(1).hexadecimal)", "1")
        let run = RunID(2).hexadecimal
        let nodes = RedisReply.array([text(run), text("a1"), .integer(1), .integer(0)])
        return [
            (.hello(caller, hello), [.array([text("ok"), text("5"), text("0"), text("a1"), nodes])]),
            (.loadLibrary, [text("signalbox_1")]), (.goodbye(RunID(1)), [list("ok", "5")]),
            (.declareLost(caller, RunID(2), isCertain: true), [.array([text("lost"), text("5"), list("s", "t")])]),
            (
                .open(caller, follow, trusts: true),
                [.array([text("found"), text("5"), list(run, "a1"), meta, .null, .array([entry])])]
            ),
            (.restore(caller, follow, restoration), [list("fine", "1", id)]),
            (.append(caller, follow, appendix), [list("ok", "g", "1", "1", "1", "5")]),
            (
                .keep(caller, follow, generation: "g", SessionBench.snapshot(1), retention: .seconds(60)),
                [list("kept")]
            ),
            (.forget(follow, generation: "g", through: 1), [list("ok")]),
            (.remove(RunID(1), "s", end), [list("removed")]), (.close(RunID(1), "s"), [list("ok")]),
            (.delete(follow), [.integer(3)]), (.repair(follow, generation: "g"), [list("removed")]),
            (.compare(follow), [list("g", "1", id)]),
            (.catchUp(follow), [list("g", "1", id)]),
            (.fill(follow, from: 1, through: nil), [.array([entry]), list("g", "1", id)]),
            (.relay(RunID(1), "s", []), [.integer(1)]),
            (.sleep(caller, sleeper), [list("asleep")]),
        ]
    }()

    /// The kind of an answer.
    private func kind(_ answer: ShardAnswer) -> String { String("\(answer)".prefix { $0 != "(" }) }

    @Test("each call's answer is of its kind, whatever Redis replies")
    func anyReplies() {
        for seed in 0..<3_000 {
            var replies = RandomReplies(seed: UInt64(seed))
            let (call, good) = Self.calls[seed % Self.calls.count]
            let expected = kind(ShardAnswer(to: call, good))
            for list in [replies.damaged(good), good.map { _ in replies.any() }, []] {
                #expect(kind(ShardAnswer(to: call, list)) == expected, "seed \(seed)")
            }
        }
    }

    @Test("an error, or what is not understood, is a refusal and never an answer")
    func refusals() {
        let refusing: [RedisReply] = [
            .failure(.full), .failure(.other("BUSY")), .null, .integer(7), .bytes([]), .array([]),
            .array([.bytes(Array("nonsense".utf8))]), .array([.null]),
        ]
        for reply in refusing {
            for (call, good) in Self.calls {
                let text = "\(ShardAnswer(to: call, good.map { _ in reply }))"
                switch call {
                case .open, .restore, .append, .keep, .repair: #expect(text.contains("refused"), "\(text)")
                case .hello: #expect(text.contains("failed") || text.contains("notUnderstood"), "\(text)")
                case .declareLost: #expect(text.contains("nil"), "\(text)")
                case .compare, .catchUp, .fill:
                    // An empty array is what HMGET of fields and XRANGE could reply.
                    #expect(reply.array != nil || text.contains("refused"), "\(text)")
                case .sleep: #expect(!text.contains("nil"), "\(text)")
                case .loadLibrary, .delete, .forget: #expect((reply.failure == nil) == text.contains("nil"), "\(text)")
                case .goodbye, .remove, .close, .relay: break
                }
            }
        }
    }

    @Test("replies as they should be are read")
    func good() {
        let texts = Self.calls.map { "\(ShardAnswer(to: $0, $1))" }
        for text in texts { #expect(!text.contains("refused") && !text.contains("otUnderstood"), "\(text)") }
        #expect(texts[3].contains("orphans") && texts[4].contains("found") && texts[15].contains("entries("))
    }

    @Test("LOG-22: a log whose Redis replies anything goes on, and counts the bytes in flight")
    func anyRedis() {
        for seed in 0..<300 {
            var redis = AnyRedis(seed: UInt64(seed))
            for _ in 0..<120 { redis.step() }
            redis.check()
        }
    }
}

/// Replies of any shape.
private struct RandomReplies {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private static let words = [
        "", "ok", "none", "found", "fine", "wanted", "gone", "gap", "lost", "unvouched", "repeated", "kept", "a1", "g",
        "0", "1", "2", "-1", "9007199254740992", "9007199254740993", "18446744073709551615", "s",
        "0000000000000001:1", "0000000000000002", "1-0", "id", "at",
    ]

    mutating func any(depth: Int = 0) -> RedisReply {
        switch below(depth < 4 ? 7 : 4) {
        case 0: .null
        case 1: .integer([0, 1, -1, .max, .min, 1 << 53, 7][below(7)])
        case 2: .bytes(Array(Self.words[below(Self.words.count)].utf8))
        case 3:
            .failure(
                [.full, .readOnly, .loading, .refused("x"), .notWritten("x"), .functionMissing, .other("x")][below(7)])
        default: .array((0..<below(7)).map { _ in any(depth: depth + 1) })
        }
    }

    /// One part is replaced, removed or doubled.
    mutating func damaged(_ replies: [RedisReply]) -> [RedisReply] {
        guard case .array(let damaged) = damaged(.array(replies)) else { return [] }
        return damaged
    }

    private mutating func damaged(_ reply: RedisReply) -> RedisReply {
        guard case .array(var list) = reply, !list.isEmpty, below(4) > 0 else { return any() }
        let index = below(list.count)
        switch below(8) {
        case 0: list.remove(at: index)
        case 1: list.insert(list[index], at: index)
        default: list[index] = damaged(list[index])
        }
        return .array(list)
    }
}

/// A log of three sessions whose Redis replies to every call, seldom well.
private struct AnyRedis {
    private var replies: RandomReplies
    private var state: RedisLogState
    private var now = MonotonicInstant.seconds(100)
    private var calls: [ShardCall] = []
    private var counter: UInt64 = 0
    private let sessions: [SessionID] = ["s", "t", "u"]

    init(seed: UInt64) {
        replies = RandomReplies(seed: seed)
        state = RedisLogState(
            ShardSettings.list(["redis://test"]), run: RunID(1), seed: seed, times: LogTimes(), now: now)
        handle(.ready(forgetsNothing: false))
        // It starts well: a log that does not start has no engine.
        while let call = calls.popLast() { handle(.answered(ShardAnswer(to: call, [good(call)]))) }
        state.tick(now: now)
        carryOut()
    }

    private mutating func handle(_ event: RedisLogState.LinkEvent) {
        state.handle(event, of: 0, now: now)
        carryOut()
    }

    private mutating func carryOut() {
        var effects = state.takeEffects()
        while !effects.isEmpty {
            for effect in effects {
                switch effect {
                case .connect:
                    calls = []
                    state.handle(.ready(forgetsNothing: replies.below(2) == 0), of: 0, now: now)
                case .call(_, let call): calls.append(call)
                case .subscribe(_, let list):
                    for session in list { state.handle(.subscription(session, isConfirmed: true), of: 0, now: now) }
                case .unsubscribe(_, let session):
                    state.handle(.subscription(session, isConfirmed: false), of: 0, now: now)
                case .encode(let follow, let snapshot):
                    state.snapshotEncoded(follow, snapshot, [1], now: now)
                case .askForState(let follow):
                    state.stateAsked(follow, (SessionBench.position(UInt64(replies.below(4))), [1]), now: now)
                case .disconnect, .report, .reportLost, .reportContinues, .confirmed, .started, .healthChanged,
                    .isolated, .closed, .note:
                    break
                }
            }
            effects = state.takeEffects()
        }
    }

    /// What Redis should reply, so that the log comes further than its first call.
    private func good(_ call: ShardCall) -> RedisReply {
        func list(_ texts: String...) -> RedisReply { .array(texts.map { .bytes(Array($0.utf8)) }) }
        switch call {
        case .hello: return list("ok", "5", "0", "a1")
        case .open: return list("none", "5")
        case .restore: return list("fine", "9")
        case .append(_, _, let appendix):
            return list(
                "ok", "g", "1", String(appendix.commands.first?.counter ?? 1), "\(appendix.commands.count)", "5")
        case .keep: return list("kept")
        case .sleep: return list("asleep")
        case .repair: return list("removed")
        case .loadLibrary, .goodbye, .declareLost, .forget, .remove, .close, .delete, .compare, .catchUp, .fill, .relay:
            return .null
        }
    }

    mutating func step() {
        now = now.advanced(by: .milliseconds(replies.below(300)))
        let session = sessions[replies.below(3)]
        switch replies.below(9) {
        case 0: state.handle(.open(session), now: now)
        case 1: state.handle(.close(session), now: now)
        case 2, 3:
            counter += 1
            let id = CommandID(run: state.run, counter: counter)
            let command = CommandAppend(session: session, id: id, bytes: [1], freesMemory: counter % 5 == 0)
            state.handle(.append([command]), now: now)
        case 4: state.handle(.catchUp(session), now: now)
        case 5 where counter % 4 == 0:
            let snapshot = CommandSnapshot(session: session, position: SessionBench.position(1)) { [] }
            state.handle(.sleep(snapshot, life: .seconds(60), restricted: .zero), now: now)
        case 5:
            let snapshot = CommandSnapshot(session: session, position: SessionBench.position(1)) { [] }
            state.handle(.keep(snapshot), now: now)
        case 6:
            let first = UInt64(replies.below(4))
            let entries = (0..<UInt64(replies.below(3))).map {
                SessionBench.entry(first + $0, run: RunID(first % 2 + 1))
            }
            handle(.received(.entries(generation: ["g", "h"][replies.below(2)], entries), session))
        default: state.tick(now: now)
        }
        carryOut()
        while let call = calls.first, replies.below(4) > 0 {
            calls.removeFirst()
            let good = [good(call)]
            let list = replies.below(3) > 0 ? good : replies.below(2) == 0 ? replies.damaged(good) : [replies.any()]
            handle(.answered(ShardAnswer(to: call, list)))
        }
    }

    /// After the last session is closed, nothing is in flight.
    mutating func check() {
        #expect(state.inFlightByteCount >= 0)
        for session in sessions { state.handle(.close(session), now: now) }
        #expect(state.inFlightByteCount == 0)
    }
}
