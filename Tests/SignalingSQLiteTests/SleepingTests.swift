import CSQLite
import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("Sleeping sessions")
struct SleepingTests {
    /// Puts a session to sleep after its newest command, and waits until the log has done it.
    private func sleep(
        _ session: SessionID, for reason: SleepReason = SleepReason(hasHistory: true), in bench: LogBench
    ) throws {
        let entry = try #require(bench.observer.confirmed.last { $0.session == session })
        let text = "asleep at \(entry.position.number)"
        let snapshot = CommandSnapshot(session: session, position: entry.position) { Array(text.utf8) }
        try bench.open.sleep(snapshot, for: reason)
        try bench.fill(["awake"])
    }

    private func wake(_ session: SessionID, in bench: LogBench) throws -> KeptCommands.Session? {
        var answers: [KeptCommands.Session?] = []
        try bench.open.wake(session) { answers.append($0) }
        try bench.loop.run { !answers.isEmpty }
        return answers[0]
    }

    @Test("HIS-3: a sleeping session outlives a stop and a crash, is not continued, and wakes as it was")
    func wakes() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a", "a", "b"])
        try sleep("a", in: bench)
        #expect(try bench.open.sleeperCount == 1)
        try bench.kill()
        try bench.start()
        #expect(bench.kept.sessions.map(\.id) == ["b", "awake"])
        try bench.stop()
        try bench.start()
        #expect(try bench.open.sleeperCount == 1)
        let woken = try #require(try wake("a", in: bench))
        #expect(woken.id == "a" && woken.entries.isEmpty && woken.ownCounter == 0)
        #expect(woken.snapshot?.position == LogPosition(number: 3, id: CommandID(run: RunID(1), counter: 3)))
        #expect(woken.snapshot?.bytes == Array("asleep at 3".utf8))
        #expect(try bench.open.sleeperCount == 0)
        #expect(try wake("a", in: bench) == nil, "it is awake")
        #expect(try wake("never", in: bench) == nil)
        // The commands of this run follow, and begin with the counter 1.
        try bench.fill(["a", "a"])
        #expect(bench.observer.numbers("a") == [4, 5])
        try bench.kill()
        try bench.start()
        let kept = try #require(bench.kept.sessions.first { $0.id == "a" })
        #expect(kept.snapshot?.position.number == 3)
        #expect(kept.entries.map(\.position.number) == [4, 5])
    }

    private func read(
        _ range: Range<SessionID> = .all, atMost count: Int = 9, in bench: LogBench
    ) throws -> SleepingSessions {
        var answer: Result<SleepingSessions, SleepersUnread>?
        try bench.open.readSleepers(in: range, atMost: count) { answer = $0 }
        try bench.loop.run { answer != nil }
        return try #require(answer).get()
    }

    @Test("HIS-3: an operator reads the sleepers in pages, by the order of their IDs, and wakes none of them")
    func lists() throws {
        let bench = try LogBench()
        try bench.start()
        #expect(try read(in: bench).rows.isEmpty)
        let sessions: [SessionID] = ["a", "b", "c", "d"]
        try bench.fill(sessions)
        for session in sessions { try sleep(session, in: bench) }
        try bench.crash()
        try bench.start()
        let first = try read(atMost: 3, in: bench)
        #expect(first.rows.map(\.id) == ["d", "c", "b"] && first.next == "b")
        let rest = try #require(Range.all.below("b"))
        #expect(try read(rest, in: bench).rows.map(\.id) == ["a"] && read(rest, in: bench).next == nil)
        #expect(try read(.only("c"), in: bench).rows.map(\.id) == ["c"])
        #expect(try read("b"..<"d", atMost: 2, in: bench).next == nil)
        #expect(try bench.open.sleeperCount == 4)
        _ = try #require(try wake("c", in: bench))
        #expect(try read(in: bench).rows.map(\.id) == ["d", "b", "a"])
        // A read leaves no connection that would keep the write-ahead log.
        try bench.stop()
        #expect(!FileManager.default.fileExists(atPath: bench.file("-wal").path))
    }

    @Test("HIS-3: an operator is told when the sleepers cannot be read, and the log goes on")
    func unreadable() throws {
        let bench = try LogBench()
        try bench.start { $0.injectedFault = { $0.contains("ORDER BY id DESC") ? SQLITE_IOERR : nil } }
        try bench.fill(["a"])
        try sleep("a", in: bench)
        #expect(throws: SleepersUnread.self) { try read(in: bench) }
        try bench.fill(["b"])
        #expect(try wake("a", in: bench) != nil)
    }

    @Test("HIS-3: a crash after waking, before any command, leaves a session like any other")
    func crashAfterWaking() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try sleep("a", in: bench)
        try bench.crash()
        try bench.start()
        _ = try #require(try wake("a", in: bench))
        try bench.kill()
        try bench.start()
        #expect(try bench.open.sleeperCount == 0)
        let kept = try #require(bench.kept.sessions.first { $0.id == "a" })
        #expect(kept.snapshot?.position.number == 2 && kept.entries.isEmpty)
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [3])
    }

    @Test("HIS-3: a session sleeps and wakes within one run, again and again")
    func sameRun() throws {
        let bench = try LogBench()
        try bench.start()
        for round in 1...3 as ClosedRange<UInt64> {
            try bench.fill(["a", "a"])
            try sleep("a", in: bench)
            #expect(try wake("a", in: bench)?.snapshot?.position.number == 2 * round)
        }
        #expect(bench.observer.numbers("a") == [1, 2, 3, 4, 5, 6])
        try bench.open.remove("a", through: try #require(bench.observer.confirmed.last { $0.session == "a" }).position)
        bench.forget("a")
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a").last == 1, "it has ended, and begins again")
    }

    @Test("HIS-3: a forgotten session does not wake, and the others sleep on")
    func forgets() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "c"])
        for session in ["a", "b", "c"] as [SessionID] { try sleep(session, in: bench) }
        try bench.open.forgetSleepers(["a", "c", "awake", "never"], at: .seconds(1))
        try bench.loop.run { (try? bench.open.sleeperCount) == 1 }
        #expect(try wake("a", in: bench) == nil)
        try bench.crash()
        try bench.start()
        #expect(try bench.open.sleeperCount == 1)
        #expect(try wake("b", in: bench) != nil)
        #expect(bench.keptEntries("awake").count == 3, "only sleepers are forgotten")
    }

    @Test(
        "HIS-3, LOG-20: the commands of a sleeping session are deleted, and its snapshot is encoded on the writer's thread"
    )
    func deletesCommands() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"], padding: 1_000)
        try sleep("a", in: bench)
        try bench.signOfLife()
        try bench.stop()
        let database = try Database(path: bench.database.path, access: .readOnly)
        #expect(try database.integer("SELECT count(*) FROM command WHERE length(bytes) > 1000") == 0)
        #expect(try database.integer("SELECT count(*) FROM sleeper") == 1)
    }

    @Test("HIS-3, LOG-21: sessions that begin anew do not sleep any more")
    func beginsAnew() throws {
        let bench = try LogBench()
        try bench.start(boot: "first")
        try bench.fill(["a"])
        try sleep("a", in: bench)
        try bench.crash()
        try bench.start(boot: "second")
        #expect(try bench.open.sleeperCount == 0)
        #expect(try wake("a", in: bench) == nil)
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [1])
        try bench.crash()
        try bench.start(boot: "second")
        #expect(try bench.open.sleeperCount == 0, "nor in the next run")
    }

    @Test("HIS-3, LOG-23: while the disk is full a session neither sleeps nor wakes, and then does both")
    func fullDisk() throws {
        let faults = InjectedFaults()
        let bench = try LogBench()
        let log = try bench.start { $0.injectedFault = faults.hook }
        try bench.fill(["a"])
        faults.fail("COMMIT", SQLITE_FULL)
        let position = bench.observer.confirmed[0].position
        log.sleep(CommandSnapshot(session: "a", position: position) { [7] }, for: SleepReason(hasHistory: true))
        var woken: KeptCommands.Session??
        log.wake("a") { woken = $0 }
        try bench.loop.run { log.health != .keeping }
        #expect(woken == nil)
        faults.stop()
        log.writer.signOfLifeIsDue()
        try bench.loop.run { woken != nil }
        #expect(woken??.snapshot?.bytes == [7])
    }

    @Test("HIS-3: a sleeping session that was changed on the disk begins anew, and the check names it")
    func changed() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try sleep("a", in: bench)
        try Database(path: bench.database.path, access: .readWrite).execute("UPDATE sleeper SET number = 77")
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults.count == 1)
        #expect(try wake("a", in: bench) == nil)
    }

    @Test("LOG-20: a database of the version before gets the table of sleeping sessions, and its sessions go on")
    func migrates() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try bench.stop()
        try Database(path: bench.database.path, access: .readWrite).execute(
            "DROP TABLE sleeper; DROP TABLE restricted; PRAGMA user_version = 1")
        #expect(try SQLiteCommandLog.contents(folder: bench.folder.path).sessions.map(\.id) == ["a"])
        #expect(try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }.faults == [])
        try bench.start()
        #expect(bench.lines.all.isEmpty)
        #expect(bench.keptEntries("a").count == 1)
        try bench.fill(["b"])
        try sleep("b", in: bench)
        try bench.crash()
        try bench.start()
        #expect(try bench.open.sleeperCount == 1)
    }

    // MARK: - Restrictions

    private func forget(_ sessions: [SessionID], at seconds: Double, in bench: LogBench) throws {
        try bench.open.forgetSleepers(sessions, at: .seconds(seconds))
        // A later commit.
        try bench.fill(["awake"])
    }

    @Test("MOD-9: a session sleeps for as long as a restriction holds, also over restarts, and is forgotten then")
    func restricted() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["short", "long", "endless"])
        func reason(_ end: RestrictionEnd) -> SleepReason { SleepReason(hasHistory: false, restrictionsEnd: end) }
        try sleep("short", for: reason(.at(.seconds(100))), in: bench)
        try sleep("long", for: reason(.at(.seconds(200))), in: bench)
        try sleep("endless", for: reason(.whenLifted), in: bench)
        try forget([], at: 99, in: bench)
        try bench.crash()
        try bench.start()
        #expect(try bench.open.sleeperCount == 3)
        try forget([], at: 100, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 2 }
        #expect(try wake("short", in: bench) == nil)
        try forget([], at: 200, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 1 }
        try forget([], at: 1_000_000_000, in: bench)
        #expect(try wake("endless", in: bench) != nil)
    }

    @Test("MOD-9, HIS-3: a session with a history and a restriction sleeps until both are over, in either order")
    func bothReasons() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "c"])
        let reason = SleepReason(hasHistory: true, restrictionsEnd: .at(.seconds(100)))
        for session in ["a", "b", "c"] as [SessionID] { try sleep(session, for: reason, in: bench) }
        try forget(["a"], at: 50, in: bench)
        #expect(try bench.open.sleeperCount == 3, "its restriction holds")
        try forget([], at: 100, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 2 }
        #expect(try wake("a", in: bench) == nil)
        try forget(["b"], at: 150, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 1 }
        // Awake, it has no reason of its sleep any more.
        #expect(try wake("c", in: bench) != nil)
        try bench.fill(["c"])
        try sleep("c", in: bench)
        try forget(["c"], at: 160, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 0 }
    }

    @Test("MOD-9: a changed row of a restricted session is named by the check")
    func restrictedRowChanged() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try sleep("a", for: SleepReason(hasHistory: false, restrictionsEnd: .at(.seconds(100))), in: bench)
        #expect(try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }.faults == [])
        try Database(path: bench.database.path, access: .readWrite).execute("UPDATE restricted SET until = 5")
        let report = try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }
        #expect(report.faults == ["a row of the table restricted was changed"])
    }

    @Test("LOG-20: a database of the version before gets the table of restricted sessions, and its sessions go on")
    func migratesRestricted() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b"])
        try sleep("b", in: bench)
        try bench.stop()
        try Database(path: bench.database.path, access: .readWrite).execute(
            "DROP TABLE restricted; PRAGMA user_version = 2")
        #expect(try SQLiteCommandLog.check(folder: bench.folder.path) { _ in }.faults == [])
        try bench.start()
        #expect(bench.lines.all.isEmpty)
        #expect(bench.keptEntries("a").count == 1)
        try bench.fill(["c"])
        try sleep("c", for: SleepReason(hasHistory: false, restrictionsEnd: .whenLifted), in: bench)
        try forget(["b", "c"], at: 50, in: bench)
        try bench.loop.run { (try? bench.open.sleeperCount) == 1 }
        #expect(try wake("c", in: bench) != nil)
    }

    // MARK: - Salvage

    @Test("HIS-3: what a database that begins anew has of its sessions is handed on")
    func discardsAnew() throws {
        let bench = try LogBench()
        try bench.start(boot: "first")
        try bench.fill(["a", "b", "a"])
        try bench.crash()
        try bench.start(boot: "second")
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.kept.discarded.map(\.id) == ["a", "b"])
        #expect(bench.kept.discarded.map(\.entries.count) == [2, 1])
        try bench.crash()
        try bench.start(boot: "second")
        #expect(bench.kept.discarded.isEmpty)
    }

    @Test("HIS-3: what can be read of a damaged database is handed on, up to the damage")
    func salvages() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a", "c", "a", "b"])
        try bench.keepNewest("c")
        try bench.stop()
        try Database(path: bench.database.path, access: .readWrite).execute(
            "UPDATE command SET bytes = x'00' WHERE position = 3; UPDATE session SET number = 9 WHERE id = x'62'")
        try bench.start()
        #expect(bench.kept.sessions.isEmpty)
        #expect(bench.lines.contain("set aside"))
        #expect(bench.kept.discarded.map(\.id) == ["a", "c"])
        #expect(bench.kept.discarded.map { $0.entries.map(\.position.number) } == [[1], []])
        #expect(bench.kept.discarded.last?.snapshot != nil)
    }
}
