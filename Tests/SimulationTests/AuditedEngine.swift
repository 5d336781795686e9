import SignalingCore
import SignalingProtocol
import SignalingVerification

/// The real engine, with an auditor between it and the hub. The auditor keeps the log for the history checker, and
/// knows which events each returning client must get.
final class AuditedEngine: SessionEngine {
    weak var observer: (any SessionEngineObserver)?
    private unowned let world: World
    private let bounds: SessionState.Bounds
    private let engine: MemoryEngine
    private var audit = Audit()
    /// The connection that the current join asks to continue.
    private var claimed: ConnectionID?
    private let isRestored: Bool
    /// The log, by epoch.
    private(set) var logs: [Epoch: [History.LogRecord]] = [:]

    /// The auditor's record of the session. It survives a restart, as the session does (RES-15).
    struct Audit {
        fileprivate var epoch = Epoch("")
        fileprivate var lastSeq = Seq.zero
        fileprivate var lostAt: [ConnectionID: MonotonicInstant] = [:]
        /// The connections that have not lost their order.
        fileprivate var resumable: Set<ConnectionID> = []
        fileprivate var joinedAt: [ConnectionID: Seq] = [:]
    }

    /// The remains of a stopped server: its state file, and the auditor's record.
    struct Remains {
        fileprivate var text: [UInt8]
        fileprivate var audit: Audit
        fileprivate var stoppedAt: MonotonicInstant
        fileprivate var clockError: Int64
    }

    init(world: World, bounds: SessionState.Bounds, remains: Remains?) {
        self.world = world
        self.bounds = bounds
        engine = MemoryEngine(bounds: bounds) { [unowned world] in Epoch(using: &world.random) }
        isRestored = remains != nil
        engine.observer = self
        if let remains { restore(remains) }
    }

    // MARK: - Restart

    func remains() -> Remains {
        Remains(
            text: stateText(at: world.now, wallTime: world.wallTime), audit: audit, stoppedAt: world.now,
            clockError: world.clockError)
    }

    private func stateText(at moment: MonotonicInstant, wallTime: WallTime) -> [UInt8] {
        var writer = StateWriter(now: moment, wallTime: wallTime)
        for session in engine.snapshots(at: moment) { writer.append(session) }
        return writer.finish()
    }

