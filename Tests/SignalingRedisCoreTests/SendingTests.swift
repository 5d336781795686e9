import DequeModule
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingRedisCore

/// What a session does with its own commands, its snapshots, and what it asks for in the log, whatever Redis answers.
@Suite("Redis log: sending, keeping and reading")
struct SendingTests {
    /// A verified session through 3, with the own commands 4 and 5 on their way.
    private func sent() -> SessionBench {
        let bench = SessionBench.followed(.verified)
        for counter: UInt64 in [4, 5] { bench.submit(counter) }
        _ = bench.step { $0.sendOwn(&$1, &$2) }
        return bench
    }

    private func ok(_ number: UInt64, count: UInt64 = 2, generation: String = "g") -> ShardAnswer.Appending {
        .ok(generation: generation, first: SessionBench.position(number), count: count, .seconds(2))
    }

    private let refusals: [ShardAnswer.Appending] = [
        .refused(.greetAgain), .refused(.failed(.full)), .refused(.notUnderstood),
    ]

    // MARK: - Appending

    @Test("LOG-1, LOG-3: confirmed commands are reported with their numbers, and count no longer as in flight")
    func confirmed() {
        let bench = sent()
        bench.link.refusal = (.seconds(1), CommandLogFault(.full, ""))
        #expect(bench.step { $0.appended(ok(4), &$1, &$2) } == ["latency", "s confirmed [4, 5]"])
        #expect(bench.desk.inFlightByteCount == 0 && bench.session.own.isEmpty)
        #expect(bench.refusal == nil, "commands are kept again")
    }

