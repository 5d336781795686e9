import SignalingProtocol
import SignalingTransport
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("A loop", .timeLimit(.minutes(5)))
struct LoopTests {
    private func withLoop(_ body: (LoopThread) async throws -> Void) async throws {
        let loop = LoopThread(name: "loop-test", logger: quietLogger)
        try loop.start()
        do {
            try await body(loop)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    @Test("posted work runs on the loop, in the order of each poster")
    func order() async throws {
        try await withLoop { loop in
            let seen = EventLog<[Int]>()
            await withTaskGroup(of: Void.self) { group in
                for poster in 0..<4 {
                    group.addTask {
                        for number in 0..<2000 {
                            loop.post {
                                loop.preconditionCurrent()
                                seen.append([poster, number])
                            }
                        }
                    }
                }
            }
            try await loop.run {}
            for poster in 0..<4 {
                #expect(seen.all.filter { $0[0] == poster }.map { $0[1] } == Array(0..<2000))
            }
        }
    }

    @Test("work posted before the start runs after it; a post wakes an idle loop")
    func early() async throws {
        let loop = LoopThread(name: "early", logger: quietLogger)
        let seen = EventLog<Int>()
        loop.post { seen.append(1) }
        #expect(!loop.isCurrent)
        try loop.start()
        try await seen.first { $0 == 1 }
        #expect(try await loop.run { loop.isCurrent })
        loop.post { loop.post { seen.append(2) } }
        try await seen.first { $0 == 2 }
        await loop.stop()
    }

    @Test("run returns values and throws errors")
    func run() async throws {
        struct Oops: Error {}
        try await withLoop { loop in
            let answer = try await loop.run { 42 }
            #expect(answer == 42)
            await #expect(throws: Oops.self) { try await loop.run { throw Oops() } }
        }
    }

    @Test("a stopped loop accepts no work; it can be stopped again, also before a start, but not started again")
    func stopped() async throws {
        let loop = LoopThread(name: "stopped", logger: quietLogger)
        try loop.start()
        #expect(throws: TransportError(.alreadyStarted, "")) { try loop.start() }
        async let first: Void = loop.stop()
        async let second: Void = loop.stop()
        _ = await (first, second)
        await loop.stop()
        loop.post { Issue.record("it ran") }
        await #expect(throws: TransportError(.stopped, "")) { try await loop.run {} }
        #expect(throws: TransportError(.alreadyStarted, "")) { try loop.start() }
        await LoopThread(name: "never", logger: quietLogger).stop()
    }

    @Test("work enqueued before the stop runs, and run returns")
    func drains() async throws {
        for _ in 0..<50 {
            let loop = LoopThread(name: "drains", logger: quietLogger)
            try loop.start()
            let count = Mutex(0)
            for _ in 0..<100 { loop.post { count.withLock { $0 += 1 } } }
            async let answer = loop.run { 1 }
            await loop.stop()
            _ = try? await answer
            #expect(count.withLock { $0 } == 100)
        }
    }

    @Test("run throws when the loop is stopped before it ran the work")
    func droppedRun() async throws {
        // Often enough that the stop comes before, between and after the calls.
        for _ in 0..<200 {
            let loop = LoopThread(name: "dropped", logger: quietLogger)
            let calls = (0..<2).map { number in Task { try await loop.run { number } } }
            await loop.stop()
            for call in calls {
                await #expect(throws: TransportError(.stopped, "")) { _ = try await call.value }
            }
        }
    }

    @Test("onTurnEnded is read and set on the loop only: elsewhere it stops the process", arguments: [true, false])
    func turnEndedIsConfined(isSet: Bool) async throws {
        try await withLoop { loop in
            try await loop.run {
                loop.onTurnEnded = {}
                #expect(loop.onTurnEnded != nil)
            }
        }
        await #expect(processExitsWith: .failure) { [isSet] in
            let loop = LoopThread(name: "elsewhere", logger: quietLogger)
            if isSet { loop.onTurnEnded = {} } else { _ = loop.onTurnEnded }
        }
    }

    @Test("timers fire in order of their deadlines, and never early")
    func timers() async throws {
        try await withLoop { loop in
            let fired = EventLog<[Int64]>()
            let all = EventLog<Bool>()
            let timers = try await loop.run {
                let start = loop.now
                var timers: [LoopTimer] = []
                for number in (0..<60).reversed() {
                    let deadline = start.advanced(by: .microseconds(number * 733))
                    let timer = LoopTimer(loop: loop) {
                        fired.append([Int64(number), loop.now.duration(since: deadline).wholeNanoseconds])
                        if fired.all.count == 60 { all.append(true) }
                    }
                    // libuv's cached time is now old; the timer must not fire early for it.
                    if number == 30 { usleep(5000) }
                    timer.schedule(at: deadline)
                    timers.append(timer)
                }
                return LoopConfined(timers, to: loop)
            }
            // Not with the last deadline: timers of one millisecond fire in the order of their starts.
            try await all.first { $0 }
            #expect(Set(fired.all.map { $0[0] }) == Set(0..<60))
            #expect(fired.all.allSatisfy { $0[1] >= 0 })
            try await loop.run { withExtendedLifetime(timers.value) {} }
        }
    }

    @Test("a cancelled timer does not fire, a rescheduled one fires once, a released one never")
    func cancelling() async throws {
        try await withLoop { loop in
            let fired = EventLog<String>()
            let keep = try await loop.run {
                let cancelled = LoopTimer(loop: loop) { fired.append("cancelled") }
                cancelled.schedule(at: loop.now.advanced(by: .milliseconds(5)))
                cancelled.cancel()
                let moved = LoopTimer(loop: loop) { fired.append("moved") }
                moved.schedule(at: loop.now.advanced(by: .milliseconds(5)))
                moved.schedule(at: loop.now.advanced(by: .milliseconds(20)))
                LoopTimer(loop: loop) { fired.append("dropped") }.schedule(at: loop.now)
                let last = LoopTimer(loop: loop) { fired.append("last") }
                last.schedule(at: loop.now.advanced(by: .milliseconds(60)))
                return LoopConfined([cancelled, moved, last], to: loop)
            }
            try await fired.first { $0 == "last" }
            #expect(fired.all == ["moved", "last"])
            withExtendedLifetime(keep) {}
        }
    }

    @Test("onTurnEnded is called after posted work and timers of the turn")
    func turns() async throws {
        try await withLoop { loop in
            let seen = EventLog<String>()
            try await loop.run { loop.onTurnEnded = { seen.append("turn") } }
            loop.post { seen.append("posted") }
            try await seen.first { $0 == "posted" }
            let keep = try await loop.run {
                let timer = LoopTimer(loop: loop) { seen.append("timer") }
                timer.schedule(at: loop.now.advanced(by: .milliseconds(20)))
                return LoopConfined(timer, to: loop)
            }
            try await seen.first { $0 == "timer" }
            try await loop.run {}
            let events = seen.all
            for what in ["posted", "timer"] {
                let index = try #require(events.firstIndex(of: what))
                #expect(events[events.index(after: index)] == "turn")
            }
            withExtendedLifetime(keep) {}
        }
    }

    @Test("the loop leaves SIGTERM, SIGINT and SIGHUP to the program")
    func signals() async throws {
        var before = sigaction()
        sigaction(SIGTERM, nil, &before)
        try await withLoop { _ in
            for signal in [SIGTERM, SIGINT, SIGHUP, SIGSEGV] {
                var now = sigaction()
                sigaction(signal, nil, &now)
                #expect(now.sa_flags == before.sa_flags || signal == SIGSEGV)
            }
        }
    }
}
