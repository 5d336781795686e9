import DequeModule
import SignalingProtocol
import SignalingVerification
import TestSupport

@testable import SignalingCore

/// The real engine, with an auditor between it and the hub. The auditor keeps the log for the judges, and
/// knows which events each returning client must get.
final class AuditedEngine: SessionEngine {
    weak var observer: (any SessionEngineObserver)?
    private unowned let world: World
    private let bounds: SessionState.Bounds
    private let host: Host
    private var engine: any SessionEngine { host.engine }
    private var audit = Audit()
    /// The commands without an answer, by origin.
    private var submitted: [UInt64: Deque<Submitted>] = [:]
    /// The last run of this node that was declared lost, and when its sockets were lost.
    private var lostRun: (run: RunID, at: MonotonicInstant)?
    /// Between the log of one of several nodes and its engine.
    private var listener: NodeListener?
    /// The connection that the last join asked to continue.
    private var claimed: ConnectionID?
    private let isRestored: Bool
    private let history: HistoryPolicy
    /// The log, by epoch.
    private(set) var logs: [Epoch: [LoggedEvent]] = [:]

    /// An event of the log, with the data of a signal.
    struct LoggedEvent {
        let seq: Seq
        let line: [UInt8]
        var signal: String?
    }

    /// The three engines.
    private enum Host {
        case memory(MemoryEngine)
        case logged(LocalEngine, MemoryCommandLog)
        /// One of several nodes.
        case node(ClusterEngine)

        var engine: any SessionEngine {
            switch self {
            case .memory(let engine): engine
            case .logged(let engine, _): engine
            case .node(let engine): engine
            }
        }

        /// How late a due command may be carried out: a slow disk delays it, and the one before it, for which it waits.
        var longestDelay: Duration {
            switch self {
            case .memory: .milliseconds(100)
            case .logged: SimulatedServer.longestLogDelay * 2 + .milliseconds(100)
            case .node: SimulatedServer.longestNodeDelay
            }
        }

        func connections(of session: SessionID) -> [Connection] {
            switch self {
            case .memory(let engine): engine.connections(of: session)
            case .logged(let engine, _): engine.connections(of: session)
            case .node(let engine): engine.connections(of: session)
            }
        }
    }

    /// Whether other nodes serve the session, too.
    private var isNode: Bool { if case .node = host { true } else { false } }

    private struct Submitted {
        let command: SessionCommand
        let at: MonotonicInstant
        /// Whether a join must be answered with a resume (G3).
        let isOwed: Bool
    }

    /// The auditor's record of the session. It survives the process, as the session does (RES-15), and all nodes of a
    /// session have the same one.
    final class Audit {
        fileprivate var epoch = Epoch("")
        fileprivate var lastSeqs: [Epoch: Seq] = [:]
        fileprivate var lostAt: [ConnectionID: MonotonicInstant] = [:]
        /// The connections that have not lost their order.
        fileprivate var resumable: Set<ConnectionID> = []
        fileprivate var joinedAt: [ConnectionID: Seq] = [:]
        /// Of several nodes: the connections in the session, where their last sockets are, and the lines of the log.
        fileprivate var present: Set<ConnectionID> = []
        fileprivate var places: [ConnectionID: ObjectIdentifier] = [:]
        /// The connections whose clients have left. An attempt of such a client may be late, and nothing is owed to it.
        fileprivate var leaving: Set<ConnectionID> = []
        /// The newest socket of each connection, and the place of its join in the command log.
        fileprivate var sockets: [ConnectionID: SocketID] = [:]
        fileprivate var joinNumbers: [ConnectionID: UInt64] = [:]
        /// The connections whose sockets were lost with the run of this node.
        fileprivate var lostWithRun: [ConnectionID: ObjectIdentifier] = [:]
        fileprivate var lines: [Epoch: [Seq: [UInt8]]] = [:]
        fileprivate var reachesBackTo = Seq.zero
        /// When clients have asked to continue a connection, by their sockets, until they have an answer. Another attempt may
        /// have resumed it meanwhile.
        fileprivate var claims: [ConnectionID: [SocketID: MonotonicInstant]] = [:]

        fileprivate var kept = KeptMessages()
        /// The users of all connections.
        fileprivate var users: [ConnectionID: UserID] = [:]

        fileprivate var lastSeq: Seq {
            get { lastSeqs[epoch] ?? .zero }
            set { lastSeqs[epoch] = newValue }
        }
    }

