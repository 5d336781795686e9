import JSONText
import SignalingProtocol
import SignalingVerification

@testable import SignalingCore

/// The server without its sockets and its loop: the product's own rules, joined as the hub joins them.
final class SimulatedServer {
    /// All that is kept of one socket, as the hub's `Peer` and `Member`.
    final class Peer {
        let link: Link
        var state: ConnectionState
        var session: SessionID?
        var outbox: Outbox?
        var loneLines: [[UInt8]] = []
        var isBacklogged = false
        /// What came while it was not read from.
        var held: [ClientMessage] = []
        var taken: UInt64 = 0
        /// Lone lines are few here.
        var waitingByteCount: Int { outbox?.waitingByteCount ?? 0 }
        init(link: Link, now: MonotonicInstant, heartbeat: Duration) {
            self.link = link
            state = ConnectionState(openedAt: now, heartbeat: heartbeat)
        }
    }

    static let session = SessionID("1_simulated")
    unowned let world: World
    let engine: MemoryEngine
    private var peers: [Int: Peer] = [:]
    /// In the order of joining, so that a run repeats.
    private var members: [Peer] = []
    private var flushedThrough: Seq?
    private var pendingOnlineOnly = PendingOnlineOnly()
    private var flushScheduler = FlushScheduler()
    private var isRoomDirty = false
    private var dirty: [Peer] = []
    private var outside: [UInt64: (SessionOutcome) -> Void] = [:]
    private var lastOutside: UInt64 = 1 << 32
    private var parser = JSONParser(limits: JSONLimits(depth: Limits.jsonDepth, byteCount: Limits.messageByteCount))

    /// What an auditor notes.
    fileprivate struct Audit {
        var epoch = Epoch("")
        var noted = Seq.zero
        var lostAt: [ConnectionID: MonotonicInstant] = [:]
        var secrets: [ConnectionID: ResumeSecretHash] = [:]
        var joinedAt: [ConnectionID: Seq] = [:]
    }
    private var audit = Audit()
    private var claimed: ConnectionID?
    private var isRestored = false
    var epoch: Epoch { audit.epoch }

    /// What a server that stops leaves: its file, and what the auditor knows of those who are owed their place (RES-15).
    struct Left {
        fileprivate var text: [UInt8]
        fileprivate var audit: Audit
        fileprivate var clockError: Int64
    }

    init(world: World, left: Left? = nil) {
        self.world = world
        let makeEpoch = EpochSource()
        engine = MemoryEngine(bounds: world.bounds) { makeEpoch.make() }
        makeEpoch.owner = self
        engine.observer = self
        if let left { restore(left) }
    }

