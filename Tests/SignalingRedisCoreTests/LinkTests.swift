import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// Each event in each phase of a link. What is not in a row changes nothing, and has no effect.
@Suite("Redis log: the phases of a link")
struct LinkTests {
    private enum At: CaseIterable { case away, connecting, greeting, loading, restoring, serving, closed }

    private enum Event: CaseIterable {
        case ready, lost, greeted, greetedRestoring, greetedLost, otherList, functionMissing, greetingFailed
        case greetingNotUnderstood, libraryLoaded, libraryFailed, silentTick, declaredLost, closed
    }

    private final class Bench {
        var shard: ShardState
        var desk = LogDesk(times: LogTimes(), run: RunID(1), seed: 1, now: .seconds(100))

        /// - Parameter at: in `restoring` and `serving`, a further greeting is on its way.
        init(_ at: At) {
            shard = ShardState(
                ShardSettings.list(["redis://test"])[0], shard: 0, times: desk.times, now: .seconds(100))
            switch at {
            case .away: break
            case .connecting: shard.tick(&desk)
            case .greeting: handle(.connecting, .ready)
            case .loading: handle(.greeting, .functionMissing)
            case .restoring: handle(.greeting, .greetedRestoring)
            case .serving: handle(.greeting, .greeted)
            case .closed: shard.close(&desk)
            }
            switch at {
            case .restoring, .serving: shard.greet(&desk)
            case .away, .connecting, .greeting, .loading, .closed: break
            }
            desk.effects = []
        }

        /// Comes to a phase by an event.
        private func handle(_ at: At, _ event: Event) {
            let before = Bench(at)
            (shard, desk) = (before.shard, before.desk)
            handle(event)
        }

        func handle(_ event: Event) {
            switch event {
            case .ready: shard.linkReady(forgetsNothing: true, &desk)
            case .lost: shard.linkLost(CommandLogFault(.unreachable, ""), &desk)
            case .greeted: greeted(.ok(time: .seconds(5), restoring: .zero, isLost: false, []))
            case .greetedRestoring: greeted(.ok(time: .seconds(5), restoring: .seconds(2), isLost: false, []))
            case .greetedLost: greeted(.ok(time: .seconds(5), restoring: .zero, isLost: true, []))
            case .otherList: greeted(.otherList)
            case .functionMissing: greeted(.failed(.functionMissing))
            case .greetingFailed: greeted(.failed(.full))
            case .greetingNotUnderstood: greeted(.notUnderstood)
            case .libraryLoaded: shard.answered(.libraryLoaded(nil), &desk)
            case .libraryFailed: shard.answered(.libraryLoaded(.other("ERR no scripts")), &desk)
            case .silentTick:
                desk.now = desk.now.advanced(by: .seconds(11))
                shard.tick(&desk)
            case .declaredLost: shard.received(NodesMessage.lost(RunID(1), at: .seconds(1)), &desk)
            case .closed: shard.close(&desk)
            }
        }

        private func greeted(_ answer: ShardAnswer.Greeting) { shard.answered(.greeted(RunID(1), answer), &desk) }

        var at: At {
            switch shard.link.courier.phase {
            case .away: .away
            case .connecting: .connecting
            case .ready(.greeting): .greeting
            case .loading: .loading
            case .ready(.restoring): .restoring
            case .ready(.serving): .serving
            case .closed: .closed
            }
        }
        var effects: [String] { desk.effects.map(\.text) }
    }

    private typealias Row = (at: At, event: Event, next: At, effects: [String])