    /// What a process leaves: its log, and the auditor's record.
    struct Remains {
        let log: MemoryCommandLog
        let kept: KeptCommands
        fileprivate let audit: Audit
        /// The last sign of life, by the clock of the world.
        fileprivate let lostAt: MonotonicInstant
        /// The lines of the log, if everything in it was also carried out.
        fileprivate let lines: [[UInt8]]?
    }

    /// - Parameters:
    ///   - log: of a durable server; nil for one that keeps its sessions in memory.
    ///   - remains: of the process before.
    init(
        world: World, bounds: SessionState.Bounds, log: MemoryCommandLog?, history: EngineHistory, remains: Remains?
    ) {
        self.world = world
        self.bounds = bounds
        self.history = history.policy
        isRestored = remains != nil
        let makeEpoch = { [unowned world] in Epoch(using: &world.random) }
        if let log {
            log.open(at: world.now, wallTime: world.wallTime)
            let engine = LocalEngine(
                log: log, run: RunID(world.random.next()), bounds: bounds, history: history, now: world.now,
                makeEpoch: makeEpoch)
            host = .logged(engine, log)
        } else {
            host = .memory(MemoryEngine(bounds: bounds, makeEpoch: makeEpoch))
        }
        engine.observer = self
        if let remains { restore(remains) }
    }

    /// One of several nodes, which share an auditor's record.
    init(
        world: World, bounds: SessionState.Bounds, log: any SharedCommandLog, run: RunID, history: EngineHistory,
        audit: Audit
    ) {
        self.world = world
        self.bounds = bounds
        isRestored = true
        self.history = history.policy
        let makeEpoch = { [unowned world] in Epoch(using: &world.random) }
        let engine = ClusterEngine(
            log: log, run: run, bounds: bounds, history: history, now: world.now, makeEpoch: makeEpoch)
        host = .node(engine)
        self.audit = audit
        engine.observer = self
        listener = NodeListener(engine, of: self)
        log.nodeObserver = listener
    }

    /// Commands may have been appended that no node carried out while it lived, more than the session's log holds. Their
    /// events are noted one by one when a node opens the session.
    fileprivate func noteKept(_ kept: KeptCommands.Session) {
        var state = kept.snapshot.flatMap { try? SessionState(decoding: $0.bytes) }
        if let state { noteReplica(state) }
        for entry in kept.entries {
            guard let command = try? LoggedCommand(decoding: entry.bytes) else { return }
            var effects: [SessionEffect] = []
            command.carryOut(on: &state, as: entry, effects: &effects)
            if let state { noteReplica(state) }
        }
    }

    /// The run of this node, if it is one of several.
    var run: RunID? { if case .node(let engine) = host { engine.run } else { nil } }

    /// The state of a node's session.
    var state: SessionState? {
        if case .node(let engine) = host { engine.sessions[Tokens.session]?.state } else { nil }
    }

    /// The run of this node is declared lost while the node does not know it.
    func noteLostRun(at moment: MonotonicInstant) {
        if case .node(let engine) = host { lostRun = (engine.run, moment) }
        noteLostSockets(at: moment)
    }

    /// The sockets of this node are lost, at this time or earlier.
    func noteLostSockets(at moment: MonotonicInstant) {
        let place = ObjectIdentifier(self)
        noteUnansweredLosses()
        for (id, node) in audit.places where node == place && audit.lostAt[id] == nil {
            audit.lostAt[id] = moment
            audit.lostWithRun[id] = place
        }
    }

    // MARK: - Restart

    /// The end of the process.
    ///
    /// - Parameters:
    ///   - inFlightCount: how many of the commands without a confirmation are in the log already.
    ///   - lostAt: by the clock of the world.
    /// - Returns: nil without a log.
    func remains(keeping inFlightCount: Int, lostAt: MonotonicInstant) -> Remains? {
        guard case .logged(_, let log) = host else { return nil }
        noteUnansweredLosses()
        let isComplete = log.inFlightCount == 0 || inFlightCount == 0
        let lines = isComplete ? engine.withLog(of: Tokens.session) { $0.entries.map(\.line.bytes) } ?? [] : nil
        return Remains(
            log: log, kept: log.crash(keeping: inFlightCount, lostAt: lostAt), audit: audit,
            lostAt: lostAt, lines: lines)
    }