    private func restore(_ left: Left) {
        var reader = StateReader(now: world.now, wallTime: world.wallTime)
        var rest = left.text[...]
        do throws(StateFault) {
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...5_000, using: &world.random))
                try reader.read(piece)
                rest = rest.dropFirst(piece.count)
            }
            engine.restore(try reader.finish())
        } catch {
            return world.fail("RES-15: the state is not taken: \(error)")
        }
        audit = left.audit
        // A clock that was set forward in between ends the time of everybody, and nobody is owed anything.
        if world.clockError > left.clockError {
            audit.lostAt = [:]
            audit.secrets = [:]
        } else if stateText() != left.text, world.clockError == left.clockError {
            world.fail("RES-15: what was read is not what was written")
        }
        isRestored = true
        world.count("restored")
    }

    /// As of the moment at which the last server stopped.
    private func stateText() -> [UInt8] {
        let stoppedAt = world.stoppedAt
        let wallTime = WallTime(
            milliseconds: world.wallTime.milliseconds - world.now.duration(since: stoppedAt).wholeMilliseconds)
        var writer = StateWriter(now: stoppedAt, wallTime: wallTime)
        for session in engine.snapshots(at: stoppedAt) { writer.append(session) }
        return writer.finish()
    }

    private final class EpochSource {
        weak var owner: SimulatedServer?
        func make() -> Epoch {
            guard let owner else { return Epoch("") }
            owner.audit.epoch = Epoch(using: &owner.world.random)
            owner.audit.noted = .zero
            return owner.epoch
        }
    }

    var nextDeadline: MonotonicInstant? {
        var next = engine.nextDeadline
        for peer in peers.values {
            if let deadline = peer.state.nextDeadline { next = min(next ?? deadline, deadline) }
        }
        if isRoomDirty {
            let due = flushScheduler.due(now: world.now, memberCount: members.count)
            next = min(next ?? due, due)
        }
        return next
    }

    func advance() {
        for id in peers.keys.sorted() {
            guard let peer = peers[id], let deadline = peer.state.nextDeadline, deadline <= world.now else { continue }
            noteBacklog(of: peer)
            perform(peer.state.advance(to: world.now), for: peer)
        }
    }

    /// By REST.
    func submit(_ command: SessionCommand, answer: @escaping (SessionOutcome) -> Void) {
        lastOutside += 1
        outside[lastOutside] = answer
        engine.submit(
            command, to: Self.session, ticket: CommandTicket(origin: lastOutside, request: nil), now: world.now)
    }

    /// Goes as a server that is told to stop goes.
    func stop(keepsState: Bool) -> Left? {
        for id in peers.keys.sorted() {
            if let peer = peers[id] { handle(.serverStops(returnAfter: .zero), for: peer) }
        }
        turnEnded()
        guard keepsState else {
            engine.endSessions()
            return nil
        }
        var writer = StateWriter(now: world.now, wallTime: world.wallTime)
        for session in engine.snapshots(at: world.now) { writer.append(session) }
        return Left(text: writer.finish(), audit: audit, clockError: world.clockError)
    }

    // MARK: - Effects, as Hub

    private func handle(_ input: ConnectionState.Input, for peer: Peer) {
        perform(peer.state.handle(input, now: world.now), for: peer)
    }

    private func perform(_ effects: [ConnectionState.Effect], for peer: Peer) {
        for effect in effects {
            switch effect {
            case .send(let message):
                if case .disconnected(_, .never) = message { world.count("sent away") }
                send(EncodedLine(message), to: peer)
            case .enter(let request, let welcome, let suppressesPresence):
                enter(peer, request, welcome, suppressesPresence)
            case .authenticate(let request): authenticate(request, for: peer)
            case .submit(let command, let session, let request):
                note(command)
                engine.submit(
                    command, to: session, ticket: CommandTicket(origin: UInt64(peer.link.id), request: request),
                    now: world.now)
                claimed = nil
            case .ping:
                let seq = engine.withLog(of: Self.session) { $0.lastSeq }
                if peer.outbox != nil, let seq { send(EncodedLine(.ping(seq)), to: peer) }
            case .pauseReading: world.count("paused")
            case .resumeReading:
                let held = peer.held
                peer.held = []
                for message in held { received(message, on: peer.link) }
            case .close(let reason): close(peer, reason)
            }
        }
    }

    /// Whether the next answers are right is judged by what was known before.
    private func note(_ command: SessionCommand) {
        switch command {
        case .join(let request): claimed = request.resumption?.connectionId
        case .detach(let binding): audit.lostAt[binding.connectionId] = world.now
        case .leave, .heard, .signal, .forceDisconnect: break
        }
    }

    private func authenticate(_ request: ConnectRequest, for peer: Peer) {
        let isExpired = request.token.hasPrefix("expired")
        if isExpired, request.resume == nil {
            handle(.authenticated(.failure(SignalingError(.authenticationError, "expired"))), for: peer)
            return
        }
        let secret = ResumeSecret(using: &world.random)
        let id = ConnectionID("k\(world.nextName())")
        let name = request.token.split(separator: " ").last.map(String.init) ?? ""
        let admission = ConnectionState.Admission(
            session: Self.session, connectionId: id, role: name == "c0" ? .moderator : .publisher, data: name,
            wallTime: world.wallTime, isExpired: isExpired, socket: SocketID(using: &world.random),
            resumeSecret: secret,
            secretHash: Self.hash(secret), claimedSecretHash: request.resume.map { Self.hash($0.secret) })
        // What the promise of the window owes to this one (G3).
        let owed = request.resume.map { resume in
            world.bounds.resumeWindow > .zero && resume.epoch == epoch
                && audit.secrets[resume.connectionId] == Self.hash(resume.secret)
                && engine.connections(of: Self.session).contains { $0.connectionId == resume.connectionId }
                && engine.withLog(of: Self.session) {
                    resume.after >= $0.reachesBackTo && resume.after <= $0.lastSeq
                } == true
                && resume.after >= audit.joinedAt[resume.connectionId] ?? .zero
                && audit.lostAt[resume.connectionId].map {
                    world.now.duration(since: $0) < world.bounds.resumeWindow
                } ?? true
        }
        handle(.authenticated(.success(admission)), for: peer)
        guard let owner = peer.outbox?.owner else { return }
        if owed == true, owner != request.resume?.connectionId { world.fail("G3: it was in time, and was not resumed") }
        if owner == request.resume?.connectionId { audit.lostAt[owner] = nil }
        if owner == id { audit.joinedAt[id] = engine.withLog(of: Self.session) { $0.lastSeq } }
        audit.secrets[owner] = Self.hash(secret)
    }

    private static func hash(_ secret: ResumeSecret) -> ResumeSecretHash {
        ResumeSecretHash(bytes: Array(secret.rawValue.utf8))
    }

    private func enter(_ peer: Peer, _ request: RequestID, _ welcome: Welcome, _ suppressesPresence: Bool) {
        if flushedThrough == nil { flushedThrough = engine.withLog(of: Self.session) { $0.lastSeq } ?? welcome.seq }
        let recoversThrough = welcome.outcome == .recovered ? welcome.replayThrough : nil
        var outbox = Outbox(
            owner: welcome.connection.connectionId, suppressesPresence: suppressesPresence, cursor: welcome.seq,
            recoversThrough: recoversThrough ?? .zero)
        outbox.append(EncodedLine(.connected(request, welcome)), after: welcome.seq)
        peer.outbox = outbox
        members.append(peer)
        markDirty(peer)
        world.count(welcome.outcome.rawValue)
        if isRestored { world.count("\(welcome.outcome.rawValue) after a restart") }
        if let through = welcome.replayThrough, through > welcome.seq { world.count("replayed") }
    }

    private func send(_ line: EncodedLine, to peer: Peer) {
        if let outbox = peer.outbox {
            peer.outbox?.append(line, after: engine.withLog(of: Self.session) { $0.lastSeq } ?? outbox.cursor)
        } else {
            peer.loneLines.append(line.bytes)
        }
        markDirty(peer)
    }

    private func markDirty(_ peer: Peer) {
        if !dirty.contains(where: { $0 === peer }) { dirty.append(peer) }
    }

    private func close(_ peer: Peer, _ reason: CloseReason) {
        world.count("closed \(reason.rawValue)")
        _ = serve(peer)
        leaveRoom(peer)
        peer.link.serverCloses(code: reason.rawValue)
    }

    private func leaveRoom(_ peer: Peer) {
        peer.outbox = nil
        members.removeAll { $0 === peer }
        if members.isEmpty {
            flushedThrough = nil
            pendingOnlineOnly = PendingOnlineOnly()
            isRoomDirty = false
        }
    }

    // MARK: - The end of a turn, as Hub and Delivery

    func turnEnded() {
        // Closing one makes new work for the others.
        for _ in 0..<8 {
            let isFlushDue = isRoomDirty && flushScheduler.due(now: world.now, memberCount: members.count) <= world.now
            if !isFlushDue, dirty.isEmpty || isRoomDirty { break }
            if isFlushDue { flush() }
            if !isRoomDirty {
                let candidates = dirty
                dirty = []
                for peer in candidates { bringUpToDate(peer) }
            }
        }
        engine.advance(to: world.now)
        checkBounds()
    }

    /// Whatever clients do, what waits for them has a bound (G5).
    private func checkBounds() {
        let bounds = world.bounds.log
        let isOver = engine.withLog(of: Self.session) { log in
            log.entries.count > bounds.eventCount || (log.byteCount > bounds.byteCount && log.entries.count > 1)
        }
        if isOver == true { world.fail("G5: the log is larger than its bounds") }
        for peer in peers.values where (peer.outbox?.waitingByteCount ?? 0) > 2 * Limits.waitingByteCount {
            world.fail("G5: more waits for a connection than it may")
        }
    }

    private func flush() {
        isRoomDirty = false
        guard !members.isEmpty else { return }
        var slow: [Peer] = []
        _ = engine.withLog(of: Self.session) { log in
            var batch = SharedBatch(log: log, after: flushedThrough ?? .zero, onlineOnly: pendingOnlineOnly.signals)
            for peer in members {
                guard var outbox = peer.outbox else { continue }
                if peer.isBacklogged {
                    if outbox.cursor < log.reachesBackTo { slow.append(peer) }
                } else if let bytes = batch.bytes(for: &outbox, log: log) {
                    peer.outbox = outbox
                    write(bytes, to: peer)
                    world.count("served together")
                } else if !serve(peer, log: log, onlineOnly: pendingOnlineOnly.signals) {
                    slow.append(peer)
                }
            }
            flushedThrough = log.lastSeq
        }
        pendingOnlineOnly.removeAll()
        flushScheduler.noteFlushed(at: world.now)
        for peer in slow { handle(.mustClose(.slowConsumer), for: peer) }
    }

    private func bringUpToDate(_ peer: Peer) {
        if serve(peer) { noteBacklog(of: peer) } else { handle(.mustClose(.slowConsumer), for: peer) }
    }

    private func noteBacklog(of peer: Peer) {
        let waiting = peer.waitingByteCount
        guard peer.state.isReadingPaused || waiting > BackPressure.pauseByteCount else { return }
        handle(.backlog(waitingByteCount: waiting, takenByteCount: peer.taken), for: peer)
    }

    private func serve(_ peer: Peer) -> Bool {
        if peer.isBacklogged {
            guard let outbox = peer.outbox else { return true }
            return engine.withLog(of: Self.session) { outbox.cursor >= $0.reachesBackTo } ?? true
        }
        for line in peer.loneLines { write(line, to: peer) }
        peer.loneLines = []
        guard peer.outbox != nil else { return true }
        if let stays = engine.withLog(of: Self.session, { serve(peer, log: $0, onlineOnly: []) }) { return stays }
        var bytes: [UInt8] = []
        peer.outbox?.dequeuePrivateLines(into: &bytes)
        write(bytes, to: peer)
        return true
    }

    private func serve(_ peer: Peer, log: borrowing SessionLog, onlineOnly: [OnlineOnlySignal]) -> Bool {
        var onlineOnly = onlineOnly
        while !peer.isBacklogged, var outbox = peer.outbox {
            var bytes: [UInt8] = []
            let taken = outbox.dequeue(from: log, onlineOnly: onlineOnly, byteLimit: 400, into: &bytes)
            peer.outbox = outbox
            write(bytes, to: peer)
            switch taken {
            case .complete: return true
            case .partial:
                onlineOnly = []
                world.count("in parts")
            case .overrun: return false
            }
        }
        guard let outbox = peer.outbox else { return true }
        return outbox.cursor >= log.reachesBackTo
    }

    private func write(_ bytes: [UInt8], to peer: Peer) {
        if bytes.isEmpty { return }
        peer.taken += UInt64(bytes.count)
        if !peer.link.serverWrites(bytes) {
            peer.isBacklogged = true
            world.count("backlogged")
        }
    }

    // MARK: - The sockets' side

    func opened(_ link: Link) {
        peers[link.id] = Peer(link: link, now: world.now, heartbeat: world.heartbeat)
    }

    func received(_ message: ClientMessage, on link: Link) {
        guard let peer = peers[link.id], !peer.state.isClosing else { return }
        if peer.state.isReadingPaused { return peer.held.append(message) }
        handle(.received(message), for: peer)
    }

    func drained(_ link: Link) {
        guard let peer = peers[link.id] else { return }
        peer.isBacklogged = false
        bringUpToDate(peer)
    }

    func closed(_ link: Link, code: UInt16?) {
        guard let peer = peers[link.id] else { return }
        handle(.socketClosed(code: code), for: peer)
        leaveRoom(peer)
        peers[link.id] = nil
    }
}