    private let rows: [Row] = [
        (.away, .silentTick, .connecting, ["connect 0"]), (.away, .lost, .away, []),
        (.away, .closed, .closed, []),

        (.connecting, .ready, .greeting, ["hello 1"]), (.connecting, .lost, .away, []),
        (.connecting, .silentTick, .away, ["disconnect 0"]), (.connecting, .closed, .closed, ["disconnect 0"]),

        (.greeting, .lost, .away, []), (.greeting, .greeted, .serving, []),
        (.greeting, .greetedRestoring, .restoring, []), (.greeting, .otherList, .away, ["disconnect 0"]),
        (.greeting, .functionMissing, .loading, ["load library"]),
        (.greeting, .greetingFailed, .away, ["disconnect 0"]),
        (.greeting, .greetingNotUnderstood, .away, ["disconnect 0"]), (.greeting, .silentTick, .away, ["disconnect 0"]),
        (.greeting, .closed, .closed, ["disconnect 0"]),

        (.loading, .lost, .away, []), (.loading, .libraryLoaded, .greeting, ["hello 1"]),
        (.loading, .libraryFailed, .away, ["disconnect 0"]), (.loading, .silentTick, .away, ["disconnect 0"]),
        (.loading, .closed, .closed, ["disconnect 0"]),

        (.restoring, .lost, .away, []), (.restoring, .greeted, .serving, []),
        (.restoring, .otherList, .away, ["disconnect 0"]), (.restoring, .functionMissing, .loading, ["load library"]),
        (.restoring, .greetingFailed, .away, ["disconnect 0"]),
        (.restoring, .greetingNotUnderstood, .away, ["disconnect 0"]),
        (.restoring, .silentTick, .away, ["disconnect 0"]), (.restoring, .closed, .closed, ["disconnect 0"]),

        (.serving, .lost, .away, ["note link lost"]), (.serving, .greetedRestoring, .restoring, []),
        (.serving, .otherList, .away, ["disconnect 0", "note link lost"]),
        (.serving, .functionMissing, .loading, ["load library"]),
        (.serving, .greetingFailed, .away, ["disconnect 0", "note link lost"]),
        (.serving, .greetingNotUnderstood, .away, ["disconnect 0", "note link lost"]),
        (.serving, .silentTick, .away, ["disconnect 0", "note link lost"]),
        (.serving, .closed, .closed, ["disconnect 0"]),
    ]

    @Test("LOG-34: each event in each phase")
    func table() {
        for at in At.allCases {
            for event in Event.allCases {
                let bench = Bench(at)
                #expect(bench.at == at)
                bench.handle(event)
                let row = rows.first { $0.at == at && $0.event == event }
                #expect(bench.at == row?.next ?? at, "\(at), \(event)")
                #expect(bench.effects == row?.effects ?? [], "\(at), \(event)")
                // The log acts on its loss for all shards.
                let learnsOfLoss =
                    event == .declaredLost || event == .greetedLost && [.greeting, .restoring, .serving].contains(at)
                #expect(bench.desk.isDeclaredLost == learnsOfLoss, "\(at), \(event)")
            }
        }
    }

    @Test("LOG-32: the loss of this run is followed by a new registration where there is a link")
    func anotherRun() {
        for at in At.allCases {
            let bench = Bench(at)
            bench.desk.run = RunID(2)
            bench.shard.continueAsAnotherRun(after: RunID(1), &bench.desk)
            let isReady = [At.greeting, .loading, .restoring, .serving].contains(at)
            #expect(bench.at == (isReady ? .greeting : at))
            #expect(bench.effects == (isReady ? ["goodbye", "hello 1"] : []), "\(at)")
            #expect(bench.shard.registry.losses[RunID(1)] != nil)
            // The answer to the earlier run's greeting means nothing.
            bench.handle(.greeted)
            #expect(bench.at == (isReady ? .greeting : at))
        }
    }

    @Test("LOG-32: a sign of life each second, one at a time; a restoration ends with a greeting")
    func beats() {
        func after(_ seconds: Double, _ bench: Bench) -> [String] {
            bench.desk.effects = []
            bench.desk.now = .seconds(100 + seconds)
            bench.shard.tick(&bench.desk)
            return bench.effects
        }
        for (at, answer) in [(At.restoring, Event.greetedRestoring), (.serving, .greeted)] {
            let bench = Bench(at)
            #expect(after(1.5, bench) == [], "one is on its way")
            bench.handle(answer)
            #expect(after(1.6, bench) == ["hello 1"], "\(at)")
            bench.handle(answer)
            #expect(after(2.5, bench) == [], "\(at)")
            #expect(after(2.6, bench) == ["hello 1"], "\(at)")
        }
        // The end of the restoration comes before the next sign of life.
        let restoring = Bench(.restoring)
        _ = after(1.5, restoring)
        restoring.shard.answered(
            .greeted(RunID(1), .ok(time: .seconds(5), restoring: .milliseconds(300), isLost: false, [])),
            &restoring.desk)
        _ = after(1.6, restoring)
        restoring.shard.answered(
            .greeted(RunID(1), .ok(time: .seconds(5), restoring: .milliseconds(200), isLost: false, [])),
            &restoring.desk)
        #expect(after(1.7, restoring) == [])
        #expect(after(1.8, restoring) == ["hello 1"])
    }