    private func restore(_ remains: Remains) {
        var reader = StateReader(now: world.now, wallTime: world.wallTime)
        var rest = remains.text[...]
        do throws(StateFault) {
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...5_000, using: &world.random))
                try reader.read(piece)
                rest = rest.dropFirst(piece.count)
            }
            engine.restore(try reader.finish(), now: world.now)
        } catch {
            return world.fail("RES-15: the state file is refused: \(error)")
        }
        audit = remains.audit
        // A connection that still had a socket lost it when the server stopped (RES-15).
        for id in audit.resumable where audit.lostAt[id] == nil { audit.lostAt[id] = remains.stoppedAt }
        let between = world.now.duration(since: remains.stoppedAt).wholeMilliseconds
        let stoppedAt = WallTime(milliseconds: world.wallTime.milliseconds - between)
        if world.clockError > remains.clockError {
            // A clock that was set forward expires all connections, so none can be resumed.
            audit.lostAt = [:]
            audit.resumable = []
        } else if world.clockError == remains.clockError,
            stateText(at: remains.stoppedAt, wallTime: stoppedAt) != remains.text
        {
            world.fail("RES-15: the restored state differs from the written one")
        }
        world.count("restored")
    }

    // MARK: - The port

    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant) {
        guard case .join(let request) = command else {
            if case .detach(let binding) = command { audit.lostAt[binding.connectionId] = now }
            return engine.submit(command, to: session, ticket: ticket, now: now)
        }
        claimed = request.resumption?.connectionId
        joining = (request, request.resumption.map { isOwed($0, in: session) } ?? false)
        engine.submit(command, to: session, ticket: ticket, now: now)
        claimed = nil
    }

    func connections(of session: SessionID) -> [Connection] { engine.connections(of: session) }
    func withLog<Result>(of session: SessionID, _ body: (borrowing SessionLog) -> Result) -> Result? {
        engine.withLog(of: session, body)
    }
    var nextDeadline: MonotonicInstant? { engine.nextDeadline }
    func advance(to now: MonotonicInstant) {
        engine.advance(to: now)
        checkLogBounds()
    }
    func endSessions() { engine.endSessions() }

    /// The log is bounded for any behaviour of the clients (G5).
    private func checkLogBounds() {
        let isOver = engine.withLog(of: Tokens.session) { log in
            log.entries.count > bounds.log.eventCount
                || (log.byteCount > bounds.log.byteCount && log.entries.count > 1)
        }
        if isOver == true { world.fail("G5: the log is larger than its bounds") }
    }

    // MARK: - The audit of a reconnect

    private var joining: (request: JoinRequest, isOwed: Bool)?

    /// RES-12: in a session that gets full, connections without a socket give way before their windows end.
    private var mayGiveWay: Bool { bounds.connectionCount < 100 }

    /// Whether the promise of the resume window holds for this client (G3), which has the newest secret that reached it
    /// (RES-6).
    private func isOwed(_ resumption: Resumption, in session: SessionID) -> Bool {
        let id = resumption.connectionId
        guard !mayGiveWay, bounds.resumeWindow > .zero, resumption.epoch == audit.epoch,
            audit.resumable.contains(id), world.newestSecrets[id] == resumption.secretHash,
            engine.connections(of: session).contains(where: { $0.connectionId == id }),
            resumption.after >= audit.joinedAt[id] ?? .zero
        else { return false }
        if let lostAt = audit.lostAt[id], world.now.duration(since: lostAt) >= bounds.resumeWindow { return false }
        return engine.withLog(of: session) { resumption.after >= $0.reachesBackTo && resumption.after <= $0.lastSeq }
            ?? false
    }

    private func noteJoined(_ result: JoinResult, of session: SessionID) {
        guard let (request, isOwed) = joining else { return }
        joining = nil
        let id = result.connection.connectionId
        if result.epoch != audit.epoch {
            audit.epoch = result.epoch
            audit.lastSeq = .zero
        }
        world.count(result.outcome.rawValue)
        if isRestored { world.count("\(result.outcome.rawValue) after a restart") }
        if let through = result.replayThrough, through > result.seq { world.count("replayed") }
        if result.missing != nil { world.count("missing") }
        if result.outcome == .resumed {
            audit.lostAt[id] = nil
        } else {
            if isOwed { world.fail("G3: \(request.data) came back in time, and was not resumed") }
            // Only a recovery can deliver the rest of a recovered client's replay.
            audit.joinedAt[id] = engine.withLog(of: session) { $0.lastSeq }
        }
        audit.resumable.insert(id)
    }
}

extension AuditedEngine: SessionEngineObserver {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        switch outcome {
        case .signalled(let seq?) where seq <= audit.lastSeq: world.count("answered from memory")
        case .joined(let result): noteJoined(result, of: Tokens.session)
        case .signalled, .done, .refused, .forceDisconnected, .refreshed, .wasForceDisconnected: break
        }
        observer?.engine(answered: ticket, outcome)
    }

    func engine(sessionChanged session: SessionID) {
        let fresh = engine.withLog(of: session) { log in log.entries.filter { $0.seq > audit.lastSeq } } ?? []
        for entry in fresh { note(entry) }
        observer?.engine(sessionChanged: session)
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        if case .superseded = effect { world.count("superseded") }
        observer?.engine(session, caused: effect)
    }

    private func note(_ entry: LogEntry) {
        if entry.seq != audit.lastSeq.next { world.fail("G1: the log has \(entry.seq) after \(audit.lastSeq)") }
        audit.lastSeq = entry.seq
        let event: History.Event
        switch world.decoded(entry.line.bytes) {
        case .signal(let signal): event = .signal(from: signal.from, data: signal.data ?? "", to: signal.to)
        case .connectionCreated(_, let connection): event = .created(connection.connectionId)
        case .connectionDestroyed(_, let id, let reason):
            event = .destroyed(id)
            if reason == .networkDisconnected, claimed != id, let lost = audit.lostAt[id] {
                world.count("expired")
                let elapsed = world.now.duration(since: lost)
                if !mayGiveWay, elapsed < bounds.resumeWindow { world.fail("G7: \(id) expired before its time") }
                // A server that was restored may come too late for its deadlines.
                if !isRestored, elapsed > bounds.resumeWindow + .milliseconds(100) {
                    world.fail("G7: \(id) expired after its time")
                }
            }
        case .connected, .connections, .connectionAway, .connectionBack, .ack, .error, .disconnected, .ping, nil:
            return world.fail("G1: the log has \(entry.line), which is no event")
        }
        logs[audit.epoch, default: []].append(History.LogRecord(entry.seq, event))
    }
}