extension SimulatedServer: SessionEngineObserver {
    func engine(answered ticket: CommandTicket, _ outcome: SessionOutcome) {
        if let answer = outside.removeValue(forKey: ticket.origin) {
            answer(outcome)
        } else if let peer = peers[Int(ticket.origin)] {
            if case .signalled(let seq?) = outcome, seq <= audit.noted { world.count("answered from memory") }
            handle(.answered(ticket.request, outcome), for: peer)
        }
    }

    func engine(sessionChanged session: SessionID) {
        let fresh = engine.withLog(of: session) { log in log.entries.filter { $0.seq > audit.noted } } ?? []
        for entry in fresh { note(entry) }
        guard !members.isEmpty else { return }
        flushScheduler.noteWaiting(byteCount: fresh.last?.line.byteCount ?? 0)
        isRoomDirty = true
    }

    private func note(_ entry: LogEntry) {
        if entry.seq != audit.noted.next { world.fail("the log has \(entry.seq) after \(audit.noted)") }
        audit.noted = entry.seq
        let event: History.Event
        switch world.decoded(entry.line.bytes) {
        case .signal(let signal): event = .signal(from: signal.from, data: signal.data ?? "", to: signal.to)
        case .connectionCreated(_, let connection): event = .created(connection.connectionId)
        case .connectionDestroyed(_, let id, let reason):
            event = .destroyed(id)
            if reason == .networkDisconnected, claimed != id, let lost = audit.lostAt[id] {
                world.count("given up")
                if world.now.duration(since: lost) < world.bounds.resumeWindow {
                    world.fail("G7: \(id) was given up before its time")
                }
            }
        case .connected, .ack, .error, .disconnected, .ping, nil:
            world.fail("the log has what is no event")
            return
        }
        world.logs[epoch, default: []].append(History.LogRecord(entry.seq, event))
    }

    func engine(_ session: SessionID, caused effect: SessionEffect) {
        switch effect {
        case .presence, .onlineOnlyDropped: break
        case .onlineOnly(let signal):
            guard !members.isEmpty else { return }
            pendingOnlineOnly.append(signal)
            isRoomDirty = true
        case .ended(let connection, let reason):
            if let peer = members.first(where: { $0.outbox?.owner == connection }) {
                handle(.ended(reason), for: peer)
            }
        case .superseded(let socket):
            world.count("superseded")
            if let peer = members.first(where: { $0.state.connected?.binding.socket == socket }) {
                handle(.superseded, for: peer)
            }
        }
    }
}
