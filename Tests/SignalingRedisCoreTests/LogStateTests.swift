import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// The beginning and the end of a log over two Redis, and what one of them finds out for both.
@Suite("Redis log: its phases")
struct LogStateTests {
    private final class Bench {
        var state: RedisLogState
        var now = MonotonicInstant.seconds(100)

        init() {
            state = RedisLogState(
                ShardSettings.list(["redis://a", "redis://b"]), run: RunID(1), seed: 1, times: LogTimes(), now: now)
            _ = effects
        }

        /// Both Redis serve, and the log is open.
        static func open() -> Bench {
            let bench = Bench()
            for shard in 0...1 { bench.serve(shard) }
            _ = bench.tick()
            return bench
        }

        var effects: [String] { state.takeEffects().map(\.text) }

        func serve(_ shard: Int) {
            handle(.ready(forgetsNothing: true), shard)
            greet(shard)
            _ = effects
        }

        func greet(_ shard: Int) {
            handle(
                .answered(.greeted(state.run, .ok(time: .seconds(5), restoring: .zero, isLost: false, []))), shard)
        }

        func handle(_ event: RedisLogState.LinkEvent, _ shard: Int = 0) { state.handle(event, of: shard, now: now) }

        func tick(after seconds: Double = 0.1) -> [String] {
            now = now.advanced(by: .seconds(seconds))
            state.tick(now: now)
            return effects
        }

        func beginClosing() -> [String] {
            state.beginClosing(now: now)
            return effects
        }

        /// A session is open on one of the two, with a command on its way.
        func submit() -> Int {
            state.handle(.open("s"), now: now)
            let shard = state.takeEffects().compactMap { if case .subscribe(let shard, _) = $0 { shard } else { nil } }[
                0]
            handle(.subscription("s", isConfirmed: true), shard)
            handle(.answered(.opened(FollowID(session: "s", number: 1), .none(nil))), shard)
            let id = CommandID(run: state.run, counter: 1)
            state.handle(.append([CommandAppend(session: "s", id: id, bytes: [1, 2], freesMemory: false)]), now: now)
            _ = effects
            return shard
        }

        func confirm(_ shard: Int) {
            let first = LogPosition(number: 1, id: CommandID(run: state.run, counter: 1))
            handle(
                .answered(
                    .appended(
                        FollowID(session: "s", number: 1), .ok(generation: "g", first: first, count: 1, .seconds(6)))),
                shard)
            _ = effects
        }
    }

    // MARK: - Starting

    @Test("a log is open when each Redis has served")
    func started() {
        let bench = Bench()
        bench.serve(0)
        #expect(bench.tick() == [])
        bench.serve(1)
        #expect(bench.tick() == ["started"])
        #expect(bench.tick() == [])
    }

    @Test("a first link that fails ends the start, unless Redis is still reading its data")
    func failedStart() {
        let unreachable = Bench()
        unreachable.serve(0)
        unreachable.handle(.lost(CommandLogFault(.unreachable, "")), 1)
        #expect(unreachable.tick() == ["connect 1", "disconnect 0", "disconnect 1", "started: unreachable"])
        let loading = Bench()
        loading.serve(0)
        loading.handle(.lost(CommandLogFault(.loading, "")), 1)
        #expect(loading.tick() == ["connect 1"])
        loading.serve(1)
        #expect(loading.tick() == ["started"])
    }

    @Test("a start ends after its time")
    func startInVain() {
        let bench = Bench()
        bench.serve(0)
        bench.handle(.ready(forgetsNothing: true), 1)
        _ = bench.effects
        bench.now = .seconds(109.8)
        #expect(bench.tick().last == "hello 1")
        #expect(bench.tick().last == "started: silent")
    }

    // MARK: - Health

    @Test("LOG-34: after 2 s in which nothing could be kept, the log says so, and once")
    func health() {
        let bench = Bench.open()
        bench.handle(.lost(CommandLogFault(.unreachable, "")), 1)
        #expect(bench.effects == ["note link lost"])
        #expect(bench.tick(after: 1.9) == ["hello 1", "connect 1"])
        #expect(bench.tick(after: 0.2) == ["note stalled", "health: unreachable"])
        #expect(bench.tick() == [])
        bench.serve(1)
        #expect(bench.tick() == ["note keeps again", "health"])
    }

    @Test("LOG-34: after 25 s without Redis, the node may be the only one, until Redis is back")
    func isolation() {
        let bench = Bench.open()
        bench.handle(.lost(CommandLogFault(.unreachable, "")), 1)
        #expect(!bench.tick(after: 40).contains("isolated"), "it still has another Redis")
        bench.handle(.lost(CommandLogFault(.unreachable, "")), 0)
        _ = bench.effects
        #expect(!bench.tick(after: 24.8).contains("isolated"))
        #expect(bench.tick(after: 0.3).contains("isolated"))
        #expect(!(bench.tick(after: 60) + bench.tick(after: 1)).contains { $0.contains("isolated") }, "once")
        bench.serve(1)
        #expect(bench.tick().contains("not isolated"))
    }

    @Test("LOG-36: a Redis that refuses commands stalls the log until it keeps one")
    func refusal() {
        let bench = Bench.open()
        let shard = bench.submit()
        var isRefused = true
        while bench.state.fault == nil, bench.now < .seconds(103) {
            let full = ShardAnswer.Appending.refused(.failed(.full))
            if isRefused { bench.handle(.answered(.appended(FollowID(session: "s", number: 1), full)), shard) }
            let calls = bench.tick()
            isRefused = calls.contains("append [1]")
            if calls.contains("hello 1") { for index in 0...1 { bench.greet(index) } }
        }
        #expect(bench.state.fault?.code == .full)
        bench.confirm(shard)
        #expect(bench.tick() == ["note keeps again", "health"])
    }