    /// The loss of a socket may be in the log without an answer.
    private func noteUnansweredLosses() {
        for each in submitted.values.joined() {
            guard case .detach(let binding) = each.command, audit.lostAt[binding.connectionId] == nil else { continue }
            audit.lostAt[binding.connectionId] = each.at
        }
    }

    /// The windows begin when the server notices the loss (RES-2), and not when its node has the answer to the command: a
    /// node that stands still gets that late, and the other nodes have already carried the command out. A join that waits
    /// for the log until the window is over is not owed a resume, as the moment of its answer shows.
    private func noteLoss(of binding: SocketBinding) {
        let id = binding.connectionId
        if audit.sockets[id] == binding.socket, audit.lostAt[id] == nil { audit.lostAt[id] = world.now }
    }

    private func restore(_ remains: Remains) {
        guard case .logged(let engine, _) = host else { return }
        let unreadable = engine.restore(remains.kept)
        if !unreadable.isEmpty { world.fail("LOG-9: \(unreadable) cannot be read") }
        audit = remains.audit
        let restored = engine.withLog(of: Tokens.session) { $0.entries }
        if let lines = remains.lines, lines != (restored ?? []).map(\.line.bytes) {
            world.fail("LOG-5: the restored log differs from the one that was left")
        }
        // Those that the last process had no time to carry out.
        for entry in restored ?? [] where entry.seq > audit.lastSeq {
            world.count("kept and not carried out")
            note(entry)
        }
        // A connection that still had a socket lost it when the process was last seen alive (LOG-13).
        let lostAt = min(remains.lostAt, world.now)
        for id in audit.resumable where audit.lostAt[id] == nil { audit.lostAt[id] = lostAt }
        let elapsed = remains.log.time(at: world.now).duration(since: remains.kept.lostAt)
        if elapsed > world.now.duration(since: remains.lostAt) {
            // A clock that was set forward may expire all connections, so none can be resumed.
            audit.lostAt = [:]
            audit.resumable = []
        }
        world.count("restored")
    }

    // MARK: - The port

    func submit(_ command: SessionCommand, to session: SessionID, ticket: CommandTicket, now: MonotonicInstant) {
        var isOwed = false
        if case .join(let request) = command, let claim = request.resumption {
            isOwed = self.isOwed(claim, of: request.user, in: session)
            audit.claims[claim.connectionId, default: [:]][request.socket] = now
        }
        if case .leave(let binding, _) = command { audit.leaving.insert(binding.connectionId) }
        if case .detach(let binding) = command, isNode { noteLoss(of: binding) }
        submitted[ticket.origin, default: []].append(Submitted(command: command, at: now, isOwed: isOwed))
        engine.submit(command, to: session, ticket: ticket, now: now)
    }

    var isSaturated: Bool { engine.isSaturated }
    func connections(of session: SessionID) -> [Connection] { host.connections(of: session) }
    func listConnections(of session: SessionID, answer: @escaping ([Connection]?) -> Void) {
        engine.listConnections(of: session, answer: answer)
    }
    func listStreams(of session: SessionID, answer: @escaping ([StreamAnnouncement]?) -> Void) {
        engine.listStreams(of: session, answer: answer)
    }

    func hosted(_ session: SessionID) -> HostedSession? { engine.hosted(session) }
    var nextDeadline: MonotonicInstant? { engine.nextDeadline }
    func advance(to now: MonotonicInstant) { engine.advance(to: now) }
    func changeLimits(to new: SessionState.Bounds, _ history: HistoryPolicy, now: MonotonicInstant) {
        engine.changeLimits(to: new, history, now: now)
    }
    func keepsHistory(_ session: SessionID) -> Bool { engine.keepsHistory(session) }
    func readHistory(
        _ request: HistoryRequest, of session: SessionID, unless isAnswered: @escaping (Seq?) -> Bool,
        answer: @escaping (Result<ArchivePage, ArchiveFault>) -> Void
    ) {
        engine.readHistory(request, of: session, unless: isAnswered, answer: answer)
    }
    func sweepHistory(now: WallTime) { engine.sweepHistory(now: now) }
    func readModeration(
        of session: SessionID, now: MonotonicInstant, answer: @escaping (ModerationReading) -> Void
    ) {
        engine.readModeration(of: session, now: now, answer: answer)
    }
    func noteTold(_ event: KeptPresenceEvent, of session: SessionID) { engine.noteTold(event, of: session) }
    func endSessions() { engine.endSessions() }