    @Test("LOG-33: commands that were confirmed behind a gap wait for it")
    func confirmedBehindGap() {
        let bench = sent()
        let confirmed = ShardAnswer.Appending.ok(
            generation: "g", first: LogPosition(number: 5, id: CommandID(run: SessionBench.run, counter: 4)), count: 2,
            .seconds(2))
        #expect(bench.step { $0.appended(confirmed, &$1, &$2) } == [])
        #expect(
            bench.step { $0.receive([SessionBench.entry(4)], "g", &$1, &$2) } == ["latency", "s confirmed [4, 5, 6]"])
    }

    @Test("each answer to an append, while commands flow")
    func answers() {
        let dropped = "ended: Redis has forgotten commands of this node"
        let rows: [(ShardAnswer.Appending, [String], isRepeating: Bool, standing: String)] = [
            (.repeated(generation: "g"), ["fill 4..."], false, "verified"),
            (.repeated(generation: "other"), ["ended: another one has begun"], false, "verified"),
            (.gone, ["ended: Redis has no such order for its commands"], false, "verified"),
            (.gap(last: 3), [], true, "verified"), (.gap(last: 9), [], true, "verified"),
            (.gap(last: nil), [], true, "verified"), (.gap(last: 2), [dropped], false, "verified"),
            (.unvouched, [], true, "unverified"),
            (.refused(.greetAgain), ["must greet"], true, "verified"),
            (.refused(.failed(.functionMissing)), ["library missing"], true, "verified"),
            (.refused(.failed(.readOnly)), ["useless"], true, "verified"),
            (.refused(.failed(.full)), [], true, "verified"),
            (.refused(.notUnderstood), ["useless"], true, "verified"),
        ]
        for (answer, effects, isRepeating, standing) in rows {
            let bench = sent()
            #expect(bench.step { $0.appended(answer, &$1, &$2) } == effects, "\(answer)")
            var repeats = false
            if case .repeating = bench.session.sending { repeats = true }
            #expect(repeats == isRepeating, "\(answer)")
            #expect(bench.standing == standing, "\(answer)")
            #expect(bench.desk.inFlightByteCount == 2, "\(answer)")
        }
    }

    @Test("LOG-3: after a refusal nothing is sent until all answers are there, and then everything again")
    func repeating() {
        for refusal in refusals {
            let bench = SessionBench.followed(.verified)
            for counter: UInt64 in [4, 5] {
                bench.submit(counter)
                #expect(bench.step { $0.sendOwn(&$1, &$2) } == ["append [\(counter)]"])
            }
            _ = bench.step { $0.appended(refusal, &$1, &$2) }
            bench.link.trouble = nil
            bench.submit(6)
            #expect(bench.step { $0.sendOwn(&$1, &$2) } == [])
            #expect(bench.attend() == [], "an answer is missing")
            #expect(bench.session.needsAttention)
            _ = bench.step { $0.appended(.gap(last: 3), &$1, &$2) }
            bench.link.trouble = nil
            #expect(bench.attend() == ["append [4, 5, 6]"])
            #expect(!bench.session.needsAttention)
        }
    }

    @Test("commands that Redis could not keep are repeated after a pause")
    func pause() {
        let bench = sent()
        _ = bench.step { $0.appended(.refused(.failed(.full)), &$1, &$2) }
        bench.desk.now = .seconds(100.2)
        _ = bench.step { $0.attend(&$1, &$2) }
        #expect(bench.step { $0.sendOwn(&$1, &$2) } == [])
        bench.desk.now = .seconds(100.25)
        _ = bench.step { $0.attend(&$1, &$2) }
        #expect(bench.step { $0.sendOwn(&$1, &$2) } == ["append [4, 5]"])
    }

    @Test("answers that come while commands are repeated: an entry counts, and a refusal prolongs the pause")
    func answersWhileRepeating() {
        let bench = sent()
        bench.session.appendCount = 2
        _ = bench.step { $0.appended(.refused(.failed(.full)), &$1, &$2) }
        #expect(bench.step { $0.appended(ok(4, count: 1), &$1, &$2) } == ["latency", "s confirmed [4]"])
        #expect(bench.attend() == ["append [5]"])
        let gone = sent()
        gone.session.appendCount = 2
        _ = gone.step { $0.appended(.gap(last: 3), &$1, &$2) }
        #expect(gone.step { $0.appended(.gone, &$1, &$2) } == ["ended: Redis has no such order for its commands"])
    }

    @Test("LOG-36: with a command that frees memory, those before it go the same way")
    func freeing() {
        let bench = SessionBench.followed(.verified)
        bench.submit(4)
        bench.submit(5, freesMemory: true)
        #expect(bench.step { $0.sendOwn(&$1, &$2) } == ["append freeing [4, 5]"])
    }

    @Test("LOG-3: after the loss of the link everything is sent again")
    func linkLost() {
        for refusal in refusals {
            let bench = sent()
            _ = bench.step { $0.appended(refusal, &$1, &$2) }
            bench.link.trouble = nil
            bench.session.interrupt()
            #expect(bench.attend() == ["restore 3"])
            #expect(bench.step { $0.verified(.fine(3), &$1, &$2) } == ["append [4, 5]"])
        }
    }

    @Test("an entry of this run whose bytes are not here drops the session")
    func unknownCommand() {
        let bench = sent()
        #expect(
            bench.step { $0.appended(ok(4, count: 3), &$1, &$2) } == [
                "latency", "s confirmed [4, 5]", "ended: a command of this node is not known",
            ])
    }

    // MARK: - Snapshots

    /// None, one that waits, one that is sent, and one that is sent with a newer one.
    private func withSnapshot(_ name: String) -> SessionBench {
        let bench = SessionBench.followed(.verified)
        switch name {
        case "waiting": bench.session.snapshot = .waiting(SessionBench.snapshot(1))
        case "sent": bench.session.snapshot = .sent(SessionBench.snapshot(1), next: nil)
        case "sent, newer": bench.session.snapshot = .sent(SessionBench.snapshot(1), next: SessionBench.snapshot(2))
        default: break
        }
        return bench
    }

    private func text(_ snapshot: FollowedSession.Snapshot) -> String {
        switch snapshot {
        case .none: "none"
        case .waiting(let one): "waiting \(one.position.number)"
        case .sent(let one, let next): "sent \(one.position.number) \(next?.position.number ?? 0)"
        }
    }

    @Test("LOG-9: a snapshot is kept one at a time, and only the newest waits")
    func keep() {
        let rows = [
            ("none", ["keep 3"], "sent 3 0"), ("waiting", ["keep 3"], "sent 3 0"), ("sent", [], "sent 1 3"),
            ("sent, newer", [], "sent 1 3"),
        ]
        for (before, effects, after) in rows {
            let bench = withSnapshot(before)
            #expect(bench.step { $0.keep(SessionBench.snapshot(3), &$1, &$2) } == effects, "\(before)")
            #expect(text(bench.session.snapshot) == after, "\(before)")
        }
        let unverified = SessionBench.followed(.asked)
        #expect(unverified.step { $0.keep(SessionBench.snapshot(3), &$1, &$2) } == [])
        #expect(text(unverified.session.snapshot) == "waiting 3")
    }

    @Test("LOG-9: each answer to a snapshot, and the loss of the link")
    func kept() {
        let rows: [(String, ShardAnswer.Keeping?, [String], String)] = [
            ("none", .kept, [], "none"), ("waiting", .kept, [], "waiting 1"),
            ("sent", .kept, ["s kept 1"], "none"), ("sent, newer", .kept, ["s kept 1"], "waiting 2"),
            ("sent", .gone, ["ended: Redis has no such order for its snapshot"], "waiting 1"),
            ("sent", .unvouched, [], "waiting 1"), ("sent, newer", .unvouched, [], "waiting 2"),
            ("sent", .refused(.failed(.full)), [], "waiting 1"),
            ("sent, newer", .refused(.greetAgain), ["must greet"], "waiting 2"),
            ("none", nil, [], "none"), ("waiting", nil, [], "waiting 1"), ("sent", nil, [], "waiting 1"),
            ("sent, newer", nil, [], "waiting 2"),
        ]
        for (before, answer, effects, after) in rows {
            let bench = withSnapshot(before)
            let happened = bench.step { session, link, desk in
                if let answer { session.kept(answer, &link, &desk) } else { session.interrupt() }
            }
            let row: Comment = "\(before), \(String(describing: answer))"
            #expect(happened == effects, row)
            #expect(text(bench.session.snapshot) == after, row)
            if !bench.session.hasEnded, after != "none" { #expect(bench.session.needsAttention, row) }
        }
    }

    // MARK: - Gaps, and catching up

    @Test("LOG-33: each answer to a range that was asked for")
    func filled() {
        func mark(_ number: UInt64, _ generation: String? = "g") -> StoredMark {
            StoredMark(generation: generation, number: number, id: nil)
        }
        let rows: [(ShardAnswer.Filling, [String])] = [
            (.entries(SessionBench.entries(4...5), mark(5)), ["s confirmed [4, 5]"]),
            (.entries([], mark(3)), []),
            (.entries([], mark(5)), ["ended: missing entries were trimmed"]),
            (.entries(SessionBench.entries(5...5), mark(5)), ["ended: missing entries were trimmed"]),
            (
                .entries(SessionBench.entries(4...5), mark(5, "other")),
                ["ended: it was removed while entries were read"]
            ),
            (.entries([], mark(0, nil)), ["ended: it was removed while entries were read"]),
            (.refused(.failed(.other("BUSY"))), []), (.refused(.greetAgain), ["must greet"]),
        ]
        for (filling, effects) in rows {
            let bench = SessionBench.followed(.verified)
            bench.desk.run = RunID(5)
            #expect(bench.step { $0.fill(&$1, &$2) } == ["fill 4..."])
            #expect(bench.step { $0.fill(&$1, &$2) } == [], "one range at a time")
            #expect(bench.step { $0.filled(from: 4, filling, &$1, &$2) } == effects)
            if case .refused = filling {
                bench.link.trouble = nil
                #expect(bench.attend() == ["fill 4..."], "a range that could not be read is asked for again")
            }
        }
    }

    @Test("LOG-33: a long gap is read in several ranges")
    func longGap() {
        let bench = SessionBench.followed(.verified, through: 0)
        bench.desk.run = RunID(5)
        _ = bench.step { $0.fill(&$1, &$2) }
        let mark = StoredMark(generation: "g", number: 1_500, id: nil)
        let entries = (1...1_000).map { (number: UInt64) in
            CommandEntry(session: "s", position: SessionBench.position(number), time: .seconds(2), bytes: [])
        }
        #expect(bench.step { $0.filled(from: 1, .entries(entries, mark), &$1, &$2) }.last == "fill 1001...")
    }

    @Test("LOG-33: a gap is asked for when it has lasted")
    func gap() {
        let bench = SessionBench.followed(.verified)
        _ = bench.step { $0.receive([SessionBench.entry(6)], "g", &$1, &$2) }
        #expect(bench.step { $0.attend(&$1, &$2) } == [])
        #expect(bench.attend() == ["fill 4...5"])
    }

    @Test("LOG-35: the engine is told when it has what the log had, and not when Redis could not say that")
    func caughtUp() {
        let nothing = StoredMark(generation: nil, number: nil, id: nil)
        let rows: [(ShardAnswer.Reading, [String])] = [
            (.mark(StoredMark(generation: "g", number: 3, id: nil)), ["s caught up"]),
            (.mark(StoredMark(generation: "g", number: 4, id: nil)), []),
            (.mark(nothing), ["s caught up"]),
            (.mark(StoredMark(generation: "other", number: 3, id: nil)), ["ended: another one has begun"]),
            (.refused(.failed(.other("BUSY"))), []),
        ]
        for (reading, effects) in rows {
            let bench = SessionBench.followed(.verified)
            bench.session.catchUps.append(.unsent)
            #expect(bench.step { $0.proceed(&$1, &$2) } == ["catch up"])
            #expect(bench.step { $0.caughtUp(reading, &$1, &$2) } == effects, "\(reading)")
            if case .refused = reading { #expect(bench.attend() == ["catch up"], "a later tick asks again") }
        }
    }

    @Test("LOG-35: an engine that catches up hears of it with the entry that was missing, also after a new link")
    func caughtUpLater() {
        let bench = SessionBench.followed(.verified)
        bench.session.catchUps.append(.unsent)
        _ = bench.step { $0.proceed(&$1, &$2) }
        bench.session.interrupt()
        bench.session.standing = .verified
        #expect(bench.step { $0.proceed(&$1, &$2) } == ["catch up"])
        _ = bench.step { $0.caughtUp(.mark(StoredMark(generation: "g", number: 4, id: nil)), &$1, &$2) }
        #expect(
            bench.step { $0.receive([SessionBench.entry(4)], "g", &$1, &$2) } == ["s confirmed [4]", "s caught up"])
    }
}
