import Foundation
import Logging
import RedisTestSupport
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingCore
@testable import SignalingRedis
@testable import SignalingSQLite

/// The promises that the end of the process does not end: a log that is kept hands the sessions on.
private let promises = SessionEngineContract.Promise.allCases.filter { $0 != .reportsPresenceWhenItsSessionsEnd }

@Suite("The engine over the logs that keep commands", .serialized)
struct KeptLogContractTests {
    @Test("G1, G2, G7: the engine over a log in SQLite fulfils the contract of every engine", arguments: promises)
    func sqlite(_ promise: SessionEngineContract.Promise) async throws {
        let contract = SessionEngineContract {
            let folder = FileManager.default.temporaryDirectory.appending(path: "signalbox-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let loop = TestLoop()
            let log = try SQLiteCommandLog.open(
                folder: folder.path, now: { .seconds(1) }, wallTime: WallTime(milliseconds: 1),
                logger: Logger(label: "test"), post: loop.post
            ).log
            let kept = LocalEngine(
                log: log, run: RunID(1), bounds: SessionState.Bounds(), now: .seconds(0), makeEpoch: makeEpochs())
            let engine = SettlingEngine(
                kept, turn: { try loop.runNext() },
                end: {
                    try? log.close()
                    try? FileManager.default.removeItem(at: folder)
                })
            return SessionEngineContract.Subject(engine: engine, settle: { try engine.settle() })
        }
        try await contract.check(promise)
    }

    @Test("G1, G2, G7: the engine over a log in Redis fulfils the contract of every engine", arguments: promises)
    func redis(_ promise: SessionEngineContract.Promise) async throws {
        let contract = SessionEngineContract {
            let server = try RedisServer()
            let loop = try UVLoop()
            var times = LogTimes()
            times.restoring = .milliseconds(60)
            times.tick = .milliseconds(5)
            var opened: Result<RedisCommandLog, CommandLogFault>?
            RedisCommandLog.open(
                [try RedisAddress(server.address)], run: RunID(1), loop: loop.eventLoop, logger: Logger(label: "test"),
                times: times
            ) { opened = $0 }
            try loop.run { opened != nil }
            let log = try #require(try opened?.get())
            opened = nil
            let node = ClusterEngine(
                log: log, run: log.run, bounds: SessionState.Bounds(), now: .seconds(0), makeEpoch: makeEpochs())
            let engine = SettlingEngine(
                node, turn: { loop.runOnce() },
                end: {
                    var isClosed = false
                    log.close { isClosed = true }
                    try? loop.run { isClosed }
                    server.kill()
                })
            return SessionEngineContract.Subject(engine: engine, settle: { try engine.settle() })
        }
        try await contract.check(promise)
    }

    private func makeEpochs() -> () -> Epoch {
        var epochs = 0
        return {
            epochs += 1
            return Epoch("epoch \(epochs)")
        }
    }
}

/// An engine that turns the loop of its log until every command has its answer.
private final class SettlingEngine: SessionEngine, SessionEngineObserver {
    weak var observer: (any SessionEngineObserver)?
    private let engine: any SessionEngine
    private let turn: () throws -> Void
    private let end: () -> Void
    /// Commands and lists without an answer.
    private var waitingCount = 0

    init(_ engine: any SessionEngine, turn: @escaping () throws -> Void, end: @escaping () -> Void) {
        self.engine = engine
        self.turn = turn
        self.end = end
        engine.observer = self
    }

    deinit { end() }

    func settle() throws {
        engine.advance(to: .seconds(0))
        while waitingCount > 0 {
            try turn()
            engine.advance(to: .seconds(0))
        }
    }

    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant) {
        waitingCount += 1
        engine.submit(command, to: session, ticket: ticket, now: now)
    }

    func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        waitingCount += 1
        engine.listConnections(of: session) {
            self.waitingCount -= 1
            answer($0)
        }
        do { try settle() } catch { Issue.record(error) }
    }

    func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        waitingCount += 1
        engine.readModeration(of: session, now: now) {
            self.waitingCount -= 1
            answer($0)
        }
        do { try settle() } catch { Issue.record(error) }
    }

    var isSaturated: Bool { engine.isSaturated }
    func hosted(_ session: SessionID) -> HostedSession? { engine.hosted(session) }
    var nextDeadline: MonotonicInstant? { engine.nextDeadline }
    func advance(to now: MonotonicInstant) { engine.advance(to: now) }
    func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { engine.noteTold(event, of: session) }
    func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        engine.changeLimits(to: new, history, now: now)
    }
    func keepsHistory(_ session: SessionID) -> Bool { engine.keepsHistory(session) }
    func historyMark(of session: SessionID) -> Seq? { engine.historyMark(of: session) }
    func readHistory(
        _ request: HistoryRequest, of session: SessionID,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        engine.readHistory(request, of: session, answer: answer)
    }
    func sweepHistory(now: WallTime) { engine.sweepHistory(now: now) }
    func endSessions() { engine.endSessions() }

    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        waitingCount -= 1
        observer?.engine(answered: ticket, outcome)
    }
    func engine(sessionChanged session: SessionID) { observer?.engine(sessionChanged: session) }
    func engine(_ session: SessionID, caused effect: SessionEffect) { observer?.engine(session, caused: effect) }
    func engine(lost session: SessionID) { observer?.engine(lost: session) }
}
