import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// The link to a Redis, for whatever is asked over it.
@Suite("Redis: a link")
struct CourierTests {
    private typealias Courier = RedisCourier<Int>

    private enum At: CaseIterable { case away, connecting, ready, loading, closed }
    private enum Event: CaseIterable { case ready, lost, soon, late, libraryMissing, libraryLoaded, close }

    private struct Bench {
        var courier = Courier(redis: "redis://test", retryAt: .seconds(100))
        var now = MonotonicInstant.seconds(100)
        var random: NameGenerator
        var steps: [String] = []

        init(_ at: At = .away, seed: UInt64 = 1) {
            random = NameGenerator(seed: seed)
            switch at {
            case .away: break
            case .connecting: tick()
            case .ready:
                tick()
                handle(.ready)
                courier.noteCall(now: now)
            case .loading:
                tick()
                handle(.ready)
                handle(.libraryMissing)
            case .closed: handle(.close)
            }
            steps = []
        }

        mutating func tick(after time: Duration = .zero) {
            now = now.advanced(by: time)
            carryOut(courier.tick(now: now, LogTimes()))
        }

        mutating func carryOut(_ step: Courier.Step?) {
            switch step {
            case nil: break
            case .connect: steps.append("connect")
            case .loadLibrary: steps.append("load")
            case .giveUp(let fault):
                steps.append("give up: \(fault.code)")
                handle(.lost)
            }
        }

        mutating func handle(_ event: Event) {
            switch event {
            case .ready: _ = courier.begin(7)
            case .lost: _ = courier.lost(now: now, LogTimes(), &random)
            case .soon: tick(after: .seconds(4.9))
            case .late: tick(after: .seconds(10))
            case .libraryMissing: carryOut(courier.libraryMissing(now: now))
            case .libraryLoaded: _ = courier.libraryLoaded()
            case .close: if courier.close() { steps.append("disconnect") }
            }
        }

        var at: At {
            switch courier.phase {
            case .away: .away
            case .connecting: .connecting
            case .ready: .ready
            case .loading: .loading
            case .closed: .closed
            }
        }
    }

    /// What is not in a row changes nothing, and has no step.
    private let rows: [(at: At, event: Event, next: At, steps: [String])] = [
        (.away, .soon, .connecting, ["connect"]), (.away, .late, .connecting, ["connect"]),
        (.away, .close, .closed, []),
        (.connecting, .ready, .ready, []), (.connecting, .lost, .away, []),
        (.connecting, .late, .away, ["give up: silent"]), (.connecting, .close, .closed, ["disconnect"]),
        (.ready, .lost, .away, []), (.ready, .late, .away, ["give up: silent"]),
        (.ready, .libraryMissing, .loading, ["load"]), (.ready, .close, .closed, ["disconnect"]),
        (.loading, .lost, .away, []), (.loading, .late, .away, ["give up: silent"]),
        (.loading, .libraryLoaded, .ready, []), (.loading, .close, .closed, ["disconnect"]),
    ]

    @Test("LOG-34: each event in each phase of a link")
    func table() {
        for at in At.allCases {
            for event in Event.allCases {
                var bench = Bench(at)
                #expect(bench.at == at)
                bench.handle(event)
                let row = rows.first { $0.at == at && $0.event == event }
                #expect(bench.at == row?.next ?? at, "\(at), \(event)")
                #expect(bench.steps == row?.steps ?? [], "\(at), \(event)")
                #expect((bench.courier.service == 7) == (bench.at == .ready), "\(at), \(event)")
            }
        }
    }

    @Test("LOG-34: a link is silent when its oldest call has no answer for 10 s, and not while each gets one")
    func silence() {
        var bench = Bench(.ready)
        for _ in 0..<10 {
            bench.courier.noteCall(now: bench.now)
            bench.tick(after: .seconds(9.9))
            bench.courier.noteAnswer(now: bench.now)
        }
        bench.courier.noteAnswer(now: bench.now)
        bench.tick(after: .seconds(100))
        #expect(bench.at == .ready && bench.steps.isEmpty, "nothing is asked")
        bench.courier.noteCall(now: bench.now)
        bench.tick(after: .seconds(9))
        bench.courier.noteCall(now: bench.now)
        bench.tick(after: .seconds(1))
        #expect(bench.at == .away && bench.courier.waitingSince == nil)
    }

    @Test("LOG-34: the pauses between attempts double up to a second, and begin anew when Redis was of use")
    func pauses() {
        /// The pauses of some attempts in milliseconds, without the jitter of at most a half.
        func pauses(_ bench: inout Bench, _ count: Int) -> [ClosedRange<Int64>] {
            (0..<count).map { _ in
                bench.handle(.lost)
                guard case .away(let moment) = bench.courier.phase else { return 0...0 }
                let pause = moment.duration(since: bench.now).wholeMilliseconds
                return pause...(2 * pause + 2)
            }
        }
        var bench = Bench()
        for (range, limit) in zip(pauses(&bench, 7), [50, 100, 200, 400, 800, 1_000, 1_000] as [Int64]) {
            #expect(range.contains(limit), "\(range), \(limit)")
        }
        bench.courier.noteUse()
        #expect(pauses(&bench, 1)[0].contains(50))
    }

    @Test("LOG-34: after an outage of Redis, the links of many nodes do not connect in step")
    func spreads() {
        let moments = Set(
            (1...20 as ClosedRange<UInt64>).map { seed in
                var bench = Bench(seed: seed)
                for _ in 0..<10 { bench.handle(.lost) }
                guard case .away(let moment) = bench.courier.phase else { return Int64(0) }
                return moment.duration(since: bench.now).wholeMilliseconds
            })
        #expect(moments.count > 15 && moments.allSatisfy { (500...1_000).contains($0) }, "\(moments.sorted())")
    }

    @Test("LOG-37: a Redis that loads the library, and then does not know it, gets the pause before the next link")
    func forgottenLibrary() {
        var bench = Bench(.loading)
        bench.handle(.libraryLoaded)
        bench.handle(.libraryMissing)
        #expect(bench.at == .away && bench.steps == ["give up: failing"])
        bench.tick(after: .seconds(1))
        bench.handle(.ready)
        bench.handle(.libraryMissing)
        #expect(bench.at == .loading, "on another link once more")
    }

    @Test("LOG-34: the operator is told of a fault once, and of its end")
    func notes() {
        var courier = Bench().courier
        let faults: [CommandLogFault?] = [
            nil, CommandLogFault(.unreachable, "gone"), CommandLogFault(.unreachable, "still gone"),
            CommandLogFault(.silent, ""), nil,
        ]
        let news = faults.map { courier.tell($0) }
        #expect(news == [false, true, false, true, true] && courier.fault == nil)
    }
}