    /// Reads the whole history. It has every kept message once, in order, with its content (H1, H3).
    func checkHistory(after position: Seq = .zero, _ earlier: [ArchivedMessage] = []) {
        if history.keepsNothing { return }
        engine.readHistory(HistoryRequest(.after(position), limit: 7), of: Tokens.session) { [self] result in
            guard case .success(let page) = result else { return world.fail("H3: the history cannot be read") }
            let found = earlier + page.messages
            if page.more, let last = page.messages.last { return checkHistory(after: last.seq, found) }
            world.count(found.isEmpty ? "empty history" : "history")
            let due = audit.kept.left
            if found.map(\.seq) != due.map(\.seq) {
                return world.fail("H1: the history has \(found.map(\.seq)), and \(due.map(\.seq)) were kept")
            }
            for (message, due) in zip(found, due) {
                let text = message.content.map { String(decoding: $0, as: UTF8.self) }
                let isRight = due.data.map { text?.contains("\"data\":\"\($0)\"") == true } ?? (text == nil)
                if !isRight || message.version != due.version {
                    world.fail("H1, C1: the history has \(text ?? "nothing") at \(due.seq)")
                }
            }
        }
    }

    // MARK: - The audit of a reconnect

    /// RES-12: in a session that gets full, connections without a socket give way before their windows end.
    private var mayGiveWay: Bool { bounds.connectionCount < 100 }

    /// Whether the promise of the resume window holds for this client (G3), which has the newest secret that reached it
    /// (RES-6).
    private func isOwed(_ resumption: Resumption, of user: UserID?, in session: SessionID) -> Bool {
        let id = resumption.connectionId
        // A ban refuses everything (MOD-3). The judge of the wire knows when it holds.
        guard !mayGiveWay, user.map({ !world.bannedUsers.contains($0) }) ?? !world.bansGuests,
            bounds.resumeWindow > .zero, !audit.leaving.contains(id),
            audit.resumable.contains(id), world.newestSecrets[id] == resumption.secretHash,
            isNode
                ? audit.present.contains(id) : connections(of: session).contains(where: { $0.connectionId == id }),
            resumption.after >= audit.joinedAt[id] ?? .zero
        else { return false }
        return isInTime(resumption, in: session)
    }

    /// Whether the window is open and the log has everything, at the submission of a join and at its answer: the log of
    /// commands takes its time, and the session may lose its order meanwhile. The judge of the wire decides whether it
    /// had to.
    private func isInTime(_ resumption: Resumption, in session: SessionID) -> Bool {
        guard resumption.epoch == audit.epoch else { return false }
        if let lostAt = audit.lostAt[resumption.connectionId],
            world.now.duration(since: lostAt) >= bounds.resumeWindow
        {
            return false
        }
        if isNode { return resumption.after >= audit.reachesBackTo && resumption.after <= audit.lastSeq }
        return engine.withLog(of: session) { resumption.after >= $0.reachesBackTo && resumption.after <= $0.lastSeq }
            ?? false
    }

    private func noteJoined(_ result: JoinResult, _ request: JoinRequest, isOwed: Bool, of session: SessionID) {
        let id = result.connection.connectionId
        if result.epoch != audit.epoch, audit.lastSeqs[result.epoch] == nil { begin(result.epoch) }
        let isNewest = isNewest(id)
        if isNewest { noteSocket(request.socket, of: id) }
        world.count(result.outcome.rawValue)
        if isRestored { world.count("\(result.outcome.rawValue) after a restart") }
        if let through = result.replayThrough, through > result.seq { world.count("replayed") }
        if result.missing != nil { world.count("missing") }
        if result.outcome == .resumed {
            if isNewest, audit.lostWithRun[id] == nil { audit.lostAt[id] = nil }
        } else {
            // A late attempt on another node may be behind a resume with a newer secret.
            // On several nodes, commands that were on their way may overrun the log before the join is carried out.
            let isOverrun = isNode && result.missing != nil
            if isOwed, !isOverrun, let claim = request.resumption, isInTime(claim, in: session),
                !isNode || world.newestSecrets[claim.connectionId] == claim.secretHash
            {
                world.fail("G3: \(request.data) came back in time, and was not resumed")
            }
            // Only a recovery can deliver the rest of a recovered client's replay.
            audit.joinedAt[id] = engine.withLog(of: session) { $0.lastSeq }
        }
        audit.resumable.insert(id)
    }

