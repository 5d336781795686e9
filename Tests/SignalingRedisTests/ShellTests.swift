import CoreTestSupport
import Logging
import SignalingCore
import SignalingProtocol
import SignalingRedis
import Testing

@testable import SignalingRedisCore

/// What the shell does with reports that are still to be carried out when the engine calls the log from one of them.
@Suite("Redis log: the engine calls the log from a report")
struct ShellTests {
    /// Carries nothing out. The test says what Redis does.
    private final class Port: RedisPort {
        var sent: [(text: String, answer: ([RedisReply]) -> Void)] = []
        var now: MonotonicInstant { MonotonicInstant(nanoseconds: 0) }
        func connect(_ shard: Int) {}
        func disconnect(_ shard: Int) {}
        func database(of shard: Int) -> Int { 0 }
        func send(_ commands: [RedisCommand], to shard: Int, answer: @escaping ([RedisReply]) -> Void) {
            sent.append((commands.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(), answer))
        }
        func subscribe(_ sessions: [SessionID], of shard: Int) {}
        func unsubscribe(_ session: SessionID, of shard: Int) {}
        func flush() {}
        func encode(_ snapshot: CommandSnapshot, _ done: @escaping ([UInt8]) -> Void) {}
        func shutDown() {}
    }

    /// An engine that does what the test says when it is told something, and notes what it is told.
    private final class Engine: CommandLogObserver, SharedCommandLogObserver {
        var told: [String] = []
        var onConfirmed: () -> Void = {}
        var onLost: ([SessionID]) -> Void = { _ in }

        func log(confirmed entries: [CommandEntry]) {
            told.append("confirmed \(entries.map(\.position.number))")
            onConfirmed()
        }
        func log(needsSnapshotsOf sessions: [SessionID]) {}
        func log(kept position: LogPosition, of session: SessionID, byteCount: Int) {}
        func log(opened session: KeptCommands.Session) { told.append("opened \(session.id)") }
        func log(caughtUp session: SessionID) { told.append("caught up \(session)") }
        func log(relayed bytes: [UInt8], of session: SessionID) {}
        func log(lost run: RunID, at time: MonotonicInstant, orphans: [SessionID]) { onLost(orphans) }
        func log(dropped session: SessionID) { told.append("dropped \(session)") }
        func log(continuesAs run: RunID) {}
        func snapshot(of session: SessionID) -> CommandSnapshot? { nil }
    }

    private let port = Port()
    private let engine = Engine()
    private let log: RedisCommandLog

    /// A log whose Redis serves.
    init() {
        log = RedisCommandLog(
            ShardSettings.list(["redis://test"]), run: RunID(1), seed: 1, times: LogTimes(), port: port,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, onOpened: { _ in })
        log.observer = engine
        log.nodeObserver = engine
        log.tick()
        log.handle(.ready(forgetsNothing: true), of: 0)
        let greeting = ShardAnswer.Greeting.ok(time: .init(nanoseconds: 0), restoring: .zero, isLost: false, [])
        log.handle(.answered(.greeted(RunID(1), greeting)), of: 0)
        log.tick()
    }

    private func open(_ session: SessionID) throws {
        log.open(session)
        log.handle(.subscription(session, isConfirmed: true), of: 0)
        guard let last = port.sent.last, last.text.contains("sb1_open") else { throw CancellationError() }
        last.answer([.array(["none", "5"].map { .bytes(Array($0.utf8)) })])
    }

    private func entry(_ number: UInt64, _ bytes: [UInt8]?) -> ChannelEntry {
        let run = RunID(bytes == nil ? 1 : 2)
        let position = LogPosition(number: number, id: CommandID(run: run, counter: number))
        return ChannelEntry(position: position, time: MonotonicInstant(nanoseconds: 0), bytes: bytes)
    }

    @Test("LOG-32: a node adopts many thousand sessions in one report, and each costs the same")
    func adoption() {
        engine.onLost = { for orphan in $0 { log.open(orphan) } }
        let orphans = (0..<50_000).map { SessionID(rawValue: "s\($0)") }
        let loss = ShardAnswer.Loss(time: MonotonicInstant(nanoseconds: 0), orphans: orphans)
        let start = ContinuousClock.now
        log.handle(.answered(.declaredLost(RunID(7), loss)), of: 0)
        // If each looked through the effects of those before it, this would take minutes.
        #expect(ContinuousClock.now - start < .seconds(60))
        for orphan in orphans.prefix(2) { log.handle(.subscription(orphan, isConfirmed: true), of: 0) }
        #expect(port.sent.count { $0.text.contains("sb1_open") } == 2)
    }

    /// An entry whose bytes are not here drops the session, after the entries before it were reported.
    private let entries: [(UInt64, [UInt8]?)] = [(1, [1]), (2, nil)]

    @Test(
        "an engine that closes or opens the session in a report is not told what was to follow", arguments: [0, 1, 2])
    func voidReports(index: Int) throws {
        try open("s")
        engine.told = []
        engine.onConfirmed = {
            if index == 1 { log.close("s") }
            if index == 2 { log.open("s") }
        }
        log.handle(.received(.entries(generation: "g", entries.map(entry)), "s"), of: 0)
        #expect(engine.told == (index == 0 ? ["confirmed [1]", "dropped s"] : ["confirmed [1]"]))
        // Later reports pass.
        engine.onConfirmed = {}
        engine.told = []
        try open("t")
        #expect(engine.told == ["opened t"])
    }
}