    @Test("LOG-22: the bytes of a command are in flight from the call until it is confirmed")
    func inFlight() {
        let bench = Bench.open()
        #expect(bench.state.inFlightByteCount == 0)
        let shard = bench.submit()
        #expect(bench.state.inFlightByteCount == 2)
        bench.confirm(shard)
        #expect(bench.state.inFlightByteCount == 0)
    }

    // MARK: - Closing

    @Test("LOG-13: a log that closes waits for commands on their way, then says goodbye to each Redis, and ends")
    func closing() {
        let bench = Bench.open()
        let shard = bench.submit()
        #expect(bench.beginClosing() == [])
        #expect(bench.tick() == [])
        bench.confirm(shard)
        #expect(bench.tick() == ["goodbye", "goodbye"])
        bench.handle(.answered(.saidGoodbye(RunID(1))), 0)
        #expect(bench.tick() == [])
        bench.handle(.answered(.saidGoodbye(RunID(1))), 1)
        #expect(bench.tick() == ["disconnect 0", "disconnect 1", "closed"])
    }

    @Test("a log closes in its time, whatever Redis does")
    func closingInVain() {
        let waiting = Bench.open()
        _ = waiting.submit()
        _ = waiting.beginClosing()
        #expect(waiting.tick(after: 1.9).allSatisfy { $0 == "hello 1" })
        #expect(waiting.tick(after: 0.2).last == "closed")
        let away = Bench.open()
        for shard in 0...1 { away.handle(.lost(CommandLogFault(.unreachable, "")), shard) }
        _ = away.beginClosing()
        _ = away.tick()
        #expect(away.tick().last == "closed", "nobody is there to say goodbye to")
    }

    @Test("the goodbye of the run that was lost before is not that of the present one")
    func earlierGoodbye() {
        let bench = Bench.open()
        bench.handle(.receivedOfNodes(.lost(RunID(1), at: .seconds(1))))
        for shard in 0...1 { bench.greet(shard) }
        _ = bench.beginClosing()
        #expect(bench.tick().filter { $0 == "goodbye" }.count == 2)
        for shard in 0...1 { bench.handle(.answered(.saidGoodbye(RunID(1))), shard) }
        #expect(bench.tick() == [])
        for shard in 0...1 { bench.handle(.answered(.saidGoodbye(bench.state.run)), shard) }
        #expect(bench.tick().last == "closed")
    }

    @Test("closing in each phase")
    func closingAnywhere() {
        let starting = Bench()
        #expect(starting.beginClosing() == [])
        let closing = Bench.open()
        _ = closing.beginClosing()
        #expect(closing.beginClosing() == [])
        #expect(closing.tick(after: 2).last == "closed")
        #expect(closing.beginClosing() == ["closed"])
    }

    @Test("a log that is closed does nothing more")
    func closed() {
        let bench = Bench.open()
        let shard = bench.submit()
        _ = bench.beginClosing()
        _ = bench.tick(after: 2)
        let events: [RedisLogState.LinkEvent] = [
            .ready(forgetsNothing: true), .lost(CommandLogFault(.unreachable, "")),
            .answered(.appended(FollowID(session: "s", number: 1), .gone)), .subscription("s", isConfirmed: true),
            .received(.removed(generation: "g"), "s"), .receivedOfNodes(.lost(RunID(1), at: .seconds(1))),
        ]
        for event in events { bench.handle(event, shard) }
        #expect(bench.tick() == [])
        #expect(bench.state.run == RunID(1))
    }

    // MARK: - What one Redis finds out

    @Test("LOG-32: the loss of this run gives up all sessions, and the log continues as another run")
    func declaredLost() {
        let bench = Bench.open()
        let shard = bench.submit()
        bench.handle(.receivedOfNodes(.lost(RunID(1), at: .seconds(1))))
        let effects = bench.effects
        #expect(effects.first == "note declared lost" && effects.last == "continues")
        #expect(effects.filter { $0 == "goodbye" }.count == 2 && effects.filter { $0 == "hello 1" }.count == 2)
        #expect(!effects.contains("s dropped"), "the engine forgets all sessions by itself")
        #expect(bench.state.run != RunID(1) && bench.state.inFlightByteCount == 0)
        #expect(bench.state.lossTime(of: RunID(1)) != nil)
        // The answer to what the lost run has appended is void.
        bench.confirm(shard)
        #expect(bench.effects == [] && bench.state.inFlightByteCount == 0)
    }

    @Test("LOG-36: a node that is lost on one Redis is declared lost on the others, and reported once with its orphans")
    func lossOfAnother() {
        let bench = Bench.open()
        let loss = ShardAnswer.Loss(time: .seconds(3), orphans: ["t"])
        bench.handle(.answered(.declaredLost(RunID(7), loss)), 0)
        #expect(bench.effects == ["declare 7 lost", "lost 7, orphans [\"t\"]"])
        bench.handle(.answered(.declaredLost(RunID(7), ShardAnswer.Loss(time: .seconds(4), orphans: []))), 1)
        #expect(bench.effects == [])
        bench.handle(.answered(.declaredLost(RunID(7), ShardAnswer.Loss(time: .seconds(4), orphans: ["u"]))), 1)
        #expect(bench.effects == ["lost 7, orphans [\"u\"]"])
        #expect(bench.state.lossTime(of: RunID(7)) == .seconds(3), "the earliest")
        bench.handle(.answered(.declaredLost(RunID(8), nil)), 0)
        #expect(bench.effects == [])
    }
}