    /// Whether the join that this engine is carrying out is the newest one of its connection. A node with a slow link may
    /// carry out a resume when another node has already carried out a later one. Noted in this order, the crash of the
    /// slow node would seem to be the loss of the client's socket on the other one.
    private func isNewest(_ id: ConnectionID) -> Bool {
        guard case .node(let engine) = host, let number = engine.sessions[Tokens.session]?.position?.number else {
            return true
        }
        if let newest = audit.joinNumbers[id], newest > number { return false }
        audit.joinNumbers[id] = number
        return true
    }

    private func noteSocket(_ socket: SocketID, of id: ConnectionID) {
        audit.places[id] = ObjectIdentifier(self)
        audit.sockets[id] = socket
        audit.lostWithRun[id] = nil
        // A node that was frozen carries out a join of its old run: the connection was lost with the run.
        if let lostRun, case .node(let engine) = host, engine.run == lostRun.run {
            audit.lostAt[id] = lostRun.at
            audit.lostWithRun[id] = ObjectIdentifier(self)
        }
    }

    /// Whether a client may have asked a node to continue the connection, without an answer yet. Such a connection ends
    /// when the client cannot resume it. An attempt whose node was lost has no answer.
    private func isSought(_ id: ConnectionID) -> Bool {
        audit.claims[id]?.values.contains { world.now.duration(since: $0) <= SimulatedServer.longestNodeDelay } == true
    }

    private func begin(_ epoch: Epoch) {
        if world.mayLoseOrder, audit.epoch != Epoch("") {
            world.mayLoseOrder = false
            world.count("order lost")
            world.judge.serverLostSessions(at: world.now)
        }
        if !audit.kept.left.isEmpty { world.fail("HIS-3: a session with a history has begun anew") }
        audit.kept = KeptMessages()
        audit.epoch = epoch
        audit.lastSeq = .zero
        audit.present = []
        audit.reachesBackTo = .zero
    }
}

