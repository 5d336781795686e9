import CoreTestSupport
import SignalingProtocol
import Testing

@testable import SignalingCore

@Suite("The flush scheduler")
struct FlushSchedulerTests {
    private func decide(
        _ scheduler: inout FlushScheduler, at microseconds: Int, members: Int = 1000, isBusy: Bool = true
    ) -> String {
        switch scheduler.decide(now: instant(microseconds), memberCount: members, isLoopBusy: isBusy) {
        case .flush: "flush"
        case .nextTurn: "next turn"
        case .wait(let until): "wait \(until.duration(since: instant(microseconds)).wholeNanoseconds / 1000)"
        }
    }

    private func instant(_ microseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(microseconds) * 1_000)
    }

    private func note(_ scheduler: inout FlushScheduler, _ count: Int = 1) {
        for _ in 0..<count { scheduler.noteWaiting(byteCount: 10) }
    }

    @Test("a session whose flush is cheap never waits for a timer, and without a merge time none does")
    func cheap() {
        for (members, expected) in [(1, "flush"), (19, "flush"), (20, "wait 5000"), (15_000, "wait 5000")] {
            var scheduler = FlushScheduler()
            scheduler.noteFlushed(at: instant(1_000_000))
            note(&scheduler)
            #expect(decide(&scheduler, at: 1_001_000, members: members) == expected, "\(members) members")
        }
        var scheduler = FlushScheduler(pace: .init(longestWait: .zero))
        scheduler.noteFlushed(at: instant(1_000_000))
        note(&scheduler, 20)
        #expect(decide(&scheduler, at: 1_000_000) == "flush")
    }

    @Test("on a loop that is not busy, nothing waits for a timer")
    func load() {
        for (isBusy, expected) in [(false, "flush"), (true, "wait 5000")] {
            var scheduler = FlushScheduler()
            scheduler.noteFlushed(at: instant(1_000_000))
            note(&scheduler)
            #expect(decide(&scheduler, at: 1_001_000, isBusy: isBusy) == expected)
        }
    }

    @Test("WIRE-11: on a busy loop the first event after a pause is flushed at once, later ones wait for each other")
    func busy() {
        var scheduler = FlushScheduler()
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_000_000) == "flush")
        scheduler.noteFlushed(at: instant(1_000_000))
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_002_000) == "wait 5000")
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_004_000, isBusy: false) == "wait 3000", "a wait is not given up")
        #expect(decide(&scheduler, at: 1_007_000) == "flush")
        scheduler.noteFlushed(at: instant(1_007_000))
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_012_000) == "flush", "after a pause")
    }

    @Test("a session whose events come more seldom than the longest wait does not wait for them")
    func seldom() {
        var scheduler = FlushScheduler()
        for step in 0..<8 {
            note(&scheduler)
            scheduler.noteFlushed(at: instant(1_000_000 + step * 6_000))
        }
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_043_000) == "flush")
        scheduler.noteFlushed(at: instant(1_043_000))
        // Faster than every 5 ms from now on.
        for step in 1...4 {
            note(&scheduler)
            scheduler.noteFlushed(at: instant(1_043_000 + step * 2_000))
        }
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_052_000) == "wait 5000")
    }

    @Test("four signals in a turn wait for the rest of their burst, in every session, on every loop, at most 5 ms")
    func burst() {
        for (members, isBusy) in [(2, false), (10, true), (1000, false), (1000, true)] {
            var scheduler = FlushScheduler()
            scheduler.noteFlushed(at: instant(1_000_000))
            note(&scheduler, 4)
            #expect(decide(&scheduler, at: 1_000_000, members: members, isBusy: isBusy) == "next turn")
            note(&scheduler, 20)
            #expect(decide(&scheduler, at: 1_000_100, members: members, isBusy: isBusy) == "next turn")
            note(&scheduler, 3)
            #expect(
                decide(&scheduler, at: 1_000_200, members: members, isBusy: isBusy) == "flush", "enough are pending")
            scheduler.noteFlushed(at: instant(1_000_200))
            var flushedAfter: Int?
            for step in 0...60 where flushedAfter == nil {
                note(&scheduler, 5)
                let decision = decide(&scheduler, at: 1_000_300 + step * 100, members: members, isBusy: isBusy)
                if decision == "flush" { flushedAfter = step }
            }
            #expect(flushedAfter == 50, "an endless burst")
        }
        var scheduler = FlushScheduler()
        scheduler.noteFlushed(at: instant(1_000_000))
        note(&scheduler, 3)
        #expect(decide(&scheduler, at: 1_000_000, members: 10) == "flush", "three signals are no burst")
    }

    @Test("on a busy loop a short burst in a large session waits on for a timer")
    func shortBurst() {
        var scheduler = FlushScheduler()
        scheduler.noteFlushed(at: instant(1_000_000))
        note(&scheduler, 10)
        #expect(decide(&scheduler, at: 1_000_000) == "next turn")
        #expect(decide(&scheduler, at: 1_000_100) == "wait 4900")
        note(&scheduler, 3)
        #expect(decide(&scheduler, at: 1_000_500) == "wait 4500")
        note(&scheduler, 3)
        #expect(decide(&scheduler, at: 1_000_900) == "flush", "enough are pending")
    }

    @Test("if nothing came while events waited, the next ones are flushed at once: twice as many each time, at most 64")
    func fruitless() {
        var scheduler = FlushScheduler()
        var time = 1_000_000
        scheduler.noteFlushed(at: instant(time))
        var skips: [Int] = []
        for _ in 0..<9 {
            var skipped = 0
            while true {
                note(&scheduler, 2)
                time += 1_000
                if decide(&scheduler, at: time) == "flush" {
                    skipped += 1
                    scheduler.noteFlushed(at: instant(time))
                    continue
                }
                time += 5_000
                #expect(decide(&scheduler, at: time) == "flush")
                scheduler.noteFlushed(at: instant(time))
                break
            }
            skips.append(skipped)
        }
        #expect(skips == [0, 1, 2, 4, 8, 16, 32, 64, 64])
        // A wait in which something comes ends it.
        while true {
            note(&scheduler, 2)
            time += 1_000
            if decide(&scheduler, at: time) != "flush" { break }
            scheduler.noteFlushed(at: instant(time))
        }
        note(&scheduler)
        #expect(decide(&scheduler, at: time + 2_000) != "flush")
        #expect(decide(&scheduler, at: time + 5_000) == "flush")
        scheduler.noteFlushed(at: instant(time + 5_000))
        note(&scheduler)
        #expect(decide(&scheduler, at: time + 6_000) != "flush")
    }

    @Test(
        "G5: joins and departures alone wait longer in a large session, at most 100 ms, and not in a small one",
        arguments: [false, true])
    func presence(isBusy: Bool) {
        for (members, expected) in [
            (2, "flush"), (19, "flush"), (100, "wait 10000"), (500, "wait 50000"), (1000, "wait 100000"),
            (15_000, "wait 100000"),
        ] {
            var scheduler = FlushScheduler()
            scheduler.noteFlushed(at: instant(1_000_000))
            scheduler.noteWaiting(byteCount: 10, isPresence: true)
            #expect(!scheduler.hasSignals)
            #expect(
                decide(&scheduler, at: 1_000_000, members: members, isBusy: isBusy) == expected, "\(members) members")
        }
        var scheduler = FlushScheduler()
        scheduler.noteFlushed(at: instant(1_000_000))
        scheduler.noteWaiting(byteCount: 10, isPresence: true)
        #expect(decide(&scheduler, at: 1_000_000, isBusy: isBusy) == "wait 100000")
        note(&scheduler)
        #expect(scheduler.hasSignals)
        #expect(
            decide(&scheduler, at: 1_000_000, isBusy: isBusy) == (isBusy ? "wait 5000" : "flush"),
            "a signal is not delayed")
        scheduler.noteFlushed(at: instant(1_005_000))
        #expect(!scheduler.hasSignals)
    }

    @Test("at the byte limit a session is flushed at once, and a flush resets the count")
    func bytes() {
        var scheduler = FlushScheduler()
        scheduler.noteFlushed(at: instant(1_000_000))
        scheduler.noteWaiting(byteCount: FlushScheduler.byteLimit - 1)
        #expect(decide(&scheduler, at: 1_000_000) != "flush")
        scheduler.noteWaiting(byteCount: 1)
        #expect(decide(&scheduler, at: 1_000_000) == "flush")
        scheduler.noteFlushed(at: instant(1_000_000))
        note(&scheduler)
        #expect(decide(&scheduler, at: 1_000_000) != "flush")
    }

    @Test("the byte limit is well below the log's bound in bytes")
    func limits() {
        #expect(FlushScheduler.byteLimit * 4 <= SessionLog.Bounds().byteCount)
    }

    // MARK: - Rates, sizes and loads

    struct Traffic: CustomTestStringConvertible {
        let rate: Int
        let members: Int
        let isBusy: Bool
        /// The bounds of the median wait, in microseconds.
        let wait: ClosedRange<Int>
        /// The bounds of the number of flushes for 100 events.
        let flushes: ClosedRange<Int>

        var testDescription: String { "\(rate) a second to \(members), \(isBusy ? "busy" : "idle")" }

        static let table = [
            // A loop that is not busy: the latency is that of a server that never waits, and so is the cost.
            Traffic(rate: 20, members: 1000, isBusy: false, wait: 0...0, flushes: 100...100),
            Traffic(rate: 200, members: 100, isBusy: false, wait: 0...0, flushes: 100...100),
            Traffic(rate: 400, members: 100, isBusy: false, wait: 0...0, flushes: 100...100),
            Traffic(rate: 2_000, members: 10, isBusy: false, wait: 0...0, flushes: 100...100),
            Traffic(rate: 2_000, members: 30, isBusy: false, wait: 0...0, flushes: 100...100),
            // A busy loop, and a session in which a wait saves nothing: too small, or too quiet.
            Traffic(rate: 2_000, members: 10, isBusy: true, wait: 0...0, flushes: 100...100),
            Traffic(rate: 20, members: 1000, isBusy: true, wait: 0...0, flushes: 100...100),
            Traffic(rate: 150, members: 100, isBusy: true, wait: 0...0, flushes: 100...100),
            // A busy loop, and a session in which a wait saves writes.
            Traffic(rate: 400, members: 100, isBusy: true, wait: 0...5_000, flushes: 30...60),
            Traffic(rate: 1_000, members: 100, isBusy: true, wait: 0...5_000, flushes: 10...25),
            Traffic(rate: 1_000, members: 1000, isBusy: true, wait: 0...5_000, flushes: 10...25),
            Traffic(rate: 5_000, members: 100, isBusy: true, wait: 0...5_000, flushes: 3...10),
        ]
    }

    @Test("signals wait only where that saves writes: rates, sizes and loads", arguments: Traffic.table)
    func traffic(_ traffic: Traffic) {
        var scheduler = FlushScheduler()
        var waits: [Int] = []
        var pending: [Int] = []
        var flushCount = 0
        var due: Int?
        func turn(at time: Int) {
            guard !pending.isEmpty else { return }
            switch scheduler.decide(now: instant(time), memberCount: traffic.members, isLoopBusy: traffic.isBusy) {
            case .flush:
                waits += pending.map { time - $0 }
                pending = []
                flushCount += 1
                due = nil
                scheduler.noteFlushed(at: instant(time))
            case .nextTurn: due = time
            case .wait(let until): due = Int(until.nanoseconds / 1_000)
            }
        }
        let count = 1_000
        for index in 0..<count {
            let time = 1_000_000 + index * 1_000_000 / traffic.rate
            if let moment = due, moment < time { turn(at: moment) }
            note(&scheduler)
            pending.append(time)
            turn(at: time)
        }
        if let moment = due { turn(at: moment) }
        waits.sort()
        #expect(waits.count == count)
        #expect(traffic.wait.contains(waits[count / 2]), "the median wait is \(waits[count / 2]) microseconds")
        #expect((waits.last ?? 0) <= 5_000)
        let flushes = flushCount * 100 / count
        #expect(traffic.flushes.contains(flushes), "\(flushes) flushes for 100 events")
    }
}