    @Test("LOG-32: Redis answers, but its messages do not arrive: the link is given up")
    func missingBeat() {
        let bench = Bench(.serving)
        for second in 101...110 {
            bench.desk.now = .seconds(Double(second))
            bench.handle(.greeted)
            bench.shard.tick(&bench.desk)
            #expect(bench.at == .serving)
        }
        bench.shard.received(.alive(RunID(1)), &bench.desk)
        for second in 111...120 {
            bench.desk.now = .seconds(Double(second))
            bench.handle(.greeted)
            bench.shard.tick(&bench.desk)
            #expect(bench.at == .serving)
        }
        bench.shard.received(.alive(RunID(2)), &bench.desk)
        bench.desk.now = .seconds(121)
        bench.handle(.greeted)
        bench.shard.tick(&bench.desk)
        #expect(bench.at == .away)
    }

    // MARK: - What sessions find out

    /// A shard that serves, with a session whose opening is asked for.
    private func withSession(at: At) -> Bench {
        let bench = Bench(.serving)
        bench.handle(.greeted)
        _ = bench.shard.open("s", &bench.desk)
        bench.shard.subscriptionConfirmed("s", true, &bench.desk)
        if at == .restoring {
            bench.shard.greet(&bench.desk)
            bench.handle(.greetedRestoring)
        }
        #expect(bench.at == at)
        bench.desk.effects = []
        return bench
    }

    @Test("LOG-30, LOG-34: a refused call of a session: greet again, load the library, or give the link up")
    func refusedCalls() {
        let rows: [(At, ShardRefusal, At, [String])] = [
            (.serving, .greetAgain, .greeting, ["hello 1"]),
            (.serving, .failed(.functionMissing), .loading, ["load library"]),
            (.serving, .failed(.readOnly), .away, ["disconnect 0", "note link lost"]),
            (.serving, .failed(.refused("")), .away, ["disconnect 0", "note link lost"]),
            (.serving, .failed(.full), .serving, []),
            (.serving, .notUnderstood, .away, ["disconnect 0", "note link lost"]),
            // The next sign of life finds it out.
            (.restoring, .greetAgain, .restoring, []), (.restoring, .failed(.functionMissing), .restoring, []),
        ]
        for (at, refusal, next, effects) in rows {
            let bench = withSession(at: at)
            bench.shard.answered(.opened(FollowID(session: "s", number: 1), .refused(refusal)), &bench.desk)
            #expect(bench.at == next, "\(at), \(refusal)")
            #expect(bench.effects == effects, "\(at), \(refusal)")
        }
    }

    @Test("LOG-37: a confirmation that the node does not wait for ends the link")
    func unexpectedConfirmation() {
        let rows: [(SessionID, Bool)] = [("s", true), ("s", false), ("other", true), ("other", false)]
        for (session, isSubscribed) in rows {
            let bench = withSession(at: .serving)
            bench.shard.subscriptionConfirmed(session, isSubscribed, &bench.desk)
            #expect(bench.at == .away, "\(session), \(isSubscribed)")
        }
    }

    @Test("answers of an earlier following of a session do nothing")
    func lateAnswers() {
        let bench = withSession(at: .serving)
        bench.shard.close("s", &bench.desk)
        _ = bench.shard.open("s", &bench.desk)
        bench.desk.effects = []
        let old = FollowID(session: "s", number: 1)
        bench.shard.answered(.opened(old, .none(nil)), &bench.desk)
        bench.shard.answered(.appended(old, .gone), &bench.desk)
        bench.shard.answered(.kept(old, .gone), &bench.desk)
        #expect(bench.effects == [])
        #expect(bench.shard.slots["s"]?.session?.stage == .opening)
    }

    @Test("G5: a session waits for the next tick once, however often it begins and ceases to need one")
    func attentionOnce() throws {
        let bench = withSession(at: .serving)
        bench.shard.answered(.opened(FollowID(session: "s", number: 1), .none(nil)), &bench.desk)
        for number: UInt64 in 1...50 {
            for number in [2 * number, 2 * number - 1] {
                bench.shard.received(.entries(generation: "g", [SessionBench.entry(number)]), of: "s", &bench.desk)
            }
        }
        bench.shard.received(.entries(generation: "g", [SessionBench.entry(102)]), of: "s", &bench.desk)
        #expect(bench.shard.attention.count == 1)
        bench.desk.effects = []
        bench.desk.now = .seconds(100.5)
        bench.shard.tick(&bench.desk)
        #expect(bench.effects == ["fill 101...101"])
        #expect(bench.shard.attention.count == 1)
    }
}