extension AuditedEngine: SessionEngineObserver {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        let submitted = submitted[ticket.origin]?.popFirst()
        if self.submitted[ticket.origin]?.isEmpty == true { self.submitted[ticket.origin] = nil }
        if case .detach(let binding) = submitted?.command {
            // A node that was frozen notices late what the loss of its run has already said.
            let id = binding.connectionId
            // Another node may have resumed the connection since, or the attempt of this socket never did.
            let isAnother = isNode && audit.sockets[id] != binding.socket && audit.lostAt[id] != nil
            if audit.lostWithRun[id] != ObjectIdentifier(self), !isAnother { audit.lostAt[id] = submitted?.at }
        }
        claimed = nil
        if case .join(let request) = submitted?.command, let claim = request.resumption {
            claimed = claim.connectionId
            // Without an outcome the attempt may still end the connection.
            if !outcome.mayBeCarriedOut {
                audit.claims[claim.connectionId]?[request.socket] = nil
            }
        }
        switch outcome {
        case .signalled(let seq?) where seq <= audit.lastSeq: world.count("answered from memory")
        case .joined(let result):
            if case .join(let request) = submitted?.command {
                noteJoined(result, request, isOwed: submitted?.isOwed == true, of: Tokens.session)
            }
        case .signalled, .changed, .reacted, .marked, .reactors, .done, .refused, .forceDisconnected, .erased,
            .moderated, .announced, .restrictions,
            .refreshed, .wasForceDisconnected, .superseded, .unavailable:
            break
        }
        observer?.engine(answered: ticket, outcome)
    }

    func engine(sessionChanged session: SessionID) {
        if case .node(let engine) = host, let state = engine.sessions[session]?.state {
            noteReplica(state)
        } else {
            let fresh = engine.withLog(of: session) { log in log.entries.filter { $0.seq > audit.lastSeq } } ?? []
            for entry in fresh { note(entry) }
        }
        observer?.engine(sessionChanged: session)
    }

    func engine(lost session: SessionID) {
        world.count("session lost")
        noteLostSockets(at: world.now)
        observer?.engine(lost: session)
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        if case .superseded = effect { world.count("superseded") }
        observer?.engine(session, caused: effect)
    }

    /// The first node that has an event notes it, and the others have the same.
    private func noteReplica(_ state: SessionState) {
        let epoch = state.epoch
        if audit.lastSeqs[epoch] == nil { begin(epoch) }
        guard epoch == audit.epoch else { return world.count("event of an old order") }
        // What one node has erased, another may still have.
        for entry in state.log.entries.reversed() where entry.kind != .erased {
            if let known = audit.lines[epoch]?[entry.seq] {
                if known != entry.line.bytes { world.fail("G1: two nodes have different events at \(entry.seq)") }
                break
            }
        }
        for entry in state.log.entries.filter({ $0.seq > audit.lastSeq }) {
            if entry.kind != .erased { audit.lines[epoch, default: [:]][entry.seq] = entry.line.bytes }
            note(entry)
            audit.reachesBackTo = state.log.reachesBackTo
        }
    }

    private func note(_ entry: LogEntry) {
        if entry.seq != audit.lastSeq.next { world.fail("G1: the log has \(entry.seq) after \(audit.lastSeq)") }
        audit.lastSeq = entry.seq
        // It came and was erased before the auditor looked: nobody gets it.
        if entry.kind == .erased { return }
        var event = LoggedEvent(seq: entry.seq, line: entry.line.bytes)
        switch world.decoded(entry.line.bytes) {
        case .signal(let signal):
            event.signal = signal.data
            if signal.to == nil, history.standard?.contains(signal.type) == true {
                audit.kept.note(signal.data ?? "", of: signal.from.flatMap { audit.users[$0] }, at: entry.seq)
            }
        case .erased(let seq, let erasure):
            audit.kept.note(erasure, at: seq)
            world.note("\(erasure) is erased at \(seq)")
        case .connectionCreated(_, let connection):
            audit.users[connection.connectionId] = connection.user
            audit.present.insert(connection.connectionId)
        case .connectionDestroyed(_, let id, let reason):
            audit.present.remove(id)
            // The node that notes the event first need not be the one that was asked.
            let isClaimed = claimed == id || isNode && isSought(id)
            if reason == .networkDisconnected, !isClaimed, let lost = audit.lostAt[id] {
                world.count("expired")
                let elapsed = world.now.duration(since: lost)
                if !mayGiveWay, elapsed < bounds.resumeWindow { world.fail("G7: \(id) expired before its time") }
                // A server that was restored may come too late for its deadlines.
                if isNode || !isRestored, elapsed > bounds.resumeWindow + host.longestDelay {
                    world.fail("G7: \(id) expired after its time")
                }
            }
        case .moderated(_, let action):
            if case .ban = action.action { world.count("ban") }
            world.note("\(action.action) at \(entry.seq)")
        case .change(let event):
            if case .edit(let data?, _)? = event.change { audit.kept.note(data, in: event.ref, at: event.seq) }
        case .reactions, .reacted, .restricted, .unrestricted: break
        case .reactors, .read, .connected, .connections, .connectionAway, .connectionBack, .ack, .error, .history,
            .restrictions,
            .disconnected, .ping, nil:
            return world.fail("G1: the log has \(entry.line), which is no event")
        }
        logs[audit.epoch, default: []].append(event)
    }
}

/// Shows the auditor each session that a node opens, before the node's engine gets it.
private final class NodeListener: SharedCommandLogObserver {
    private let engine: ClusterEngine
    private unowned let auditor: AuditedEngine

    init(_ engine: ClusterEngine, of auditor: AuditedEngine) {
        self.engine = engine
        self.auditor = auditor
    }

    func log(opened session: KeptCommands.Session) {
        auditor.noteKept(session)
        engine.log(opened: session)
    }

    func log(caughtUp session: SessionID) { engine.log(caughtUp: session) }
    func log(relayed bytes: [UInt8], of session: SessionID) { engine.log(relayed: bytes, of: session) }
    func log(lost run: RunID, at time: MonotonicInstant, orphans: [SessionID]) {
        engine.log(lost: run, at: time, orphans: orphans)
    }
    func log(dropped session: SessionID) { engine.log(dropped: session) }
    func log(continuesAs run: RunID) { engine.log(continuesAs: run) }
    func snapshot(of session: SessionID) -> CommandSnapshot? { engine.snapshot(of: session) }
}

extension SessionOutcome {
    /// Whether nobody knows if the command was carried out.
    fileprivate var mayBeCarriedOut: Bool { if case .unavailable(mayBeCarriedOut: true) = self { true } else { false } }
}
