import CHiredis
import Foundation
import Logging
import RedisSimulation
import RedisTestSupport
import SignalingCore
import SignalingProtocol
import SignalingRedisCore
import TestSupport
import Testing

@testable import SignalingRedis

/// One node: a log, and a simple replica of its sessions. The state of a session is the texts of its commands.
final class TestNode {
    struct Session: Equatable {
        var texts: [String] = []
        var position: LogPosition?
        var times: [MonotonicInstant] = []
        var counter: UInt64 = 0
    }

    let loop: any NodeLoop
    let name: String
    private(set) var log: RedisCommandLog?
    private(set) var run: RunID
    private(set) var fault: CommandLogFault?
    let lines = LogLines()
    var sessions: [SessionID: Session] = [:]
    private(set) var openedCount = 0
    private(set) var confirmedCount = 0
    var caughtUp: [SessionID] = []
    var relayed: [String] = []
    var dropped: [SessionID] = []
    var losses: [RunID: MonotonicInstant] = [:]
    var orphans: [SessionID] = []
    var continued: [RunID] = []
    var kept: [UInt64] = []
    var healths: [RedisLogHealth] = []
    /// Whether the session has been refused to the log that asks for its snapshot.
    var hidesSnapshots = false

    init(_ name: String, on loop: any NodeLoop) {
        self.name = name
        self.loop = loop
        run = RunID(UInt64.random(in: .min ... .max))
    }

    // Before the loop, which waits for its handles.
    deinit { log = nil }

    /// Starts without waiting.
    func start(_ addresses: [String], _ tune: (inout LogTimes) -> Void = { _ in }) throws {
        var times = LogTimes.short
        tune(&times)
        run = RunID(UInt64.random(in: .min ... .max))
        fault = nil
        try loop.open(addresses, run: run, times: times, logger: lines.logger) {
            [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let log):
                self.log = log
                log.observer = self
                log.nodeObserver = self
                log.onHealthChange = { [weak self] in self?.healths.append($0) }
            case .failure(let fault): self.fault = fault
            }
        }
    }

    /// Ends as a crash does: nothing is said to the other nodes.
    func crash() {
        log = nil
        sessions = [:]
    }

    func stop() throws {
        let log = try #require(log)
        var isClosed = false
        log.close { isClosed = true }
        try loop.run { isClosed }
        self.log = nil
    }

    func open(_ session: SessionID) throws {
        try #require(log).open(session)
        try loop.run { self.sessions[session] != nil }
    }

    /// Appends one command.
    func append(_ text: String, to session: SessionID, freesMemory: Bool = false) throws {
        let log = try #require(log)
        var hosted = try #require(sessions[session], "\(name) has not opened \(session)")
        hosted.counter += 1
        sessions[session] = hosted
        log.append(
            [
                CommandAppend(
                    session: session, id: CommandID(run: run, counter: hosted.counter), bytes: Array(text.utf8),
                    freesMemory: freesMemory)
            ],
            now: loop.now)
    }

    func texts(_ session: SessionID) -> [String] { sessions[session]?.texts ?? [] }

    /// Keeps a snapshot, and waits for it.
    func keep(_ session: SessionID) throws {
        let count = kept.count
        try #require(log).keep(try #require(snapshot(of: session)))
        try loop.run { self.kept.count > count }
    }

    var isStalled: Bool { if case .stalled = log?.health { true } else { false } }
}

extension TestNode: CommandLogObserver, SharedCommandLogObserver {
    func log(confirmed entries: [CommandEntry]) {
        for entry in entries {
            confirmedCount += 1
            guard var session = sessions[entry.session] else {
                Issue.record("\(name): an entry of a session that is not open")
                continue
            }
            #expect(entry.position.number == (session.position?.number ?? 0) + 1, "\(name): LOG-33, no gap")
            #expect(entry.time >= session.times.last ?? entry.time, "\(name): LOG-4, time runs backwards")
            session.position = entry.position
            session.texts.append(String(decoding: entry.bytes, as: UTF8.self))
            session.times.append(entry.time)
            sessions[entry.session] = session
        }
    }

    func log(needsSnapshotsOf sessions: [SessionID]) {}
    func log(kept position: LogPosition, of session: SessionID, byteCount: Int) { kept.append(position.number) }

