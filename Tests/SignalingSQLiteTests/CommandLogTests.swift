import CoreTestSupport
import Foundation
import SignalingCore
import SignalingProtocol
import TestSupport
import Testing

@testable import SignalingSQLite

@Suite("SQLite command log")
struct CommandLogTests {
    @Test("LOG-1: appended commands are confirmed in their order, with numbers per session")
    func confirmsInOrder() throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.append(["a", "b", "a"])
        try bench.append(["a"])
        #expect(bench.observer.confirmed.isEmpty)
        try bench.confirm(4)
        #expect(bench.observer.texts == ["a 1 1 ", "b 1 1 ", "a 1 2 ", "a 1 3 "])
        #expect(bench.observer.numbers("a") == [1, 2, 3])
        #expect(bench.observer.numbers("b") == [1])
        #expect(log.health == .keeping)
    }

    @Test("LOG-4: the time of a command is fixed when it is appended")
    func timeOfCommands() throws {
        let bench = try LogBench()
        let log = try bench.start(wallTime: 60_000)
        bench.now = .seconds(3)
        try bench.append(["a"])
        bench.now = .seconds(2)
        try bench.append(["a"])
        try bench.confirm(2)
        #expect(bench.observer.confirmed.map(\.time) == [.seconds(62), .seconds(62)])
        #expect(log.time(at: .seconds(5)) == .seconds(64))
    }

    @Test("LOG-22: bytes are in flight until the loop has got the confirmation")
    func inFlight() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let commands = try bench.append(["a", "b"], padding: 100)
        #expect(log.inFlightByteCount == commands.reduce(0) { $0 + $1.bytes.count })
        try bench.confirm(2)
        #expect(log.inFlightByteCount == 0)
    }

    @Test("LOG-3: a repeated append adds nothing, and is confirmed with its old position and time")
    func repeatedAppend() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let first = try bench.append(["a", "a"])
        try bench.confirm(2)
        bench.now = .seconds(100)
        log.append(first, now: bench.now)
        try bench.append(["a"])
        try bench.confirm(5)
        #expect(bench.observer.numbers("a") == [1, 2, 1, 2, 3])
        #expect(bench.observer.confirmed[2].time == bench.observer.confirmed[0].time)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.position.number) == [1, 2, 3])
    }

    @Test("LOG-3: a gap is refused and reported, and the session goes on")
    func gap() throws {
        let bench = try LogBench()
        let log = try bench.start()
        var refused: [(SessionID, RefusedCommand)] = []
        log.onRefusal = { refused.append(($0, $1)) }
        let skipped = CommandID(run: bench.run, counter: 2)
        log.append([CommandAppend(session: "a", id: skipped, bytes: [1])], now: bench.now)
        #expect(refused.isEmpty)
        try bench.fill(["a"])
        #expect(refused.map(\.0) == ["a"])
        #expect(refused.first?.1 == RefusedCommand(reason: .gap(expected: 1)))
        #expect(log.inFlightByteCount == 0)
        #expect(bench.observer.numbers("a") == [1])
        #expect(bench.lines.contain("refused"))
    }

    @Test("LOG-20: the next process reads every confirmed command after a crash, in order")
    func reopensAfterACrash() throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<50 { try bench.append(["a", "b", "c"], padding: 300) }
        try bench.confirm(150)
        let confirmed = bench.observer.confirmed
        try bench.crash()
        try bench.start()
        #expect(bench.kept.sessions.map(\.id) == ["a", "b", "c"])
        for session in bench.kept.sessions {
            let expected = confirmed.filter { $0.session == session.id }
            #expect(session.snapshot == nil)
            #expect(session.entries.map(\.position) == expected.map(\.position))
            #expect(session.entries.map(\.time) == expected.map(\.time))
            #expect(session.entries.map(\.bytes) == expected.map(\.bytes))
        }
    }

    @Test("LOG-3: a session goes on behind its last number in the next process")
    func numbersGoOn() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a"])
        try bench.crash()
        try bench.start()
        try bench.fill(["a", "b"])
        #expect(bench.observer.numbers("a") == [3])
        #expect(bench.observer.numbers("b") == [1])
    }

    @Test("LOG-4: time goes on behind the last kept time, although the wall clock was set back")
    func timeGoesOn() throws {
        let bench = try LogBench()
        try bench.start(wallTime: 60_000)
        bench.now = .seconds(11)
        try bench.fill(["a"])
        try bench.crash()
        let log = try bench.start(wallTime: 5_000)
        #expect(log.time(at: bench.now) == .seconds(70))
        #expect(bench.kept.lostAt == .seconds(70))
    }

    @Test("An empty command and a command of several MiB are kept")
    func sizes() throws {
        let bench = try LogBench()
        let log = try bench.start()
        let sizes = [0, 1, 7, 8, 9, 4 << 20, 0]
        let commands = sizes.enumerated().map { index, size in
            CommandAppend(
                session: "a", id: CommandID(run: bench.run, counter: UInt64(index + 1)),
                bytes: [UInt8](repeating: 7, count: size))
        }
        log.append(commands, now: bench.now)
        try bench.confirm(sizes.count)
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.bytes.count) == sizes)
    }

    @Test("Commands that are confirmed together come in one post")
    func coalescesPosts() throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<200 { try bench.append(["a"]) }
        // The loop does not run meanwhile, so the writer finds its first post still pending.
        try bench.open.close()
        #expect(bench.loop.postCount == 1)
        try bench.confirm(200)
    }

    @Test("LOG-13: a stop commits what was appended, and everything is in the next process")
    func closes() throws {
        let bench = try LogBench()
        try bench.start()
        for _ in 0..<3_000 { try bench.append(["a"]) }
        try bench.stop()
        #expect(!FileManager.default.fileExists(atPath: bench.file("-wal").path))
        try bench.start(boot: "another boot")
        #expect(bench.keptEntries("a").count == 3_000)
    }

    // MARK: - Snapshots

    @Test("LOG-9: a snapshot replaces the commands that it covers")
    func keepsASnapshot() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "b", "a", "a"])
        try bench.keep("a", at: bench.observer.confirmed[2].position, byteCount: 2_000)
        try bench.loop.run { !bench.observer.kept.isEmpty }
        #expect(bench.observer.kept.map(\.byteCount) == [2_000])
        try bench.crash()
        try bench.start()
        let session = try #require(bench.kept.sessions.first { $0.id == "a" })
        #expect(session.snapshot?.position.number == 2)
        #expect(session.snapshot?.bytes == [UInt8](repeating: 2, count: 2_000))
        #expect(session.entries.map(\.position.number) == [3])
        #expect(bench.keptEntries("b").map(\.position.number) == [1])
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [4])
    }

    @Test("LOG-9: a snapshot that is older than the kept one changes nothing")
    func ignoresAnOlderSnapshot() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a", "a"])
        let positions = bench.observer.confirmed.map(\.position)
        for position in [positions[1], positions[0], positions[1]] { try bench.keep("a", at: position) }
        try bench.fill(["a"])
        #expect(bench.observer.kept.map(\.number) == [2])
        try bench.crash()
        try bench.start()
        #expect(bench.kept.sessions.first?.snapshot?.position == positions[1])
        try bench.keep("a", at: positions[0])
        try bench.keep("a", at: LogPosition(number: 3, id: CommandID(run: RunID(99), counter: 3)))
        try bench.fill(["a"])
        #expect(bench.observer.kept.isEmpty)
    }

    @Test("LOG-9: an empty snapshot is a snapshot")
    func emptySnapshot() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a"])
        try bench.keepNewest("a", byteCount: 0)
        try bench.crash()
        try bench.start()
        #expect(bench.kept.sessions.first?.snapshot?.bytes == [])
        #expect(bench.keptEntries("a").isEmpty)
    }

    // MARK: - The end of sessions

    @Test("LOG-10: a removed session is gone, and begins again at 1")
    func removes() throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.fill(["a", "b", "a"])
        try bench.keepNewest("a")
        log.remove("a", through: bench.observer.confirmed[2].position)
        try bench.fill(["b"])
        try bench.crash()
        try bench.start()
        #expect(bench.kept.sessions.map(\.id) == ["b"])
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [1])
        try bench.crash()
        try bench.start()
        #expect(bench.kept.sessions.map(\.id) == ["b", "a"])
        #expect(bench.keptEntries("a").map(\.text) == ["a 2 1 "])
    }

    @Test("LOG-10: commands behind the end of a session begin the next one of its name")
    func removesThroughAPosition() throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.fill(["a", "a", "a"])
        let positions = bench.observer.confirmed.map(\.position)
        try bench.keep("a", at: positions[0])
        log.remove("a", through: positions[1])
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [1, 2, 3, 4])
        try bench.crash()
        try bench.start()
        let session = try #require(bench.kept.sessions.first)
        #expect(session.snapshot == nil)
        #expect(session.entries.map(\.position.number) == [3, 4])
        try bench.fill(["a"])
        #expect(bench.observer.numbers("a") == [5])
    }

    @Test("LOG-10: a session that the log does not have cannot be removed")
    func removesNothing() throws {
        let bench = try LogBench()
        let log = try bench.start()
        log.remove("a", through: LogPosition(number: 1, id: CommandID(run: bench.run, counter: 1)))
        try bench.fill(["a"])
        log.remove("a", through: LogPosition(number: 1, id: CommandID(run: RunID(99), counter: 1)))
        try bench.fill(["a"])
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").count == 2)
    }

    // MARK: - Trimming

    @Test("LOG-20: commands that snapshots cover are deleted, and positions go on")
    func trims() throws {
        let bench = try LogBench()
        try bench.start()
        try bench.fill(["a", "a", "a"])
        try bench.keepNewest("a")
        try bench.signOfLife()
        try bench.stop()
        let database = try Database(path: bench.database.path, access: .readOnly)
        #expect(try database.integer("SELECT min(position) FROM command") == 4)
        try bench.start()
        #expect(bench.kept.sessions.map(\.id) == ["a", "sign-of-life"])
    }

    @Test("LOG-20: positions go on after all commands were deleted")
    func trimsEverything() throws {
        let bench = try LogBench()
        let log = try bench.start()
        try bench.fill(["a", "b", "b"])
        try bench.keepNewest("a")
        log.remove("b", through: bench.observer.confirmed[2].position)
        try bench.stop()
        let database = try Database(path: bench.database.path, access: .readOnly)
        #expect(try database.integer("SELECT count(*) FROM command") == 0)
        try bench.start()
        try bench.fill(["a"])
        try bench.crash()
        try bench.start()
        #expect(bench.keptEntries("a").map(\.position.number) == [2])
    }

    @Test("LOG-9: sessions that pin the log are asked for snapshots, each once until its snapshot comes")
    func asksForSnapshots() throws {
        let bench = try LogBench()
        try bench.start { $0.retainedByteCount = 10_000 }
        try bench.fill(["quiet"])
        for _ in 0..<100 { try bench.fill(["busy"], padding: 1_000) }
        #expect(Set(bench.observer.asked) == ["quiet", "busy"])
        #expect(bench.observer.asked.count == 2)
        try bench.keepNewest("quiet")
        try bench.keepNewest("busy")
        for _ in 0..<30 { try bench.fill(["busy"], padding: 1_000) }
        #expect(bench.observer.asked.suffix(from: 2) == ["busy"])
    }
}