    func log(opened session: KeptCommands.Session) {
        openedCount += 1
        var hosted = Session()
        if let snapshot = session.snapshot {
            hosted.texts = String(decoding: snapshot.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            hosted.position = snapshot.position
        }
        hosted.counter = session.ownCounter
        sessions[session.id] = hosted
        log(confirmed: session.entries)
        confirmedCount -= session.entries.count
    }

    func log(caughtUp session: SessionID) { caughtUp.append(session) }
    func log(relayed bytes: [UInt8], of session: SessionID) { relayed.append(String(decoding: bytes, as: UTF8.self)) }

    func log(lost run: RunID, at time: MonotonicInstant, orphans: [SessionID]) {
        losses[run] = time
        self.orphans += orphans
    }

    func log(dropped session: SessionID) {
        dropped.append(session)
        sessions[session] = nil
    }

    func log(continuesAs run: RunID) {
        self.run = run
        continued.append(run)
        sessions = [:]
    }

    func snapshot(of session: SessionID) -> CommandSnapshot? {
        guard !hidesSnapshots, let hosted = sessions[session], let position = hosted.position else { return nil }
        let bytes = Array(hosted.texts.joined(separator: "\n").utf8)
        return CommandSnapshot(session: session, position: position) { bytes }
    }
}

/// Where the log of a node runs: on a real loop with a real Redis, or in simulated time with a simulated one.
protocol NodeLoop: AnyObject {
    var now: MonotonicInstant { get }

    func open(
        _ addresses: [String], run: RunID, times: LogTimes, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void) throws

    /// Runs the loop until the condition holds. Throws when it does not for a long time.
    func run(until isDone: () throws -> Bool) throws
}

extension UVLoop: NodeLoop {
    func open(
        _ addresses: [String], run: RunID, times: LogTimes, logger: Logger,
        onOpened: @escaping (Result<RedisCommandLog, CommandLogFault>) -> Void
    ) throws {
        let parsed = try addresses.map { text throws(CommandLogFault) in try RedisAddress(text) }
        RedisCommandLog.open(parsed, run: run, loop: eventLoop, logger: logger, times: times, onOpened: onOpened)
    }
}

extension LogTimes {
    /// Short where a test would wait. The death of a node keeps its time, unless a test is about it.
    static var short: LogTimes {
        var times = LogTimes()
        times.nodes.beat = .milliseconds(100)
        times.restoring = .milliseconds(60)
        times.stall = .milliseconds(300)
        times.reconnecting = .milliseconds(100)
        times.gap = .milliseconds(50)
        times.check = .milliseconds(300)
        times.retry = .milliseconds(30)
        times.removal = .milliseconds(30)
        times.retention = .zero
        times.tick = .milliseconds(10)
        return times
    }

    /// A node is declared lost within 1.5 s.
    static func mortal(_ times: inout LogTimes) {
        times.nodes.life = .milliseconds(600)
        times.nodes.steady = .milliseconds(900)
        times.nodes.pause = .milliseconds(400)
    }
}

/// A Redis, and nodes on it.
final class Bench {
    let loop: UVLoop
    let server: RedisServer
    private(set) var nodes: [TestNode] = []
    /// The servers that have taken over.
    var successors: [RedisServer] = []

    init(_ options: [String] = []) throws {
        loop = try UVLoop()
        server = try RedisServer(options)
    }

    /// Starts a node, and waits until it is open.
    @discardableResult
    func node(_ name: String, _ tune: (inout LogTimes) -> Void = { _ in }) throws -> TestNode {
        let node = TestNode(name, on: loop)
        try node.start([server.address], tune)
        try loop.run { node.log != nil || node.fault != nil }
        if let fault = node.fault { throw fault }
        nodes.append(node)
        return node
    }

    /// Waits until all nodes that have the session have the same state, with this many commands.
    func converge(_ session: SessionID, count: Int) throws {
        try loop.run {
            nodes.allSatisfy { $0.sessions[session] == nil || $0.texts(session).count >= count }
        }
        let states = nodes.compactMap { $0.sessions[session]?.texts }
        #expect(states.allSatisfy { $0 == states.first && $0.count == count })
    }
}
